// Command comments collects the doc comments of configuration structs, which
// are not available at run time: comments of all fields with a tag yaml or
// flag, and of the structs that have such fields.
//
//	comments -o FILE DIR...
//
// DIR/... means the directory and all its subdirectories. The output is a JSON
// object that maps PACKAGE.STRUCT and PACKAGE.STRUCT.FIELD to comments. A field
// without a comment is an error.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "", "the file to write")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "comments:", err)
		os.Exit(1)
	}
}

func run(out string, dirs []string) error {
	if out == "" || len(dirs) == 0 {
		return errors.New("usage: comments -o FILE DIR [DIR]")
	}
	all, err := Collect(dirs)
	if err != nil {
		return err
	}
	data, err := Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(out, data, 0o666)
}

// Marshal returns the contents of the output file.
func Marshal(all map[string]string) ([]byte, error) {
	data, err := json.MarshalIndent(all, "", "\t")
	return append(data, '\n'), err
}

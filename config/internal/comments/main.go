// Command comments collects the doc comments of structs of configuration, which
// are not there any more when the program runs: those of all fields with a yaml
// tag, and of the structs that have such fields.
//
//	comments -o FILE DIR...
//
// DIR/... is the folder and all below it. The file maps PACKAGE.STRUCT and
// PACKAGE.STRUCT.FIELD to comments, as JSON. A field without a comment is an error.
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

// Marshal returns the comments as they stand in the file.
func Marshal(all map[string]string) ([]byte, error) {
	data, err := json.MarshalIndent(all, "", "\t")
	return append(data, '\n'), err
}

//go:build !js

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/urlfold/urlfold/codec"
)

// main answers the requests on standard input, one per line. With an argument, it
// prints the names of the profiles as JSON.
func main() {
	err := error(nil)
	if len(os.Args) > 1 {
		err = writeProfiles(os.Stdout)
	} else {
		err = answerAll(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

// writeProfiles writes the names of the profiles: urlfold's, and the profiles
// that match other programs.
func writeProfiles(w io.Writer) error {
	names := map[string][]string{}
	for _, p := range codec.Profiles() {
		kind := "own"
		if p.Match != "" {
			kind = "match"
		}
		names[kind] = append(names[kind], p.Name)
	}
	return json.NewEncoder(w).Encode(names)
}

// answerAll writes the answer to each line of r.
func answerAll(r io.Reader, w io.Writer) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if _, err := fmt.Fprintf(w, "%s\n", respond(in.Bytes())); err != nil {
			return err
		}
	}
	return in.Err()
}

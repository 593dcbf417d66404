// Gomap prints each line of a file at its first occurrence: the program that
// one would write first. dedupe.sh compares urlfold --dedupe with it.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gomap FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gomap:", err)
		os.Exit(1)
	}
}

func run(name string, out io.Writer) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(out)
	seen := map[string]struct{}{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if _, ok := seen[string(lines.Bytes())]; ok {
			continue
		}
		seen[lines.Text()] = struct{}{}
		if _, err := fmt.Fprintln(w, lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return w.Flush()
}

package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
)

// newFlagsCmd returns the command that lists the flags that a URL can have.
func newFlagsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "flags",
		Short: "List the flags that a URL can have, with their meanings",
		Long: `List the flags that urlfold can set on a URL, with their meanings. A flag describes a property of the input URL. A "!"
marks a violation of the grammar of RFC 3986. Flags do not affect the exit code unless you pass --fail-on flags.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return writeFlags(cmd.OutOrStdout()) },
	}
}

// flagNameColumn is the width of the column of names. The meaning of a flag
// with a longer name goes on the next line.
const flagNameColumn = 32

// writeFlags writes a line for each flag.
func writeFlags(w io.Writer) error {
	for f := range codec.AllFlags().All() {
		mark := " "
		if f.Severity() == codec.Violation {
			mark = "!"
		}
		text := f.Meaning()
		if clause := f.Clause(); clause != "" {
			text += " (" + clause + ")"
		}
		gap := strings.Repeat(" ", max(0, flagNameColumn-len(f.String())))
		if gap == "" {
			gap = "\n" + strings.Repeat(" ", flagNameColumn+2)
		}
		if _, err := fmt.Fprintf(w, "%s %v%s%s\n", mark, f, gap, text); err != nil {
			return wrote(err)
		}
	}
	return nil
}

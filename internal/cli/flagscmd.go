package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
)

// newFlagsCmd returns the command that lists the flags of URLs.
func newFlagsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "flags",
		Short: "List the flags that a URL can have, and what each means",
		Long: `Flags lists what urlfold notices about a URL as it came in. A flag never fails a run, unless --fail-on flags asks for it.
Those with a "!" stand for something that the grammar of RFC 3986 does not allow.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return writeFlags(cmd.OutOrStdout()) },
	}
}

// flagNameColumn holds the names of flags in the list, but for the longest few:
// what they mean stands on the next line.
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
			return fmt.Errorf("writing: %w", err)
		}
	}
	return nil
}

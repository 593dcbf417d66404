package command

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// AddColor adds --color to root and all commands below it.
func AddColor(root *cobra.Command) {
	f := &Form{Name: "auto", what: "value", accepted: []string{"auto", "always", "never"}}
	root.PersistentFlags().Var(f, "color", "color human-readable text: `WHEN` is auto (on a terminal, unless NO_COLOR is set), always or never")
	CompleteFrom(root, "color", f.accepted)
}

// Style returns the style of w, an output of cmd, with the colors that --color asks for.
func Style(cmd *cobra.Command, w io.Writer) terminal.Style {
	s := terminal.NewStyle(w, os.Getenv)
	if f := cmd.Flag("color"); f != nil && f.Value.String() != "auto" {
		s.Color = f.Value.String() == "always"
	}
	return s
}

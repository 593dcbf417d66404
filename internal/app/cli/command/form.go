package command

import (
	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// A Form is the value of --to of a command whose output has several formats:
// one of their names.
type Form struct {
	Name     string
	what     string // the thing that the name denotes
	accepted []string
}

// Register adds --to to cmd. The first format is the default.
func (f *Form) Register(cmd *cobra.Command, usage string, accepted ...string) {
	f.Name, f.what, f.accepted = accepted[0], "format", accepted
	cmd.Flags().VarP(f, "to", "r", usage)
	CompleteFrom(cmd, "to", accepted)
}

// Set implements [pflag.Value].
func (f *Form) Set(text string) error {
	_, err := suggest.Index(f.what, f.accepted, text)
	if err == nil {
		f.Name = text
	}
	return err
}

// String implements [pflag.Value].
func (f *Form) String() string { return f.Name }

// Type implements [pflag.Value].
func (f *Form) Type() string { return "format" }

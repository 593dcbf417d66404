package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// defaultProfile is the default of --profile.
const defaultProfile = "equiv"

// findProfile returns the built-in profile called name, or the profile in the
// YAML file called name, and its key policy.
func findProfile(name string) (codec.Profile, *codec.Policy, error) {
	if config.IsProfileFile(name) {
		return config.LoadProfile(name)
	}
	i, err := suggest.Index("profile", config.ProfileNames(), name)
	if err != nil {
		return codec.Profile{}, nil, err
	}
	return codec.Profiles()[i], codec.DefaultPolicy(), nil
}

// newProfilesCmd returns the command that lists the profiles.
func newProfilesCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "profiles",
		Short: "List the built-in profiles with their rules and keys",
		Args:  command.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return writeProfiles(cmd.OutOrStdout()) },
	}
}

// writeProfiles writes a paragraph for each profile.
func writeProfiles(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, p := range codec.Profiles() {
		if p.Match != "" {
			continue
		}
		name := p.Name
		if name == defaultProfile {
			name += " (default)"
		}
		if i > 0 {
			_, _ = fmt.Fprintln(tw) // Flush returns the error
		}
		_, _ = fmt.Fprintf(tw, "%s\n  standard\t%v\n  key\t%v, %s\n  malformed %%\t%s\n", name, p.Standard, p.Key, codec.KeyFunction(p.Standard, p.Key), malformedText(p.Malformed))
		rules := strings.Join(p.Rules.Names(), ", ")
		if rules == "" {
			rules = "none beyond those of the standard"
		}
		for j, line := range terminal.Wrap(rules, 60) {
			head := "rules"
			if j > 0 {
				head = ""
			}
			_, _ = fmt.Fprintf(tw, "  %s\t%s\n", head, line)
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	tw = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprint(tw, "\nProfiles that match other programs, with keys of the level match:\n\n")
	for _, p := range codec.Profiles() {
		if p.Match == "" {
			continue
		}
		n, err := codec.New(p)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(tw, "  %s\t%s\t%s\n", p.Name, p.Program(), n.KeyFunction(codec.LevelMatch))
	}
	return tw.Flush()
}

// malformedText describes how s treats a '%' that does not start an escape.
func malformedText(s percent.Malformed) string {
	switch s {
	case percent.MalformedEncode:
		return "encoded, as %25"
	case percent.MalformedKeep:
		return "kept"
	}
	return "the URL is rejected"
}

// newFlagsCmd returns the command that lists the flags that a URL can have.
func newFlagsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "flags",
		Short: "List the flags that a URL can have, with their meanings",
		Long: `List the flags that urlfold can set on a URL, with their meanings. A flag describes a property of the input URL. A "!"
marks a violation of the grammar of RFC 3986. Flags do not affect the exit code unless you pass --fail-on flags.`,
		Args: command.NoArgs,
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
		if f.Severity() == codec.SeverityViolation {
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
			return command.Wrote(err)
		}
	}
	return nil
}

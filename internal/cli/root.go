package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/internal/daemon"
	"github.com/urlfold/urlfold/internal/suggest"
	"github.com/urlfold/urlfold/internal/terminal"
)

const rootLong = `urlfold reads records that contain URLs (access logs, lists, JSON lines, tables) and writes them with every URL in
normal form. Nothing else in a record changes, and nothing is lost: a record without a readable URL passes through and is
counted. Compressed files are read as they are. The summary goes to stderr.`

const rootExamples = `  urlfold access.log.gz > clean.log                 rewrite a log: only the bytes of URLs change
  urlfold 'logs/**/*.gz' -o clean.log.zst           many files, in order, to one that appears when it is whole
  urlfold -r jsonl access.log | jq .key             an object for each URL: normal form, key, flags, components
  urlfold -r keys urls.txt | sort | uniq -cw32      count each page once
  urlfold -r tsv --fields url,norm,flags urls.txt   the fields that you choose
  urlfold --target all --rejects bad.jsonl big.log  referers too; what cannot be read goes to a file
  urlfold --on-damage quarantine a.log.gz -o a.log  only records that a checksum verifies; the others in a.log.unverified
  urlfold -f '$remote_addr "$request" $host' x.log  any nginx log_format or Apache LogFormat
  urlfold explain 'HTTP://Ex%41mple.com:80/a/../b'  one URL, in depth`

// newRootCmd returns the command with all its subcommands. The root itself is
// the one-shot.
func newRootCmd(c *daemon.Catalog) *cobra.Command {
	o := &options{formats: c.Formats()}
	cmd := &cobra.Command{
		Use:           "urlfold [flags] [FILE|GLOB|DIR|-]...",
		Short:         "Put every URL of a log in normal form, and say what is wrong with it",
		Long:          rootLong,
		Example:       rootExamples,
		Version:       version(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && terminal.Is(cmd.InOrStdin()) {
				return cmd.Help()
			}
			return runOneShot(cmd, o, args)
		},
	}
	o.register(cmd)
	cmd.SetFlagErrorFunc(flagError)
	help := cmd.HelpFunc()
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		if c != cmd {
			help(c, args)
			return
		}
		_, _ = io.WriteString(c.OutOrStdout(), rootHelp(c)) // there is nothing to do about a failure
	})
	cmd.AddCommand(newExplainCmd(), newDiffCmd(c), newEncodeCmd(), newDecodeCmd(), newChartCmd(), newProfilesCmd(), newFlagsCmd(),
		newRunCmd(c), newValidateCmd(c), newTestCmd(c), newSchemaCmd(c), newStateCmd(c), newVerifyCmd(), newVersionCmd())
	for _, c := range cmd.Commands() {
		asUsage(c)
	}
	strictHelp(cmd)
	return cmd
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("%s takes no arguments", cmd.Name()))
	}
	return nil
}

// asUsage makes what the arguments of c are refused for a usage error.
func asUsage(c *cobra.Command) {
	check := c.Args
	if check == nil {
		return
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var e *exitError
		if err == nil || errors.As(err, &e) {
			return err
		}
		return usage(err)
	}
}

// flagError adds the flag that was most likely meant to the error about one that
// does not exist.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return usage(err)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := suggest.Nearest(names, unknown.GetSpecifiedName()); near != "" {
		return usage(fmt.Errorf("there is no flag --%s; did you mean --%s?", unknown.GetSpecifiedName(), near))
	}
	return usage(fmt.Errorf("there is no flag --%s", unknown.GetSpecifiedName()))
}

// rootHelp is the help of the root: examples first, flags by purpose.
func rootHelp(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n  urlfold COMMAND [flags]\n\nExamples:\n%s\n", cmd.Long, cmd.UseLine(), cmd.Example)
	b.WriteString("\nCommands:\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(&b, "  %-12s %s\n", c.Name(), c.Short)
		}
	}
	for _, group := range flagGroups {
		set := pflag.NewFlagSet(group, pflag.ContinueOnError)
		set.SortFlags = false
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if groupOf(f) == group {
				set.AddFlag(f)
			}
		})
		fmt.Fprintf(&b, "\n%s:\n%s", group, set.FlagUsagesWrapped(terminal.MaxWidth))
	}
	b.WriteString("\n" + rootNotes)
	return b.String()
}

const rootNotes = `Sizes have units: 64k, 1.5MiB, 10GB. Without FILE, or with "-", urlfold reads the standard input.
Exit codes: 0 done, 1 fatal, 2 usage, 3 interrupted before all was written, 4 finished, but --fail-on was met.
`

package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/cli/help"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

const rootLong = `Normalize the URLs in access logs, lists, tables, JSON lines and web archives. By default, urlfold writes every record with
its URL in normal form and changes no other byte. If a URL cannot be parsed, urlfold writes the record unchanged and
counts it. urlfold decompresses compressed files on the fly, and prints a summary to stderr.`

const rootExamples = `  urlfold access.log.gz > clean.log                 rewrite a log: change only the requested URLs
  urlfold 'logs/**/*.gz' -o clean.log.zst           write many files, in order, into one output
  urlfold -r jsonl access.log | jq .key             write a JSON object for each URL
  urlfold -r keys urls.txt | sort | uniq -cw32      count each page once
  urlfold -r tsv --fields url,norm,flags urls.txt   write selected fields as a table
  urlfold --target all --dead-letter bad.jsonl big.log  also normalize referers; write bad records to a file
  urlfold --on-damage quarantine a.log.gz -o a.log  write unverified records to a.log.unverified
  urlfold -f '$remote_addr "$request" $host' x.log  read a log in any nginx or Apache log format
  urlfold explain 'HTTP://Ex%41mple.com:80/a/../b'  explain a single URL`

// newRootCmd returns the command with all its subcommands. The root itself is
// the one-shot.
func newRootCmd(c *daemon.Catalog) *cobra.Command { return newRootCmdFor(c, nil, true) }

// newRootCmdFor returns the command with the subcommands that args name, or all
// of them.
func newRootCmdFor(c *daemon.Catalog, args []string, all bool) *cobra.Command {
	o := newOptions(c)
	cmd := &cobra.Command{
		Use:           "urlfold [flags] [FILE|GLOB|DIR|-]...",
		Short:         "Normalize the URLs in logs and report their defects",
		Long:          rootLong,
		Example:       rootExamples,
		Version:       versionOf(c),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return noEmptyFlags(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && terminal.Is(cmd.InOrStdin()) {
				_, err := io.WriteString(cmd.OutOrStdout(), help.Short(cmd))
				return command.Wrote(err)
			}
			return runOneShot(cmd, &o, args)
		},
	}
	o.register(cmd, &o)
	command.AddColor(cmd)
	cmd.SetFlagErrorFunc(flagError)
	for _, sub := range subcommands(c) { // registering the hundreds of options of all commands takes longer than a small run
		if all || slices.Contains(args, sub.Name) {
			cmd.AddCommand(sub.Create())
		}
	}
	addMoved(cmd, args)
	help.Install(cmd, versionOf(c), writeFile)
	return cmd
}

// mayBeEmpty holds the options whose empty value has a special meaning.
var mayBeEmpty = []string{"vs"}

// noEmptyFlags rejects options that were given without a text, as in --summary
// "$REPORT" with an unset variable. Without the check, the option would be
// ignored.
func noEmptyFlags(flags *pflag.FlagSet) error {
	var bad command.Mistakes
	flags.Visit(func(f *pflag.Flag) {
		text := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			text = strings.Join(list.GetSlice(), "")
		}
		if text == "" && !slices.Contains(mayBeEmpty, f.Name) {
			bad.Addf("--"+f.Name, "must not be empty")
		}
	})
	return bad.Err()
}

// mustBe describes the values of each type of option, because the errors of the option
// parser use the words of package strconv.
var mustBe = map[string]string{
	"int": "an integer of at most 18 digits", "int64": "an integer of at most 18 digits", "float64": "a number",
	"bool": "true or false", "duration": "a duration such as 10s",
}

// flagError turns an error of the option parser into a usage error. For an
// unknown long option it suggests the option with the most similar name.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f, why := invalid.GetFlag(), errors.Unwrap(invalid)
		if need := mustBe[f.Value.Type()]; need != "" {
			why = fmt.Errorf("must be %s, got %q", need, invalid.GetValue())
		}
		return command.Usagef("--%s: %w", f.Name, why)
	}
	var empty *pflag.ValueRequiredError
	if errors.As(err, &empty) {
		return command.Usagef("--%s: requires a value", empty.GetFlag().Name)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return command.Usage(err)
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return command.Usagef("unknown option -%s", name)
	}
	if err := renamed(name); err != nil {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := suggest.Nearest(names, name); near != "" {
		return command.Usagef("unknown option --%s (did you mean --%s?)", name, near)
	}
	return command.Usagef("unknown option --%s", name)
}

// Package cli implements the command line of urlfold: the one-shot filter,
// and the commands that share its options, one file each. The packages in its
// subfolders implement the other commands, and share only package command.
// Package config/app makes [Run] and [RunEmbedded] available to other modules.
//
// # Files
//
//	main.go, root.go                               Run; the commands
//	options.go, flags.go                           options of the one-shot: structs, and how
//	                                               fields of structs become options
//	combinations.go, settings.go                   which options conflict; what options mean
//	values.go, profiles.go, oldnames.go            values of options; old names of options
//	oneshot.go, formats.go, detect.go, tables.go   the one-shot: its inputs and their formats
//	output.go, mirror.go, quarantine.go, shard.go  the outputs of the one-shot
//	replace.go, resume.go, sorted.go, heads.go     outputs in place, finished ones, --sort, headers
//	divided.go                                     outputs for each host
//	bucket.go                                      inputs and outputs in a bucket
//	unique.go, seen.go, seencmd.go                 duplicates; sets of keys
//	lockstep.go                                    --lock-step
//	summary.go, nourl.go, report.go, progress.go   the end of the one-shot: summary, report
//	noformat.go, jsonhint.go                       help with inputs that no format matches
//	place.go                                       which member or column holds the URL
//	mergereports.go                                report --merge
//	explaincmd.go                                  a single URL
//	analyze.go                                     what the analyses share
//	topcmd.go, countcmd.go, learncmd.go,           analyses of the records
//	reportcmd.go
//	diffcmd.go, collisionscmd.go                   analyses of keys
//	checkcmd.go, checkkeys.go, diagnosis.go,       check
//	urlfields.go, judge.go, members.go
//	version.go                                     the version, and the age of the lists
//	moved.go                                       names of commands that have gone
package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/cli/escapes"
	"github.com/urlfold/urlfold/internal/app/cli/help"
	"github.com/urlfold/urlfold/internal/app/cli/service"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// Run executes the command line args with the components of c and returns the
// exit code. It writes errors to stderr. No error contains a URL.
func Run(c *daemon.Catalog, args []string, stderr io.Writer) int {
	return run(context.Background(), newRootCmdFor(c, args, listsCommands(args)), args, stderr)
}

// RunEmbedded is like Run, for a command that runs inside another program. It uses the
// given streams, and stops softly when ctx ends.
func RunEmbedded(ctx context.Context, c *daemon.Catalog, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newRootCmdFor(c, args, listsCommands(args))
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	return run(command.Embed(ctx), cmd, args, stderr)
}

func run(ctx context.Context, cmd *cobra.Command, args []string, stderr io.Writer) int {
	cmd.SetArgs(slices.Concat([]string{}, args)) // for nil, cobra would use the arguments of the process
	stderr = terminal.Screen(stderr)
	cmd.SetOut(terminal.Screen(cmd.OutOrStdout()))
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		err = help.Failed(cmd)
	}
	if err == nil {
		return command.ExitDone
	}
	var e *command.Error
	if !errors.As(err, &e) {
		e = &command.Error{Code: command.ExitFatal, Err: err}
	}
	if e.Err != nil {
		_, _ = io.WriteString(stderr, command.Style(ran, stderr).FoldedLines(terminal.Printable(e.Text(ran.CommandPath())))) // an error writing to stderr cannot be reported
	}
	return e.Code
}

// subcommands returns all commands for the components of c, except the ones
// that cobra adds.
func subcommands(c *daemon.Catalog) []command.Sub {
	with := func(create func(c *daemon.Catalog) *cobra.Command) func() *cobra.Command {
		return func() *cobra.Command { return create(c) }
	}
	return slices.Concat([]command.Sub{
		{Name: "explain", Create: newExplainCmd}, {Name: "top", Create: with(newTopCmd)}, {Name: "count", Create: with(newCountCmd)},
		{Name: "report", Create: with(newReportCmd)}, {Name: "learn", Create: with(newLearnCmd)}, {Name: "diff", Create: with(newDiffCmd)},
		{Name: "collisions", Create: with(newCollisionsCmd)}, {Name: "seen", Create: with(newSeenCmd)},
		{Name: "check", Create: with(newCheckCmd)}, {Name: "version", Create: with(newVersionCmd)},
	}, service.Commands(c, versionOf(c), detectorOf(c)), escapes.Commands())
}

// listsCommands reports whether a command line may list the commands or complete
// their names.
func listsCommands(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		short := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "h") // -h, perhaps together with other letters
		return short || strings.HasPrefix(arg, "--help") || strings.HasPrefix(arg, "__complete") ||
			slices.Contains([]string{"help", "completion"}, arg)
	})
}

// rootNames returns the names of the commands.
func rootNames() []string {
	names := []string{"completion", "help"}
	for _, sub := range subcommands(nil) {
		names = append(names, sub.Name)
	}
	slices.Sort(names)
	return names
}

// Package cli implements the command line of urlfold: the one-shot filter, the
// daemon and the tools for single URLs, one file per command. Package
// config/app exports it.
//
// # Files
//
//	main.go, root.go, subcommands.go               Run; the commands
//	options.go, flags.go, combinations.go,         options of the one-shot: from structs to
//	settings.go                                    flags, what excludes what, what they mean
//	paramflag.go, indexflag.go, rules.go,          values of options
//	profiles.go, completion.go
//	oneshot.go, formats.go, detect.go, tables.go,  the one-shot: its inputs and their formats
//	parquet.go, descriptors.go
//	output.go, mirror.go, quarantine.go, shard.go  its outputs
//	unique.go, seen.go, seencmd.go, merged.go      its duplicates; sets of keys
//	lockstep.go                                    --lock-step
//	summary.go, report.go, progress.go, exit.go    how it ends: summary, report, exit code
//	noformat.go, jsonhint.go, advice.go            help with inputs that no format matches
//	mergereports.go                                merge-reports
//	explaincmd.go, encode.go, decode.go, chart.go, commands about single URLs
//	flagscmd.go
//	analyze.go, scan.go                            what the analyses share
//	topcmd.go, countcmd.go, learncmd.go,           analyses of the records
//	reportcmd.go
//	diffcmd.go, collisionscmd.go, verifykeyscmd.go analyses of keys
//	doctorcmd.go, doctor.go, doctorfields.go,      doctor and verify
//	verifycmd.go
//	runcmd.go, signals.go, hangup_unix.go,         the daemon
//	hangup_other.go, logging.go
//	validatecmd.go, statecmd.go, dedupecmd.go,     its configuration and stored state
//	expiry.go
//	adminclient.go, monitorcmd.go, tapcmd.go       a running daemon
//	helpcmd.go, helptext.go, mancmd.go, pager.go,  help, manual, version
//	version.go
package cli

import (
	"errors"
	"io"

	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// Run executes the command line args with the components of c and returns the
// exit code. It writes errors to stderr. No error contains a URL.
func Run(c *daemon.Catalog, args []string, stderr io.Writer) int {
	cmd := newRootCmdFor(c, args, listsCommands(args))
	cmd.SetArgs(args)
	stderr = terminal.Screen(stderr)
	cmd.SetOut(terminal.Screen(cmd.OutOrStdout()))
	cmd.SetErr(stderr)
	ran, err := cmd.ExecuteC()
	if err == nil {
		return exitDone
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{code: exitFatal, err: err}
	}
	if e.err != nil {
		_, _ = io.WriteString(stderr, terminal.Printable(e.text(ran.CommandPath()))) // stderr is the last resort
	}
	return e.code
}

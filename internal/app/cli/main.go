// Package cli implements the command line of urlfold: the one-shot filter, the
// daemon and the tools for single URLs, one file per command. Package
// config/app exports it.
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

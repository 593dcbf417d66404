// Command urlfold reads records that contain URLs, writes every URL in one normal
// form, says what is wrong with it and where, and gives it a key. Without a
// subcommand it is a filter: what goes in comes out.
package main

import (
	"errors"
	"io"
	"os"

	"github.com/urlfold/urlfold/internal/daemon"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

func main() { os.Exit(run(os.Args[1:], os.Stderr)) }

// run executes the command line and returns the exit code. What went wrong is
// told on stderr, and never holds a URL.
func run(args []string, stderr io.Writer) int {
	c, err := daemon.NewCatalog(sources.Builtin(), sinks.Builtin())
	if err != nil {
		panic("BUG: " + err.Error())
	}
	cmd := newRootCmd(c)
	cmd.SetArgs(args)
	err = cmd.Execute()
	if err == nil {
		return exitDone
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{code: exitFatal, err: err}
	}
	if e.err != nil {
		_, _ = io.WriteString(stderr, terminal.Printable(e.text())) // there is nobody left to tell
	}
	return e.code
}

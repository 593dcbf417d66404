// Package app is the entry point of urlfold programs. A main function that
// calls [Main] with additional sources, sinks and formats is a complete urlfold
// with all commands; see deploy/custom for an example.
//
//	func main() {
//		os.Exit(app.Main(app.Options{
//			Sources: []sources.Type{mySource},
//			Sinks:   []sinks.Type{mySink},
//			Formats: []record.Format{myFormat},
//		}))
//	}
package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/app/cli"
	"github.com/urlfold/urlfold/internal/app/daemon"
	engine "github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

// Options lists the components of a program.
type Options struct {
	// Version is what "--version" and the metrics say. Empty means the version of
	// the module github.com/urlfold/urlfold.
	Version string
	// Sources are the source types that a configuration may use in addition to the
	// built-in ones. Their names must be distinct.
	Sources []sources.Type
	// Sinks are sink types in addition to the built-in ones, with distinct
	// names. They also serve as dead letters.
	Sinks []sinks.Type
	// Formats are record formats in addition to the built-in ones. They are
	// available to configurations, to one-shot runs and to format detection.
	Formats []record.Format
}

// Main executes the command line of the process and returns the exit code: 0
// success, 1 fatal error, 2 usage or configuration error, 3 interrupted before
// everything was written, 4 finished but a condition of --fail-on was met, 78 "run" has a
// configuration with errors. It reads os.Args, uses the standard streams and handles
// signals, so a process must call it only once.
func Main(o Options) int {
	c := o.catalog(os.Stderr)
	if c == nil {
		return 1
	}
	return cli.Run(c, os.Args[1:], os.Stderr)
}

// IO holds the streams of a command line. A nil Stdin is empty; a nil Stdout or Stderr
// is discarded.
type IO struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Run executes the command line args, without the name of the program, and
// returns the exit code as Main does. It does not read os.Args, does not end
// the process and handles no signals. The end of ctx has the effect of the
// first signal to Main: a daemon writes the records that it has read and
// stops, within the deadline of its configuration. A command that reads no
// records, such as explain, ignores the end of ctx. A configuration is
// loaded again by "run --watch", not by SIGHUP.
//
// A process can call Run many times, even concurrently, with separate streams. These
// calls share the state of the process: the working directory, the environment, and the
// memory limit of the runtime, which "run" sets.
func Run(ctx context.Context, o Options, args []string, streams IO) int {
	if streams.Stdin == nil {
		streams.Stdin = strings.NewReader("")
	}
	stdout, stderr := cmp.Or(streams.Stdout, io.Discard), cmp.Or(streams.Stderr, io.Discard)
	c := o.catalog(stderr)
	if c == nil {
		return 1
	}
	return cli.RunEmbedded(ctx, c, args, streams.Stdin, stdout, stderr)
}

// catalog returns the components of o, or nil after writing what is wrong with them.
func (o Options) catalog(stderr io.Writer) *daemon.Catalog {
	formats, err := engine.Outside(o.Formats)
	var c *daemon.Catalog
	if err == nil {
		c, err = daemon.NewCatalog(o.Sources, o.Sinks, formats...)
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "BUG: app.Options: %v\n", err) // an error of stderr cannot be reported
		return nil
	}
	c.Version = o.Version
	return c
}

// Package app is the entry point of urlfold programs. A main function that calls
// [Main] with sources, sinks and formats of its own is an urlfold with all commands
// that also knows these: see deploy/custom for a complete one.
//
//	func main() {
//		os.Exit(app.Main(app.Options{
//			Sources: append(sources.Builtin(), mySource),
//			Sinks:   append(sinks.Builtin(), mySink),
//			Formats: []record.Format{myFormat{}},
//		}))
//	}
package app

import (
	"fmt"
	"os"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/cli"
	"github.com/urlfold/urlfold/internal/daemon"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

// Options say what a program is made of.
type Options struct {
	// Sources are the types of sources that a configuration may name:
	// sources.Builtin and others. Each needs a name of its own.
	Sources []sources.Type
	// Sinks are the types of sinks, likewise, also for dead letters.
	Sinks []sinks.Type
	// Formats are record formats besides the built-in ones, for configurations, the
	// filter and the detection of formats.
	Formats []record.Format
}

// Main executes the command line of the process, and returns the exit code: 0 done,
// 1 fatal, 2 usage or configuration, 3 interrupted before everything was written, 4
// finished, but --fail-on was met. It reads os.Args, uses the standard streams and
// handles signals, so a process calls it once.
func Main(o Options) int {
	c, err := daemon.NewCatalog(o.Sources, o.Sinks, o.Formats...)
	if err != nil {
		fmt.Fprintf(os.Stderr, "BUG: app.Options: %v\n", err)
		return 1
	}
	return cli.Run(c, os.Args[1:], os.Stderr)
}

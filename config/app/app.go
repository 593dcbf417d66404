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
	"fmt"
	"os"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/app/cli"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/startup"
	engine "github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

// Options lists the components of a program.
type Options struct {
	// Sources are the source types that a configuration may use in addition to the
	// built-in ones. Their names must be distinct.
	Sources []sources.Type
	// Sinks are the sink types, with the same rule. They also serve as dead
	// letters.
	Sinks []sinks.Type
	// Formats are record formats in addition to the built-in ones. They are
	// available to configurations, to the filter and to format detection.
	Formats []record.Format
}

// Main executes the command line of the process and returns the exit code: 0
// success, 1 fatal error, 2 usage or configuration error, 3 interrupted before
// everything was written, 4 finished but a condition of --fail-on was met. It
// reads os.Args, uses the standard streams and handles signals, so a process
// must call it only once.
func Main(o Options) int {
	startup.Begin()
	formats, err := engine.Outside(o.Formats)
	var c *daemon.Catalog
	if err == nil {
		c, err = daemon.NewCatalog(o.Sources, o.Sinks, formats...)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "BUG: app.Options: %v\n", err)
		return 1
	}
	return cli.Run(c, os.Args[1:], os.Stderr)
}

// Command urlfold reads records that contain URLs, writes every URL in one normal
// form, says what is wrong with it and where, and gives it a key. Without a
// subcommand it is a filter: what goes in comes out.
package main

import (
	"os"

	"github.com/urlfold/urlfold/config/app"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

func main() {
	os.Exit(app.Main(app.Options{
		Sources: sources.Builtin(),
		Sinks:   sinks.Builtin(),
	}))
}

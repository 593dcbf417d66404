// Command custom is urlfold with an additional source, sink and record format.
// Use it as a template: copy the directory, remove the replace line from
// go.mod, and change the rest.
package main

import (
	"os"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/config/app"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

func main() {
	os.Exit(app.Main(app.Options{
		Sources: []sources.Type{sources.Define("list", func() *listConfig { return new(listConfig) }, newList)},
		Sinks:   []sinks.Type{sinks.Define("tagged", defaultTagged, newTagged)},
		Formats: []record.Format{namedFormat},
	}))
}

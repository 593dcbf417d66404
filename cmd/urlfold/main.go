// Command urlfold reads records that contain URLs, normalizes each URL, reports
// its defects with their offsets, and computes its key. Without a subcommand it
// is a filter that copies its input and rewrites only the URLs.
package main

import (
	"os"

	"github.com/urlfold/urlfold/config/app"
)

func main() {
	os.Exit(app.Main(app.Options{}))
}

// Command benthos is Redpanda Connect with its free components for files and
// mappings, for the comparisons of bench/dedupe.sh and bench/peers.sh. It is a
// separate module because go install refuses the program of Redpanda Connect
// with a version, and so that its dependencies stay out of the other modules.
package main

import (
	"context"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"
)

func main() { service.RunCLI(context.Background()) }

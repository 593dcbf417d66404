package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// moved maps the names of removed commands to their replacements.
var moved = []struct{ old, now string }{
	{"chart", "encode --chart"},
	{"dedupe", "daemon reset --dedupe-only"},
	{"doctor", "check"},
	{"flags", "help flags"},
	{"man", "help --man"},
	{"merge-reports", "report --merge"},
	{"monitor", "daemon monitor"},
	{"profiles", "help profiles"},
	{"schema", "init --schema"},
	{"state", "daemon state"},
	{"tap", "daemon tap"},
	{"test", "check -c"},
	{"validate", "check -c"},
	{"verify", "check --integrity"},
	{"verify-keys", "check --keys"},
}

// addMoved adds a hidden command for each removed command that args name. Its error
// names the replacement.
func addMoved(root *cobra.Command, args []string) {
	for _, m := range moved {
		if slices.Contains(args, m.old) {
			root.AddCommand(&cobra.Command{
				Use: m.old, Hidden: true, DisableFlagParsing: true,
				RunE: func(*cobra.Command, []string) error {
					err := fmt.Errorf(`the command %q is now "urlfold %s" (to read a file of that name, write ./%[1]s)`, m.old, m.now)
					return &command.Error{Code: command.ExitUsage, Err: err, See: "See 'urlfold help " + pageOf(m.now) + "'."}
				},
			})
		}
	}
}

// pageOf returns what help calls a command or topic, without its options.
func pageOf(now string) string {
	name, _, _ := strings.Cut(now, " -")
	return strings.TrimPrefix(name, "help ")
}

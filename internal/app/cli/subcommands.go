package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/daemon"
)

// A subcommand creates a command, which has the given name.
type subcommand struct {
	name   string
	create func(c *daemon.Catalog) *cobra.Command
}

// subcommands returns all commands, except for those that cobra adds.
func subcommands() []subcommand {
	return []subcommand{
		{"explain", plain(newExplainCmd)}, {"top", newTopCmd}, {"count", newCountCmd}, {"report", newReportCmd}, {"learn", newLearnCmd},
		{"diff", newDiffCmd}, {"collisions", newCollisionsCmd}, {"seen", newSeenCmd}, {"verify-keys", newVerifyKeysCmd},
		{"encode", plain(newEncodeCmd)}, {"decode", plain(newDecodeCmd)}, {"chart", plain(newChartCmd)},
		{"profiles", plain(newProfilesCmd)}, {"flags", plain(newFlagsCmd)},
		{"run", newRunCmd}, {"validate", newValidateCmd}, {"test", newTestCmd}, {"schema", newSchemaCmd}, {"state", newStateCmd}, {"dedupe", newDedupeCmd},
		{"doctor", newDoctorCmd}, {"verify", newVerifyCmd}, {"merge-reports", plain(newMergeReportsCmd)}, {"man", plain(newManCmd)},
		{"tap", newTapCmd}, {"monitor", newMonitorCmd}, {"version", plain(newVersionCmd)},
	}
}

// plain adapts a command that needs no catalog.
func plain(create func() *cobra.Command) func(*daemon.Catalog) *cobra.Command {
	return func(*daemon.Catalog) *cobra.Command { return create() }
}

// listsCommands reports whether a command line may list the commands or complete
// their names.
func listsCommands(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		short := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "h") // of --help
		return short || strings.HasPrefix(arg, "--help") || strings.HasPrefix(arg, "__complete") ||
			slices.Contains([]string{"help", "completion", "man"}, arg)
	})
}

// rootNames returns the names of the commands.
func rootNames() []string {
	names := []string{"completion", "help"}
	for _, sub := range subcommands() {
		names = append(names, sub.name)
	}
	slices.Sort(names)
	return names
}

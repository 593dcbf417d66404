package help

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/manual"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// flagGroups lists the groups of flags in the order of the help text.
var flagGroups = []string{"Input", "Normalization", "Output", "Limits", "Run"}

// GroupKey is the annotation of an option with its group in the help of the root.
const GroupKey = "group"

// groupOf returns the group of a flag. The flags that cobra adds belong to the
// last group, Run.
func groupOf(f *pflag.Flag) string {
	if g := f.Annotations[GroupKey]; len(g) > 0 {
		return g[0]
	}
	return flagGroups[len(flagGroups)-1]
}

// rootText returns the help text of the root command: examples first, then the
// commands, then the flags grouped by purpose.
func rootText(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n  urlfold COMMAND [options]\n\nExamples:\n%s\n", cmd.Long, UsageLine(cmd), cmd.Example)
	writeJobs(&b, cmd)
	b.WriteString("\nTopics, shown by urlfold help TOPIC:\n")
	for _, t := range manual.Topics() {
		fmt.Fprintf(&b, "  %-22s %s\n", t.Name, terminal.Capital(t.About))
	}
	for _, group := range flagGroups {
		set := pflag.NewFlagSet(group, pflag.ContinueOnError)
		set.SortFlags = false
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if groupOf(f) == group {
				set.AddFlag(f)
			}
		})
		writeGroup(&b, group, set)
	}
	b.WriteString("\n" + rootNotes + "Exit codes: ")
	for i, e := range command.ExitMeanings {
		fmt.Fprintf(&b, "%d %s%s", e.Code, e.Meaning, map[bool]string{true: ".\n", false: ", "}[i == len(command.ExitMeanings)-1])
	}
	return b.String()
}

const rootNotes = `Without FILE, or if FILE is "-", urlfold reads standard input. Sizes take a unit: 64KiB, 1.5Mi, 10GB.
`

// UsageLine returns the command line of a command. Cobra calls options flags,
// which is what urlfold calls the properties of a URL.
func UsageLine(cmd *cobra.Command) string {
	return strings.Replace(cmd.UseLine(), "[flags]", "[options]", 1)
}

// writeUsage writes the usage of a subcommand in the form of the usage of urlfold itself.
func writeUsage(cmd *cobra.Command) error {
	var b strings.Builder
	line := UsageLine(cmd)
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " COMMAND [options]"
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", line)
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if cmd.HasAvailableSubCommands() {
		writeCommands(&b, cmd)
	}
	set := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	set.SortFlags = cmd.Flags().SortFlags
	set.AddFlagSet(cmd.LocalFlags())
	set.AddFlagSet(cmd.InheritedFlags())
	writeGroup(&b, "Options", set)
	_, err := io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}

// writeCommands writes a line for each subcommand of cmd.
func writeCommands(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString("\nCommands:\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			fmt.Fprintf(b, "  %-14s %s\n", c.Name(), c.Short)
		}
	}
}

// writeJobs writes a line for each command of root, grouped by job.
func writeJobs(b *strings.Builder, root *cobra.Command) {
	b.WriteString("\nCommands:\n")
	commands := slices.Clone(root.Commands())
	byJob(commands)
	for _, c := range commands {
		if c.IsAvailableCommand() || c.Name() == "help" {
			fmt.Fprintf(b, "  %-9s %-12s %s\n", jobOf(c.Name()), c.Name(), c.Short)
		}
	}
}

// writeGroup writes flags under a heading, wrapped.
func writeGroup(b *strings.Builder, heading string, flags *pflag.FlagSet) {
	usages := optional.ReplaceAllStringFunc(flags.FlagUsagesWrapped(terminal.MaxWidth), func(text string) string {
		word, _, _ := strings.Cut(text[1:], "[")
		return fmt.Sprintf("%-*s", len(text), "[="+word+"]")
	})
	fmt.Fprintf(b, "\n%s:\n%s", heading, usages)
}

// optional matches the word for a value that can be left out, and the value without it.
var optional = regexp.MustCompile(` [A-Z]+\[="[a-z]+"\]`)

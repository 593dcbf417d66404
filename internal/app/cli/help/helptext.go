package help

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/manual"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// flagGroups lists the groups of options in the order of the help text.
var flagGroups = []string{"Input", "Normalization", "Output", "Limits", "Run"}

// GroupKey is the annotation of an option with its group in the help of the root.
const GroupKey = "group"

// groupOf returns the group of an option. The options that cobra adds belong to the
// last group, Run.
func groupOf(f *pflag.Flag) string {
	if g := f.Annotations[GroupKey]; len(g) > 0 {
		return g[0]
	}
	return flagGroups[len(flagGroups)-1]
}

// fullText returns the help text of cmd, in lines of at most width columns: examples
// first, then the subcommands, then the options, those of the root grouped by purpose.
func fullText(cmd *cobra.Command, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage:\n", filled(cmp.Or(cmd.Long, cmd.Short+"."), width))
	if !cmd.HasParent() || !cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s\n", UsageLine(cmd))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND [options]\n", cmd.CommandPath())
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", fold(width, strings.Split(cmd.Example, "\n")...))
	}
	if cmd.HasParent() {
		writeCommands(&b, cmd, width)
		set := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
		set.SortFlags = cmd.Flags().SortFlags
		set.AddFlagSet(cmd.LocalFlags())
		set.AddFlagSet(cmd.InheritedFlags())
		writeGroup(&b, "Options", set, width)
		return b.String()
	}
	writeJobs(&b, cmd, width)
	b.WriteString("\nTopics, shown by urlfold help TOPIC:\n")
	for _, t := range manual.Topics() {
		writeItem(&b, t.Name, terminal.Capital(t.About), 25, width)
	}
	for _, group := range flagGroups {
		set := pflag.NewFlagSet(group, pflag.ContinueOnError)
		set.SortFlags = false
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if groupOf(f) == group {
				set.AddFlag(f)
			}
		})
		writeGroup(&b, group, set, width)
	}
	var notes strings.Builder
	notes.WriteString(rootNotes)
	for i, e := range command.ExitMeanings {
		fmt.Fprintf(&notes, "%d %s%s", e.Code, e.Meaning, map[bool]string{true: ".", false: ", "}[i == len(command.ExitMeanings)-1])
	}
	return b.String() + "\n" + filled(notes.String(), width) + "\n"
}

// filled returns text with its paragraphs filled to width columns. In other blocks, such
// as lists, it only breaks lines that are too long.
func filled(text string, width int) string {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		if strings.Contains("\n"+block, "\n  ") {
			blocks[i] = fold(width, strings.Split(block, "\n")...)
		} else {
			blocks[i] = strings.Join(terminal.Wrap(block, width), "\n")
		}
	}
	return strings.Join(blocks, "\n\n")
}

const rootNotes = `Without FILE, or if FILE is "-", urlfold reads standard input. Sizes take a unit: 64KiB, 1.5Mi, 10GB.

Exit codes: `

// fold returns lines broken at width columns. If a line does not fit, fold
// first moves the second column of all lines closer to the first column.
func fold(width int, lines ...string) string {
	if slices.ContainsFunc(lines, func(line string) bool { return len(line) > width }) {
		for i, line := range lines {
			lines[i] = gap.ReplaceAllString(line, "$1  ")
		}
	}
	return terminal.Style{Fold: width}.FoldedLines(strings.Join(lines, "\n"))
}

// gap matches the space between two columns.
var gap = regexp.MustCompile(`(\S) {3,}`)

// UsageLine returns the command line of a command. Cobra calls options flags,
// which is what urlfold calls the properties of a URL.
func UsageLine(cmd *cobra.Command) string {
	return strings.Replace(cmd.UseLine(), "[flags]", "[options]", 1)
}

// writeCommands writes a line for each subcommand of cmd, if it has any.
func writeCommands(b *strings.Builder, cmd *cobra.Command, width int) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	b.WriteString("\nCommands:\n")
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			writeItem(b, c.Name(), c.Short, 17, width)
		}
	}
}

// writeJobs writes a line for each command of root, grouped by job.
func writeJobs(b *strings.Builder, root *cobra.Command, width int) {
	b.WriteString("\nCommands:\n")
	commands := slices.Clone(root.Commands())
	byJob(commands)
	for _, c := range commands {
		if c.IsAvailableCommand() || c.Name() == "help" {
			writeItem(b, fmt.Sprintf("%-9s %s", jobOf(c.Name()), c.Name()), c.Short, 25, width)
		}
	}
}

// writeGroup writes options under a heading, in lines of at most width columns.
func writeGroup(b *strings.Builder, heading string, flags *pflag.FlagSet, width int) {
	indent := 0
	flags.VisitAll(func(f *pflag.Flag) { indent = max(indent, len(flagTerm(f))+5) })
	indent = min(indent, maxIndent)
	fmt.Fprintf(b, "\n%s:\n", heading)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		_, text := pflag.UnquoteUsage(f)
		if standard := defaultOf(f); standard != "" {
			text += " (default " + standard + ")"
		}
		writeItem(b, flagTerm(f), text, indent, width)
	})
}

// maxIndent is the maximum column at which the text about an option begins.
const maxIndent = 32

// writeItem writes a word and, from the column indent on, the text about it.
func writeItem(b *strings.Builder, word, text string, indent, width int) {
	fmt.Fprintf(b, "  %-*s ", indent-3, word)
	margin := "\n" + strings.Repeat(" ", indent)
	if len(word) > indent-3 {
		b.WriteString(margin)
	}
	b.WriteString(strings.Join(terminal.Wrap(text, width-indent), margin) + "\n")
}

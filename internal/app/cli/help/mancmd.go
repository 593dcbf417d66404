package help

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/manual"
	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A WriteFile writes text to a file and replaces it. The file must not be one
// of inputs.
type WriteFile func(name string, text []byte, inputs []string) error

// writeManPages writes the pages of all commands and topics below dir.
func writeManPages(root *cobra.Command, dir, version string, write WriteFile) error {
	for _, section := range []string{"man1", "man7"} {
		if err := disk.MkdirAll(filepath.Join(dir, section), 0o755); err != nil {
			return err
		}
	}
	for name, page := range manPages(root, version) {
		if err := write(filepath.Join(dir, "man"+name[len(name)-1:], name), page, nil); err != nil {
			return err
		}
	}
	return nil
}

// manPages returns the pages of all commands and topics by file name.
func manPages(root *cobra.Command, version string) map[string][]byte {
	pages := map[string][]byte{}
	date := buildDate()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		pages[manName(c)+".1"] = commandPage(c, date, version)
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				walk(sub)
			}
		}
	}
	walk(root)
	for _, t := range manual.Topics() {
		pages["urlfold-"+t.Name+".7"] = t.Man(date, version).Bytes()
	}
	return pages
}

// manName returns the name of the page of c, such as urlfold-daemon-state.
func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// buildDate returns the date of the revision from which the program was built,
// or "" if that is unknown. The pages of one program are always the same.
func buildDate() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.time" })
	if i < 0 {
		return ""
	}
	date, _, _ := strings.Cut(info.Settings[i].Value, "T")
	return date
}

// commandPage returns the man page of c.
func commandPage(c *cobra.Command, date, version string) []byte {
	m := manual.NewMan(manName(c), 1, date, version, terminal.LowerFirst(c.Short))
	m.Section("SYNOPSIS")
	m.Code([]string{UsageLine(c)})
	if subs := command.Names(c); len(subs) > 0 {
		m.Code([]string{c.CommandPath() + " COMMAND [options]"})
	}
	m.Section("DESCRIPTION")
	manText(m, cmp.Or(c.Long, c.Short+"."))
	manCommands(m, c)
	manFlags(m, c)
	if c.Example != "" {
		m.Section("EXAMPLES")
		for line := range strings.SplitSeq(c.Example, "\n") {
			command, about, _ := strings.Cut(strings.TrimSpace(line), "  ")
			m.Item(command, strings.TrimSpace(about))
		}
	}
	if !c.HasParent() {
		m.Section("EXIT STATUS")
		for _, e := range command.ExitMeanings {
			m.Item(fmt.Sprint(e.Code), terminal.Capital(e.Meaning)+".")
		}
		m.Section("ENVIRONMENT")
		for _, v := range environment {
			m.Item(v.name, v.meaning)
		}
	}
	m.Section("SEE ALSO")
	m.Paragraph(strings.Join(seeAlso(c), ", "))
	return m.Bytes()
}

// environment holds the environment variables that every command reads.
var environment = []struct{ name, meaning string }{
	{"NO_COLOR", "If it is not empty, output has no colors."},
	{"COLUMNS", "The width of text in columns. Default: the width of the terminal."},
	{"LC_ALL, LC_CTYPE, LANG", "Text is drawn with characters beyond ASCII if the first of these that is set names UTF-8."},
	{"PAGER", "The program through which urlfold help shows a topic on a terminal."},
}

// manText writes a help text: paragraphs, and indented lines as they are.
func manText(m *manual.Man, text string) {
	var run []string
	indented := func(line string) bool { return strings.HasPrefix(line, "  ") }
	flush := func() {
		switch {
		case len(run) == 0:
		case indented(run[0]):
			m.Code(run)
		default:
			m.Paragraph(strings.Join(run, " "))
		}
		run = nil
	}
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line == "" || len(run) > 0 && indented(line) != indented(run[0]) {
			flush()
		}
		if line != "" {
			run = append(run, line)
		}
	}
	flush()
}

// manCommands writes the list of the subcommands of c.
func manCommands(m *manual.Man, c *cobra.Command) {
	if len(command.Names(c)) == 0 {
		return
	}
	m.Section("COMMANDS")
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			m.Item(sub.Name(), sub.Short+". See "+manName(sub)+"(1).")
		}
	}
}

// manFlags writes the options of c, for the root by group.
func manFlags(m *manual.Man, c *cobra.Command) {
	m.Section("OPTIONS")
	groups := []string{""}
	if !c.HasParent() {
		groups = flagGroups
	}
	for _, group := range groups {
		if group != "" {
			m.Subsection(group)
		}
		all := pflag.NewFlagSet("", pflag.ContinueOnError)
		all.SortFlags = false
		all.AddFlagSet(c.NonInheritedFlags())
		all.AddFlagSet(c.InheritedFlags())
		all.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && (group == "" || groupOf(f) == group) {
				m.Item(strings.TrimSpace(flagTerm(f)), flagText(f))
			}
		})
	}
}

// flagName returns the letter and the name of an option.
func flagName(f *pflag.Flag) string {
	if f.Shorthand == "" {
		return "    --" + f.Name
	}
	return "-" + f.Shorthand + ", --" + f.Name
}

// flagTerm returns the names of an option and of its value.
func flagTerm(f *pflag.Flag) string {
	term := flagName(f)
	value, _ := pflag.UnquoteUsage(f)
	switch {
	case value != "" && f.NoOptDefVal != "":
		return term + "[=" + value + "]"
	case value != "":
		return term + " " + value
	}
	return term
}

// flagText returns the help of an option, with its default.
func flagText(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	text = terminal.Capital(text) + "."
	if standard := defaultOf(f); standard != "" {
		text += " Default: " + standard + "."
	}
	return text
}

// defaultOf returns the default of an option, or "" if the option has none or its
// text states it.
func defaultOf(f *pflag.Flag) string {
	text := strings.Trim(f.DefValue, "[]") // a list has brackets
	switch {
	case f.Name == "workers": // depends on the machine
		return "the number of processors"
	case text == "false" || text == "0":
		return ""
	}
	return text
}

// seeAlso returns the pages to which the page of c refers: for the root, all
// topics.
func seeAlso(c *cobra.Command) (pages []string) {
	if c.HasParent() {
		pages = append(pages, manName(c.Parent())+"(1)", "urlfold-exit-codes(7)")
		return slices.Compact(pages)
	}
	for _, t := range manual.Topics() {
		pages = append(pages, "urlfold-"+t.Name+"(7)")
	}
	return pages
}

package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/internal/app/cli/help"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// This file makes the page about the command line from the commands, as the man
// pages are made.

// mdText escapes plain text for Markdown.
var mdText = strings.NewReplacer("&", "&amp;", "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "|", `\|`)

// commandLinePage returns the reference of all commands and options.
func commandLinePage(t *testing.T) []byte {
	var b bytes.Buffer
	root := newRootCmd(testCatalog(t))
	b.WriteString("# Command line\n\n" + generated + "Every command and option. `urlfold COMMAND --help` shows the same texts in the terminal. An option that a\n" +
		"command shares with `urlfold` itself is explained there only. Sizes take a unit: `64k`, `1.5MiB`, `10GB`. Lists are\n" +
		"separated by commas. [Exit codes](exit-codes.md) explains the results.\n\n| command | does |\n|---|---|\n")
	all := allCommands(root)
	for _, c := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), mdText.Replace(c.Short))
	}
	shared := map[string]string{}
	for _, c := range all {
		writeCommand(&b, c, shared)
	}
	if len(all) < 15 || len(shared) < 40 {
		t.Errorf("%d commands, %d options of urlfold", len(all), len(shared))
	}
	return b.Bytes()
}

// allCommands returns c and the commands below it, without those that the shell
// completion and the help of cobra add.
func allCommands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "completion" {
			list = append(list, allCommands(sub)...)
		}
	}
	return list
}

// writeCommand writes the section of a command. shared has the text of each option
// of the root, which the first call fills.
func writeCommand(b *bytes.Buffer, c *cobra.Command, shared map[string]string) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n```text\n%s\n```\n", c.CommandPath(), mdText.Replace(c.Short), help.UsageLine(c))
	if c.Long != "" {
		b.WriteString("\n")
		code := false
		for line := range strings.SplitSeq(strings.TrimSpace(c.Long), "\n") {
			if indented := strings.HasPrefix(line, "  "); indented != code && line != "" {
				b.WriteString(map[bool]string{true: "\n```text\n", false: "```\n\n"}[indented])
				code = indented
			}
			if !code {
				line = mdText.Replace(line)
			}
			b.WriteString(line + "\n")
		}
		if code {
			b.WriteString("```\n")
		}
	}
	if c.Example != "" {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", c.Example)
	}
	var rows, same []string
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.AddFlagSet(c.NonInheritedFlags())
	flags.AddFlagSet(c.InheritedFlags())
	flags.VisitAll(func(f *pflag.Flag) {
		value, text := pflag.UnquoteUsage(f)
		switch {
		case f.Hidden || f.Name == "help":
		case c.HasParent() && shared[f.Name] == value+text:
			same = append(same, mdCode("--"+f.Name))
		default:
			rows = append(rows, optionRow(f, value, text))
			if !c.HasParent() {
				shared[f.Name] = value + text
			}
		}
	})
	if len(rows) > 0 {
		b.WriteString("\n| option | value | what it does | default |\n|---|---|---|---|\n" + strings.Join(rows, ""))
	}
	if len(same) > 0 {
		fmt.Fprintf(b, "\nAs for [urlfold](#urlfold): %s.\n", strings.Join(same, ", "))
	}
}

// optionRow returns the row of an option.
func optionRow(f *pflag.Flag, value, text string) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	standard := f.DefValue
	switch {
	case f.Name == "workers" || f.Name == "jobs":
		standard = "the number of processors"
	case slices.Contains([]string{"", "false", "0", "[]"}, standard):
		standard = ""
	default:
		standard = mdCode(standard)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", mdCode(name), mdText.Replace(value), mdText.Replace(terminal.Capital(text))+".", standard)
}

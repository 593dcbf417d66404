package help

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Jobs holds the groups of commands, by what people want to do.
var Jobs = []struct {
	Name     string
	Commands []string
}{
	{"inspect", []string{"check"}},
	{"count", []string{"top", "count", "report", "learn"}},
	{"keys", []string{"seen", "collisions", "diff"}},
	{"daemon", []string{"run", "init", "daemon"}},
	{"one URL", []string{"explain", "encode", "decode"}},
	{"about", []string{"help", "version", "completion"}},
}

// The size of the screen that the short help must fit, and its layout.
const (
	screenWidth = 80
	screenLines = 40
	shortIndent = 21 // column at which the description of an option begins
)

// A shortOption is an option that the short help shows, and what it does.
type shortOption struct{ name, about string }

// shortOptions holds the most important options.
var shortOptions = []shortOption{
	{"output", "write to this file, compressed if it ends in .gz or .zst"},
	{"output-dir", "write one output for each input below this directory"},
	{"from", "read records in this format; default: detect it"},
	{"to", "write this format: rewrite, urls, keys, jsonl or others"},
	{"fields", "write these fields, such as url,norm,key,flags"},
	{"profile", "apply this profile: equiv, crawler, analytics or another"},
	{"key", "compute keys at this level: syntax, equivalent, fetch, page"},
	{"where", "keep the records for which an expression is true"},
	{"dedupe", "keep one record for each key"},
	{"redact", "hide passwords, addresses and other values"},
}

const shortHead = `Normalize the URLs in access logs, lists, tables and web archives. urlfold
writes every record, and changes nothing in it but its URL.

Usage:
  urlfold [options] [FILE|GLOB|DIR|-]...
  urlfold COMMAND [options]

Examples:
  urlfold access.log.gz > clean.log           change only the requested URLs
  urlfold 'logs/*.gz' --output-dir clean      write one output for each log
  urlfold -r jsonl access.log | jq .key       write an object for each URL
  urlfold explain 'HTTP://Ex%41mple.com:80'   explain a single URL
`

const shortTail = `
'urlfold --help' lists all options, 'urlfold help TOPIC' shows a page, such as
first-log, use-cases, formats or glossary.
`

// Short returns the help text of cmd that fits one screen.
func Short(cmd *cobra.Command) string {
	var b strings.Builder
	if !cmd.HasParent() {
		b.WriteString(shortHead + "\nOptions:\n")
		for _, o := range shortOptions {
			writeShort(&b, cmd.Flags().Lookup(o.name), o.about)
		}
		b.WriteString("\nCommands:\n")
		for _, j := range Jobs {
			fmt.Fprintf(&b, "  %-9s %s\n", j.Name+":", strings.Join(j.Commands, ", "))
		}
		return b.String() + shortTail
	}
	if text := fullText(cmd, screenWidth); strings.Count(text, "\n") <= screenLines {
		return text
	}
	about, _, _ := strings.Cut(cmp.Or(cmd.Long, cmd.Short+"."), "\n\n")
	fmt.Fprintf(&b, "%s\n\nUsage:\n%s\n", filled(about, screenWidth), fold(screenWidth, "  "+UsageLine(cmd)))
	if all := strings.Split(cmd.Example, "\n"); cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", fold(screenWidth, all[:min(4, len(all))]...))
	}
	b.WriteString("\nOptions:\n")
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		shared := cmd.Root().Flags().Lookup(f.Name)
		own := shared == nil || shared.Usage != f.Usage
		i := slices.IndexFunc(shortOptions, func(o shortOption) bool { return o.name == f.Name })
		switch {
		case f.Hidden:
		case own:
			writeShort(&b, f, beginning(f))
		case i >= 0:
			writeShort(&b, f, shortOptions[i].about)
		}
	})
	fmt.Fprintf(&b, "\n'%s --help' explains all options.\n", cmd.CommandPath())
	return b.String()
}

// writeShort writes an option and what it does, in one line or two.
func writeShort(b *strings.Builder, f *pflag.Flag, about string) {
	writeItem(b, flagName(f), about, shortIndent, screenWidth)
}

// beginning returns the first sentence of the help of an option if it fits one line, or else
// its first clause.
func beginning(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	text, _, _ = strings.Cut(text, ". ")
	if len(text) > screenWidth-shortIndent {
		text = text[:clauseEnd.FindStringIndex(text + "; ")[0]]
	}
	return text
}

// clauseEnd matches the end of a clause.
var clauseEnd = regexp.MustCompile(`[:;] | \(|, such as | and with `)

// byJob sorts commands by the jobs that they do.
func byJob(commands []*cobra.Command) {
	place := map[string]int{}
	for _, j := range Jobs {
		for _, name := range j.Commands {
			place[name] = len(place)
		}
	}
	slices.SortStableFunc(commands, func(a, b *cobra.Command) int { return cmp.Compare(place[a.Name()], place[b.Name()]) })
}

// jobOf returns the heading of the job whose first command is name, or "".
func jobOf(name string) string {
	for _, j := range Jobs {
		if j.Commands[0] == name {
			return j.Name + ":"
		}
	}
	return ""
}

package help

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Jobs holds the groups of commands, by what people want to do.
var Jobs = []struct {
	Name     string
	Commands []string
}{
	{"clean", []string{"check"}},
	{"count", []string{"top", "count", "report", "learn"}},
	{"repeat", []string{"seen", "collisions", "diff"}},
	{"daemon", []string{"run", "init", "daemon"}},
	{"one URL", []string{"explain", "encode", "decode"}},
	{"about", []string{"help", "version", "completion"}},
}

// shortOptions holds the options that the short help shows, and what they do.
var shortOptions = []struct{ name, about string }{
	{"output", "write to this file, compressed if it ends in .gz or .zst"},
	{"output-dir", "write one output for each input below this directory"},
	{"from", "the format of the records; default: detect it"},
	{"to", "rewrite, extend, urls, keys, jsonl, tsv, csv, parquet, arrow"},
	{"fields", "the output fields, such as url,norm,key,flags"},
	{"profile", "the rules: equiv, whatwg, crawler, analytics and others"},
	{"key", "which URLs are equal: syntax, equivalent, fetch, page"},
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

// Short returns the help text of root that fits one screen of 80 columns.
func Short(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(shortHead + "\nOptions:\n")
	for _, o := range shortOptions {
		f := root.Flags().Lookup(o.name)
		name := "    --" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", --" + f.Name
		}
		fmt.Fprintf(&b, "  %-17s %s\n", name, o.about)
	}
	b.WriteString("\nCommands:\n")
	for _, j := range Jobs {
		fmt.Fprintf(&b, "  %-9s %s\n", j.Name, strings.Join(j.Commands, ", "))
	}
	return b.String() + shortTail
}

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

// jobOf returns the name of the job whose first command is name, or "".
func jobOf(name string) string {
	for _, j := range Jobs {
		if j.Commands[0] == name {
			return j.Name
		}
	}
	return ""
}

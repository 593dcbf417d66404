package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// This file, docs_commandline_test.go and docs_reference_test.go write the pages of docs/reference that are
// generated from code. The examples of rules are computed by the codec.

//go:generate go test -run ^TestDocs -update .

// TestDocs checks that the generated pages are up to date. With -update it writes
// them.
func TestDocs(t *testing.T) {
	f := func(name string, page []byte) {
		t.Helper()
		path := filepath.Join("..", "..", "..", "docs", "reference", name)
		if *update {
			if err := os.WriteFile(path, page, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, page) {
			t.Errorf("%s is out of date (%v): run go generate ./config ./internal/app/cli", path, err)
		}
	}
	f("flags.md", flagsPage())
	f("profiles.md", profilesPage(t))
	f("metrics.md", metricsPage(t))
	f("log-events.md", eventsPage(t))
	f("command-line.md", commandLinePage(t))
}

// testCatalog returns a catalog of the components of this module.
func testCatalog(t *testing.T) *daemon.Catalog {
	t.Helper()
	c, err := daemon.NewCatalog(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestSchema checks that the schema of configurations with all components is JSON.
func TestSchema(t *testing.T) {
	data, err := config.Schema(testCatalog(t).Types())
	if err != nil || !json.Valid(data) {
		t.Errorf("%v, %d bytes", err, len(data))
	}
}

const generated = "<!-- Made from the code by go generate ./internal/app/cli: do not edit. -->\n\n"

// mdCell returns text for a cell of a table.
func mdCell(text string) string {
	return strings.NewReplacer("&", "&amp;", "|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

// mdCode returns text as code in a cell.
func mdCode(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func flagsPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Flags\n\n" + generated + `A flag is the name of a property of the input URL, most often a defect. The diagnostics of a URL list the offsets of its
flags. Flags do not affect the exit code unless you pass ` + "`--fail-on flags`" + `. An X marks flags for URLs that the grammar of
RFC 3986 does not allow. ` + "`urlfold help flags --to jsonl`" + ` writes this list as JSON lines.

| flag | invalid | meaning | clause |
|---|---|---|---|
`)
	for f := range codec.AllFlags().All() {
		mark := ""
		if f.Severity() == codec.SeverityViolation {
			mark = "X"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", mdCode(f.String()), mark, mdCell(terminal.Capital(f.Meaning())), mdCell(f.Clause()))
	}
	return b.Bytes()
}

// uses holds what each built-in profile is for.
var uses = map[string]string{
	"analytics":      "For web analysts, who count each page once: keys leave out the scheme, `www.`, index files and tracking parameters.",
	"crawler":        "For the frontier of a crawler: URLs that need not be fetched twice have the same key. The normal form has no fragment and no userinfo, which clients do not send.",
	"equiv":          "The default: the URL that a browser would fetch, with its escapes in the normal form of RFC 3986.",
	"logclean":       "For archives of logs: like `equiv`, but urlfold parses a URL that browsers cannot parse by RFC 3986 instead of rejecting it.",
	"rfc3986":        "For databases, proofs and XML namespaces: merges URIs that are equivalent in every scheme, and no others.",
	"rfc3986-scheme": "For servers and proxies that follow the RFC: `rfc3986` with the rules of the schemes http, https, ws, wss, ftp and file.",
	"whatwg":         "For comparison with browsers and libraries that follow the URL Standard: exactly its `href`.",
}

// matchUses holds the purposes of the profiles that match other programs.
var matchUses = map[string]string{
	"crawler-commons": "For Java crawlers that store what the BasicURLNormalizer of crawler-commons returns.",

	"gsb-v4": "For Google Safe Browsing version 4, Web Risk and compatible services: the URL from which their expressions are computed.",
	"gsb-v5": "The same for version 5, which also writes IPv6 addresses in one form.",

	"purell-all-greedy":          "All of purell's flags that remove something: no www, no directory index, no fragment, no https, sorted parameters.",
	"purell-safe":                "purell's flags that keep the meaning.",
	"purell-usually-safe-greedy": "The flags of `purell-safe`, and those that remove dot segments and trailing slashes.",

	"ssurt":   "The sortable form of urlcanon, for range scans by host, with every part of the URL.",
	"surt-ia": "The keys of web archives (CDX), for look-ups in them and for `urlfold check --keys`.",

	"urlcanon-aggressive":       "The groups of `urlcanon-semantic`, also without https, www, session ids, trailing slashes and case.",
	"urlcanon-google":           "The canonicalization of an early version of Safe Browsing.",
	"urlcanon-semantic":         "The groups of `urlcanon-semantic-precise`, without fragments.",
	"urlcanon-semantic-precise": "Groups URLs that, as urlcanon expects, load the same page.",
	"urlcanon-whatwg":           "What urlcanon takes for the URL of a browser.",

	"w3lib": "The URL fingerprints of Scrapy, for stores of requests that a Scrapy crawler has seen.",
}

// writeRuleTable writes a row for each rule.
func writeRuleTable(b *bytes.Buffer, rules codec.Rules) {
	b.WriteString("| rule | before | after | clause |\n|---|---|---|---|\n")
	cell := func(url string) string { return mdCode(strings.ReplaceAll(url, "\t", `\t`)) }
	for rule := range rules.All() {
		before, after := rule.Example()
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", mdCode(rule.String()), cell(before), cell(after), mdCell(rule.Clause()))
	}
}

func profilesPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Profiles\n\n" + generated + `A profile defines the standard by which urlfold parses URLs, the rules that produce the normal form, and the level of the
keys. ` + "`urlfold help profiles --to jsonl`" + ` writes the lists below as JSON lines. ` + "`-p NAME`" + ` selects a built-in profile, and ` + "`-p FILE.yaml`" + ` selects
a profile of your own. ` + "`--rule +rfc-clean,-frag-drop`" + ` adds and removes rules.

## Built in

| profile | standard | key | malformed % | purpose |
|---|---|---|---|---|
`)
	for _, p := range codec.Profiles() {
		if uses[p.Name]+matchUses[p.Name] == "" {
			t.Errorf("profile %s has no description in uses or matchUses", p.Name)
		}
		name := mdCode(p.Name)
		if p.Name == defaultProfile {
			name += " (default)"
		}
		if p.Match != "" {
			continue
		}
		fmt.Fprintf(&b, "| %s | %v | %s | %s | %s |\n", name, p.Standard, mdCode(codec.KeyFunction(p.Standard, p.Key)), malformedText(p.Malformed), uses[p.Name])
	}
	b.WriteString("\nAfter the rules of the parser, each profile applies these rules, in this order:\n\n| profile | rules |\n|---|---|\n")
	for _, p := range codec.Profiles() {
		if p.Match != "" {
			continue
		}
		rules := "none except those of the parser"
		if !p.Rules.IsZero() {
			rules = mdCode(strings.Join(p.Rules.Names(), ", "))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", mdCode(p.Name), rules)
	}
	writeMatchTable(t, &b)
	writeRules(&b)
	writeLevels(&b)
	writeOwn(t, &b)
	return b.Bytes()
}

// writeMatchTable writes the profiles that match other programs.
func writeMatchTable(t *testing.T, b *bytes.Buffer) {
	b.WriteString(`
## Match another program

The normal form of these profiles is what another program returns, byte for byte and with its bugs. Flags, diagnostics and
the keys of the other levels follow RFC 3986. The key of the level ` + "`match`" + ` is a hash of the normal form. If the program rejects
a URL, urlfold rejects it too, with the error ` + "`match-rejects`" + `. You cannot change the rules of these profiles,
or combine them with --repair or --secret. Pass the original URL: the program may change its own result again.

| profile | program | key | purpose |
|---|---|---|---|
`)
	for _, p := range codec.Profiles() {
		if p.Match == "" {
			continue
		}
		n, err := codec.New(p)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", mdCode(p.Name), p.Program(), mdCode(n.KeyFunction(codec.LevelMatch)), matchUses[p.Name])
	}
}

func writeRules(b *bytes.Buffer) {
	b.WriteString("\n## Rules of a normal form\n\nThe parser of the URL Standard applies these in every profile.\n\n")
	writeRuleTable(b, codec.ParserRules(codec.WHATWG))
	b.WriteString("\nThe parser of RFC 3986 applies `resolve` if there is a base. It applies `malformed-encode` in profiles that encode a malformed %.\n\n")
	writeRuleTable(b, codec.ParserRules(codec.RFC3986))
	b.WriteString("\nA profile selects from these rules. A profile of the URL Standard need not select the rules that its parser always applies.\n\n")
	writeRuleTable(b, codec.ProfileRules())
}

// levelTexts holds what each level merges.
var levelTexts = [...]string{
	"URLs that RFC 3986 §6.2.2 calls equivalent: case, unreserved escapes, dot segments",
	"also by §6.2.3: default port, empty path, spelling of IP addresses",
	"also for a crawler: no fragment, userinfo, session ids, click ids; parameters in any order; http = https",
	"also for analytics: one `www.`, double slashes, index files, trailing slash, parameters of the site",
}

func writeLevels(b *bytes.Buffer) {
	b.WriteString("\n## Keys\n\nKeys nest: URLs with the same key at one level have the same keys at all higher levels. [Keys](keys.md) is the specification.\n\n| level | key functions | merges |\n|---|---|---|\n")
	for lv := codec.LevelSyntax; lv <= codec.LevelPage; lv++ {
		fmt.Fprintf(b, "| %v | %s, %s | %s |\n", lv, mdCode(codec.KeyFunction(codec.WHATWG, lv)), mdCode(codec.KeyFunction(codec.RFC3986, lv)), levelTexts[lv-codec.LevelSyntax])
	}
	for _, lv := range []codec.Level{codec.LevelFetch, codec.LevelPage} {
		fmt.Fprintf(b, "\nThese rules derive %v from %v. They do not change the query of a signed URL.", lv, lv-1)
		rules := codec.KeyRules(lv)
		if lv == codec.LevelPage {
			rules = rules.Minus(codec.KeyRules(codec.LevelFetch))
			b.WriteString(" The level page also leaves out parameters of the site, the scheme http and its slashes.")
		}
		b.WriteString("\n\n")
		on := codec.RulesOf()
		for rule := range rules.All() {
			if appliesTo(rule, lv) {
				on = on.With(rule)
			}
		}
		writeRuleTable(b, on)
		if off := rules.Minus(on); !off.IsZero() {
			fmt.Fprintf(b, "\nThese rules are part of %v only if the policy of a profile selects them.\n\n", lv)
			writeRuleTable(b, off)
		}
	}
}

// appliesTo reports whether the built-in profiles apply a rule to its example at a level.
func appliesTo(rule codec.Rule, lv codec.Level) bool {
	before, _ := rule.Example()
	for _, p := range codec.Profiles() {
		n, err := codec.New(p)
		if p.Match != "" || err != nil {
			continue
		}
		var r codec.Result
		if _, err := n.Append(nil, []byte(before), &r); err == nil {
			r.Key(lv)
			if !codec.RulesOf(rule).Intersect(r.KeyApplied().Union(r.Applied())).IsZero() {
				return true
			}
		}
	}
	return false
}

// writeOwn writes the section on profile files.
func writeOwn(t *testing.T, b *bytes.Buffer) {
	path := filepath.Join("..", "..", "..", "testdata", "profiles", "shop.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.LoadProfile(path); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(b, `
## Your own

A profile in a YAML file consists of a built-in profile, rules to add or remove, and a policy for the keys of the levels fetch and page. Only `+"`name` and `base`"+`
are required. File paths are relative to the folder of the profile. urlfold fetches nothing from the network, and reports
all errors together, with line and column.

`+"```yaml\n%s```"+`

%s
`+"`params`"+` is the same as `+"`codec.params`"+` in a configuration: see [Parameters](fields.md#parameters).

The keys of the levels fetch and page depend on lists. `+"`urlfold explain`"+` prints the names and versions of the lists. The version changes with
every rule. `+"`urlfold diff`"+` [shows what a change would do](../how-to/compare-profiles.md) to your own URLs.
`, text, keysOfProfiles(t))
}

// keysOfProfiles returns the table of keys in the page about profiles, which the tests of
// package config write.
func keysOfProfiles(t *testing.T) string {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "profiles.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| key | type |")
	table, _, _ = strings.Cut(table, "|\n\n")
	return "| key | type |" + table + "|\n"
}

// TestDependencies checks that docs/dependencies.md names every module that is
// linked into the binary, on each system that is released for, and none besides.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, inBinary, _ := strings.Cut(string(page), "\n## In the binary\n")
	inBinary, _, _ = strings.Cut(inBinary, "\n## ")
	listed := map[string]bool{}
	for line := range strings.Lines(inBinary) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, word := range strings.FieldsFunc(cells[1], func(r rune) bool { return r == ' ' || r == ',' }) {
			if strings.Contains(word, ".") && strings.Contains(word, "/") {
				listed[word] = true
			}
		}
	}
	linked := map[string]bool{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "../../../cmd/urlfold")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for path := range strings.FieldsSeq(string(out)) {
			linked[path] = true
		}
	}
	for path := range linked {
		if !listed[path] {
			t.Errorf("docs/dependencies.md lacks %s", path)
		}
	}
	for path := range listed {
		if !linked[path] {
			t.Errorf("docs/dependencies.md has %s, which is not linked", path)
		}
	}
}

// malformedText describes how s treats a '%' that does not start an escape.
func malformedText(s percent.Malformed) string {
	switch s {
	case percent.MalformedEncode:
		return "encoded, as %25"
	case percent.MalformedKeep:
		return "kept"
	}
	return "the URL is rejected"
}

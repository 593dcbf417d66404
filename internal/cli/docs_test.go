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
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/daemon"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

// This file makes the pages of docs that are made from code. What a rule does is
// shown by the codec itself, on a URL that shows it.

//go:generate go test -run ^TestDocs$ -update .

// TestDocs checks that the pages are what the code says. With -update it writes
// them.
func TestDocs(t *testing.T) {
	f := func(name string, page []byte) {
		t.Helper()
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, page, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, page) {
			t.Errorf("%s is out of date (%v): go generate ./internal/cli", path, err)
		}
	}
	f("flags.md", flagsPage())
	f("profiles.md", profilesPage(t))
	f("config.md", configPage(t))
}

// testCatalog holds the components of this module.
func testCatalog(t *testing.T) *daemon.Catalog {
	t.Helper()
	c, err := daemon.NewCatalog(sources.Builtin(), sinks.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// configPage is the reference of configurations, with all components.
func configPage(t *testing.T) []byte {
	page, err := config.Reference(testCatalog(t).Types())
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// The schema of configurations can be made of the components that there are.
func TestSchema(t *testing.T) {
	data, err := config.Schema(testCatalog(t).Types())
	if err != nil || !json.Valid(data) {
		t.Errorf("%v, %d bytes", err, len(data))
	}
}

const generated = "<!-- Made from the code by go generate ./internal/cli: do not edit. -->\n\n"

// mdCell is text for a cell of a table.
func mdCell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

// mdCode is text as code in a cell.
func mdCode(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func flagsPage() []byte {
	var b bytes.Buffer
	b.WriteString("# Flags\n\n" + generated + `A flag says that something was noticed about a URL as it came in. It never fails a run, unless ` + "`--fail-on flags`" + `
asks for it. Where it was noticed is told by the marks. Those with an X stand for something that the grammar of RFC 3986 does
not allow. ` + "`urlfold flags`" + ` lists the same.

| flag | invalid | meaning | clause |
|---|---|---|---|
`)
	for f := range codec.AllFlags().All() {
		mark := ""
		if f.Severity() == codec.Violation {
			mark = "X"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", mdCode(f.String()), mark, mdCell(terminal.Capital(f.Meaning())), mdCell(f.Clause()))
	}
	return b.Bytes()
}

// uses says what each built-in profile is for.
var uses = map[string]string{
	"analytics":      "A web analyst counts each page once: keys without scheme, `www.`, index files, tracking parameters.",
	"crawler":        "A crawler's frontier: what need not be fetched twice has one key; fragment and userinfo are never sent anyway.",
	"equiv":          "The default: what a browser would fetch, and escapes as RFC 3986 has them. Nothing else is merged.",
	"logclean":       "Archives of logs: as equiv, but what browsers have no reading of is kept by RFC 3986 and not rejected.",
	"rfc3986":        "What is the same in every scheme, and nothing else: URIs of databases, proofs, XML namespaces.",
	"rfc3986-scheme": "The same with what the schemes http, https, ws, wss, ftp and file add: servers and proxies that follow the RFC.",
	"whatwg":         "Exactly the href of the URL Standard: to compare with browsers and with libraries that follow it.",
}

// writeRuleTable writes a row about each rule.
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
	b.WriteString("# Profiles\n\n" + generated + `A profile says by which standard URLs are read, what is changed in their normal form, and of which level their keys are.
` + "`urlfold profiles`" + ` lists the built-in ones, ` + "`-p NAME`" + ` chooses one, and ` + "`-p FILE.yaml`" + ` one of your own;
` + "`--rule +rfc-clean,-frag-drop`" + ` adds rules to it and takes rules away.

## Built in

| profile | standard | key | malformed % | what it is for |
|---|---|---|---|---|
`)
	for _, p := range codec.Profiles() {
		if uses[p.Name] == "" {
			t.Errorf("profile %s is for nothing", p.Name)
		}
		name := mdCode(p.Name)
		if p.Name == defaultProfile {
			name += " (default)"
		}
		fmt.Fprintf(&b, "| %s | %v | %s | %s | %s |\n", name, p.Standard, mdCode(codec.KeyFunction(p.Standard, p.Key)), malformedText(p.Malformed), uses[p.Name])
	}
	b.WriteString("\nTheir rules, in the order in which they are applied, behind those of the reading:\n\n| profile | rules |\n|---|---|\n")
	for _, p := range codec.Profiles() {
		rules := "none but those of the reading"
		if p.Rules != 0 {
			rules = mdCode(strings.Join(p.Rules.Names(), ", "))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", mdCode(p.Name), rules)
	}
	writeRules(&b)
	writeLevels(&b)
	writeOwn(t, &b)
	return b.Bytes()
}

func writeRules(b *bytes.Buffer) {
	b.WriteString("\n## Rules of a normal form\n\nThe parser of the WHATWG standard applies these, whatever the profile.\n\n")
	writeRuleTable(b, codec.ParserRules(codec.WHATWG))
	b.WriteString("\nRFC 3986 adds these: `resolve` where there is a base, `malformed-encode` in the profiles that encode a malformed %.\n\n")
	writeRuleTable(b, codec.ParserRules(codec.RFC))
	b.WriteString("\nA profile chooses among these; one of the WHATWG standard, among those that its parser does not apply anyway.\n\n")
	writeRuleTable(b, codec.ProfileRules())
}

// levelTexts says what each level merges.
var levelTexts = [...]string{
	"what RFC 3986 §6.2.2 calls equivalent: case, unreserved escapes, dot segments",
	"and by §6.2.3: default port, empty path, spelling of IP addresses",
	"and for a crawler: no fragment, userinfo, session ids, click ids; parameters in any order; http = https",
	"and for analytics: one `www.`, double slashes, index files, trailing slash, parameters of the site",
}

func writeLevels(b *bytes.Buffer) {
	b.WriteString("\n## Keys\n\nKeys nest: URLs that share the key of one level share those of all higher ones.\n\n| level | key functions | merges |\n|---|---|---|\n")
	for lv := range codec.K3 + 1 {
		fmt.Fprintf(b, "| %v | %s, %s | %s |\n", lv, mdCode(codec.KeyFunction(codec.WHATWG, lv)), mdCode(codec.KeyFunction(codec.RFC, lv)), levelTexts[lv])
	}
	for _, lv := range []codec.Level{codec.K2, codec.K3} {
		fmt.Fprintf(b, "\nFrom %v to %v. A signed URL keeps its query as it is.", lv-1, lv)
		rules := codec.KeyRules(lv)
		if lv == codec.K3 {
			rules &^= codec.KeyRules(codec.K2)
			b.WriteString(" Parameters of the site, the scheme http and its slashes are left out too.")
		}
		b.WriteString("\n\n")
		writeRuleTable(b, rules)
	}
}

// writeOwn writes how a user's profile looks.
func writeOwn(t *testing.T, b *bytes.Buffer) {
	path := filepath.Join("..", "..", "testdata", "profiles", "shop.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := config.LoadProfile(path); err != nil {
		t.Error(err)
	}
	fmt.Fprintf(b, `
## Your own

A profile in a YAML file is a built-in one, rules added or removed, and a policy for the keys of K2 and K3. Only `+"`name` and `base`"+`
are required. Files are looked for beside the profile; nothing is fetched. All mistakes are reported at once, with line and column.

`+"```yaml\n%s```"+`

%s
Parameters are those of `+"`codec.params`"+` in a configuration; see *Parameters* in [formats.md](formats.md).

Keys of K2 and K3 mean something only beside the lists that they were made with. `+"`urlfold explain`"+` names them with their versions, which
change with every rule; `+"`urlfold diff`"+` shows what a change would do to your own URLs before it is rolled out.
`, text, config.ProfileReference())
}

// TestDependencies checks that docs/dependencies.md names every module that is
// linked into the binary, on each system that is released for, and none besides.
func TestDependencies(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "dependencies.md"))
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
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "../../cmd/urlfold")
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

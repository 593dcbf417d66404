package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/daemon"
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
			t.Errorf("%s is out of date (%v): go generate ./cmd/urlfold", path, err)
		}
	}
	f("flags.md", flagsPage(t))
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

const generated = "<!-- Made from the code by go generate ./cmd/urlfold: do not edit. -->\n\n"

// mdCell is text for a cell of a table.
func mdCell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

// mdCode is text as code in a cell.
func mdCode(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }

func flagsPage(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("# Flags\n\n" + generated + `A flag says that something was noticed about a URL as it came in. It never fails a run, unless ` + "`--fail-on flags`" + `
asks for it. Where it was noticed is told by the marks. Those with an X stand for something that the grammar of RFC 3986 does
not allow. ` + "`urlfold flags`" + ` lists the same.

| flag | invalid | meaning | clause |
|---|---|---|---|
`)
	for f := range codec.Flag(codec.NumFlags) {
		info, mark := flagInfos[f], ""
		if info.meaning == "" {
			t.Errorf("flag %v has no meaning", f)
		}
		if codec.Violations.Has(f) {
			mark = "X"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", mdCode(f.String()), mark, mdCell(capital(info.meaning)), mdCell(info.clause))
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

// samples has for each rule of a profile a URL that shows it.
var samples = map[string]string{
	"add": "http://h/a b", "esc-upper": "http://h/%2f", "esc-unres": "http://h/%7Ea", "scheme-lower": "HTTP://h/", "host-lower": "http://H.example/",
	"dots-rfc": "http://h/a/../b", "no-auth-guard": "a:/..//b", "port-def": "http://h:80/", "path-empty": "http://h", "file-localhost": "file://localhost/x",
	"ui-empty": "http://@h/", "host-ip6": "http://[0::1]/", "host-uts46": "http://bücher.example/", "rfc-clean": "http://h/?a|b",
	"ui-drop": "http://u:p@h/", "frag-drop": "http://h/a#b",
	"trim-c0sp": " http://h/", "del-tabnl": "http://h/a\tb", "split-whatwg": `HTTP:\\h\a`,
}

// keySamples has for each rule of a lossy level a URL that shows it.
var keySamples = [codec.NumLevels][][2]string{
	codec.K2: {
		{"ui-drop", "http://u:p@h/"}, {"frag-drop", "http://h/a#b"}, {"host-rootdot", "http://h.example./"}, {"host-ip4", "http://0x7f.1/"},
		{"psid", "http://h/a;jsessionid=1"}, {"qsid", "http://h/?PHPSESSID=1"}, {"q-drop", "http://h/?utm_source=x&a=1"}, {"q-eq", "http://h/?a="},
		{"q-noempty", "http://h/?"}, {"q-form", "http://h/?a=%20b"}, {"q-sort-name", "http://h/?b=1&a=2"}, {"https-http", "https://h/"},
	},
	codec.K3: {
		{"www-one", "http://www.h.example/"}, {"slash-one", "http://h/a//b"}, {"dirindex", "http://h/a/index.html"}, {"slash-trail", "http://h/a/"},
		{"https-http", "http://h/"},
	},
}

// showing returns the step of a rule on its way to a normal form.
func showing(t *testing.T, rule string) (st codec.Step, ok bool) {
	for _, base := range []string{"rfc3986-scheme", "crawler"} {
		p, _ := codec.Lookup(base)
		if base == "crawler" {
			p.Name, p.Rules = "sample", p.Rules|codec.RFCClean
		}
		n, err := codec.New(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range n.Trace(nil, []byte(samples[rule])) {
			if st.Rule == rule {
				return st, true
			}
		}
	}
	return st, false
}

// writeStep writes a row about a rule.
func writeStep(b *bytes.Buffer, rule string, st codec.Step) {
	clause := st.Clause
	if strings.HasPrefix(clause, "default:") {
		clause = "policy"
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s |\n", mdCode(rule), mdCode(strings.ReplaceAll(st.Before, "\t", `\t`)), mdCode(strings.ReplaceAll(st.After, "\t", `\t`)), mdCell(clause))
}

const stepHead = "| rule | before | after | clause |\n|---|---|---|---|\n"

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
			rules = mdCode(strings.ReplaceAll(p.Rules.String(), ",", ", "))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", mdCode(p.Name), rules)
	}
	writeRules(t, &b)
	writeLevels(t, &b)
	writeOwn(t, &b)
	return b.Bytes()
}

func writeRules(t *testing.T, b *bytes.Buffer) {
	b.WriteString("\n## Rules of a normal form\n\nIn their order. The first three are the whatwg reading, and no profile can choose them.\n\n" + stepHead)
	for _, rule := range []string{"trim-c0sp", "del-tabnl", "split-whatwg"} {
		st, ok := showing(t, rule)
		if !ok {
			t.Errorf("no sample shows %s", rule)
		}
		writeStep(b, rule, st)
	}
	for rule, clause := range (^codec.Rules(0)).All() {
		if rule == codec.FallbackRFC.String() {
			fmt.Fprintf(b, "| %s | what browsers have no reading of | read by RFC 3986, unless its authority holds a backslash | %s |\n", mdCode(rule), clause)
			continue
		}
		st, ok := showing(t, rule)
		if !ok || st.Clause != clause {
			t.Errorf("no sample shows %s", rule)
		}
		writeStep(b, rule, st)
	}
}

// showingKey returns the step of a rule on the way to a key of a level, on the
// whatwg reading or, where that leaves nothing to do, on the rfc reading.
func showingKey(t *testing.T, lv codec.Level, rule, url string) (codec.Step, bool) {
	for _, name := range []string{"whatwg", "rfc3986-scheme"} {
		p, _ := codec.Lookup(name)
		n, err := codec.New(p)
		if err != nil {
			t.Fatal(err)
		}
		var r codec.Result
		src := []byte(url)
		norm, err := n.Append(nil, src, &r)
		if err != nil {
			t.Fatal(err)
		}
		steps := n.TraceKey(lv, src, norm, &r)
		if i := slices.IndexFunc(steps, func(s codec.KeyStep) bool { return s.Rule == rule }); i >= 0 {
			return steps[i].Step, true
		}
	}
	return codec.Step{}, false
}

// levelTexts says what each level merges.
var levelTexts = [codec.NumLevels]string{
	"what RFC 3986 §6.2.2 calls equivalent: case, unreserved escapes, dot segments",
	"and by §6.2.3: default port, empty path, spelling of IP addresses",
	"and for a crawler: no fragment, userinfo, session ids, click ids; parameters in any order; http = https",
	"and for analytics: one `www.`, double slashes, index files, trailing slash, parameters of the site",
}

func writeLevels(t *testing.T, b *bytes.Buffer) {
	b.WriteString("\n## Keys\n\nKeys nest: URLs that share the key of one level share those of all higher ones.\n\n| level | key functions | merges |\n|---|---|---|\n")
	for lv := range codec.Level(codec.NumLevels) {
		fmt.Fprintf(b, "| %v | %s, %s | %s |\n", lv, mdCode(codec.KeyFunction(codec.WHATWG, lv)), mdCode(codec.KeyFunction(codec.RFC, lv)), levelTexts[lv])
	}
	for _, lv := range []codec.Level{codec.K2, codec.K3} {
		fmt.Fprintf(b, "\nFrom %v to %v, in this order, with the built-in policy. A signed URL keeps its query as it is.\n\n%s", lv-1, lv, stepHead)
		for _, sample := range keySamples[lv] {
			st, ok := showingKey(t, lv, sample[0], sample[1])
			if !ok {
				t.Errorf("%v: no sample shows %s", lv, sample[0])
			}
			writeStep(b, sample[0], st)
		}
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
are required. Files are looked for beside the profile; nothing is fetched. All mistakes are told at once, with line and column.

`+"```yaml\n%s```"+`

| key | what it means |
|---|---|
| `+"`name`"+` | as it appears in output; not that of a built-in profile |
| `+"`base`"+` | the built-in profile that it begins with |
| `+"`rules`"+` | `+"`add` and `remove`"+`: names from above. What contradicts the reading is refused |
| `+"`key`"+` | the level of its keys |
| `+"`max_url`"+` | a longer URL is a reject |
| `+"`policy.lists`"+` | lists of parameters that K2 leaves out, `+"`[default]`"+` if it is not there: `+"`default`, `{clearurls: FILE}`, `{plain: FILE}`, with `name` and `version`"+` |
| `+"`policy.drop_params`"+` | more of them, each written as on a line of a plain list: `+"`gclid`, `utm_*`, `/ga_[a-z]+/`, `sid ~alnum16`, `example.com/path/**: ref`, `!keep`"+` |
| `+"`policy.site_params`"+` | parameters that K3 leaves out too, written in the same way |
| `+"`policy.keep_params`"+` | for a host, host/path or /path: the only parameters that K3 keeps there. K3 is made of K2: what that has left out is gone |
| `+"`policy.path_templates`"+` | templates of paths, before those that are found: `+"`{int}`, `{uuid}`, `{hex}`, `{date}`, `{token}`"+`, any other name for any segment |
| `+"`policy.spa`"+` | hosts, with those below them, whose fragments `+"`#/...` and `#!...`"+` are pages; "*" is every host |
| `+"`policy.keep_https`"+` | K2: http and https are not the same |
| `+"`policy.lower_path`, `policy.lower_query`"+` | K3: without regard to case |
| `+"`params`"+` | how parameters are written, for the output field `+"`params`"+`: a list of `+"`name`, `in`, `style`, `explode`, `type`, `properties`, `path`"+`, as `+"`codec.params`"+` in a configuration; see *Parameters* in [formats.md](formats.md). No key depends on it |

Keys of K2 and K3 mean something only beside the lists that they were made with. `+"`urlfold explain`"+` names them with their versions, which
change with every rule; `+"`urlfold diff`"+` shows what a change would do to your own URLs before it is rolled out.
`, text)
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
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".")
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

package params

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// publicFile has the names of the global rules of public lists that the default list
// lacked when it was compared with them, and what was decided about each.
const publicFile = "testdata/public.tsv"

// leftOut are the reasons for names that are not in the default list.
var leftOut = map[string]string{
	"word":   "a word, an abbreviation or a prefix that sites also use for content; needs a host",
	"owner":  "no documentation of its vendor was found",
	"site":   "used by a single site or shop; needs its host",
	"opens":  "decides what the link opens in an app, or who is paid for it",
	"client": "the advertising id of a device, of which a log should not have any",
}

// publicPage is the page with the decisions.
const publicPage = "../../docs/reference/tracking-parameters.md"

// A publicRow is a line of publicFile: a name or a pattern, the lists that have it, and
// the decision: "yes", or a key of leftOut.
type publicRow struct{ name, lists, decision string }

func readPublic(t *testing.T) (rows []publicRow) {
	t.Helper()
	data, err := os.ReadFile(publicFile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			t.Fatalf("%s: %q", publicFile, line)
		}
		rows = append(rows, publicRow{f[0], f[1], f[2]})
	}
	return rows
}

// TestPublicDecisions compares the default list with the decisions.
func TestPublicDecisions(t *testing.T) {
	l := Default()
	last := ""
	for _, row := range readPublic(t) {
		has := hasRule(l, row.name)
		if why := leftOut[row.decision]; has == (why != "") || !has && row.decision == "yes" {
			t.Errorf("%s: decision %q, in the list: %v", row.name, row.decision, has)
		}
		if row.name <= last {
			t.Errorf("%s is not sorted, or twice", row.name)
		}
		last = row.name
	}
}

// TestPublicPage compares the tables of publicPage with the decisions. With
// -update it writes them.
func TestPublicPage(t *testing.T) {
	const start, end = "<!-- decisions: made from the code -->\n", "<!-- end of decisions -->\n"
	page, err := os.ReadFile(publicPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(page), start)
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no section of decisions", publicPage)
	}
	want := before + start + decisionTables(t) + end + after
	if *update {
		if err := os.WriteFile(publicPage, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s is out of date: go generate ./codec/params", publicPage)
	}
}

func decisionTables(t *testing.T) string {
	meanings := map[string]string{}
	for _, r := range Default().Rules {
		name := r.Name
		if r.match == matchPrefix {
			name += "*"
		}
		meaning := r.Reason
		if r.value != shapeAny {
			meaning += "; only with a value of the shape `" + r.value.String() + "`"
		}
		if r.action == actionKeep {
			meaning += "; not on pages to unsubscribe, and not on a mailing as a web page"
		}
		meanings[name] = meaning
	}
	in, out := "\n| name | also in | meaning |\n|---|---|---|\n", "\n| name | in | reason |\n|---|---|---|\n"
	for _, row := range readPublic(t) {
		name := "`" + strings.ReplaceAll(row.name, "|", "\\|") + "`"
		if row.decision == "yes" {
			meaning := meanings[row.name]
			for prefix, m := range meanings {
				if p, ok := strings.CutSuffix(prefix, "*"); ok && meaning == "" && strings.HasPrefix(row.name, p) {
					meaning = m + ": `" + prefix + "`"
				}
			}
			in += fmt.Sprintf("| %s | %s | %s |\n", name, row.lists, meaning)
		} else {
			out += fmt.Sprintf("| %s | %s | %s |\n", name, row.lists, leftOut[row.decision])
		}
	}
	return "\n### In the list\n" + in + "\n### Not in the list\n" + out + "\n"
}

// hasRule reports whether the list has a rule for a name or pattern of another list, for
// some values or pages.
func hasRule(l *List, name string) bool {
	return slices.ContainsFunc(l.Rules, func(r ListRule) bool {
		prefix := strings.TrimSuffix(name, "*")
		switch {
		case r.match == matchPrefix:
			return hasPrefixFold([]byte(prefix), r.Name)
		case prefix == name:
			return strings.EqualFold(name, r.Name)
		}
		return false
	})
}

// TestPublicLists compares the default list with the global rules of public lists, which
// are not part of this repository: those of URLFOLD_CORPORA, or of the folder
// URLFOLD_PUBLIC_LISTS, where clearurls*.json, adguard*.txt, brave*.json and
// firefox*.json are read. A name that is neither in the default list nor in publicFile
// fails the test. With -update it is written there, without a decision.
func TestPublicLists(t *testing.T) {
	dir := os.Getenv("URLFOLD_PUBLIC_LISTS")
	found := map[string][]string{}
	read := func(kind, path string) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range globalNames(t, kind, data) {
			if !slices.Contains(found[name], kind) {
				found[name] = append(found[name], kind)
			}
		}
	}
	if dir == "" {
		if os.Getenv("URLFOLD_CORPORA") == "" {
			t.Skip("skipped: the public lists; set URLFOLD_CORPORA to the folder of the corpora, or URLFOLD_PUBLIC_LISTS to a folder of the four lists")
		}
		read("clearurls", filepath.Join(os.Getenv("URLFOLD_CORPORA"), "tracking/clearurls_data.min.json"))
	} else {
		for _, kind := range []string{"adguard", "brave", "clearurls", "firefox"} {
			files, err := filepath.Glob(filepath.Join(dir, kind+"*.*"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no %s list in %s (%v)", kind, dir, err)
			}
			for _, file := range files {
				read(kind, file)
			}
		}
	}
	rows := map[string]publicRow{}
	for _, row := range readPublic(t) {
		rows[row.name] = row
	}
	before := len(rows)
	for name, lists := range found {
		row, ok := rows[name]
		switch {
		case ok && dir != "" && row.lists != strings.Join(lists, " "):
			t.Errorf("%s is in the lists %v, but %s says %s", name, lists, publicFile, row.lists)
		case !ok && !hasRule(Default(), name):
			rows[name] = publicRow{name, strings.Join(lists, " "), "?"}
			t.Errorf("%s of %v has no decision", name, lists)
		}
	}
	if *update && len(rows) > before {
		writePublic(t, rows)
	}
	t.Logf("%d names of global rules, %d of them with a decision", len(found), len(rows))
}

// globalNames returns the names and patterns of the rules of a public list that are for
// all sites and values, in lower case.
func globalNames(t *testing.T, kind string, data []byte) (names []string) {
	t.Helper()
	var l *List
	var err error
	switch kind {
	case "adguard":
		l = ParseAdGuard(data)
	case "brave":
		l, err = ParseBrave(data)
	case "clearurls":
		l, err = ParseClearURLs(data)
	case "firefox":
		l, err = ParseFirefox(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range l.Rules {
		if r.action != actionDrop || r.Host+r.Path != "" {
			continue
		}
		name := strings.ToLower(r.Name)
		if r.match == matchRegexp {
			tree, _, err := parsePattern(r.Name)
			if err != nil {
				t.Fatal(err)
			}
			if all := spellings(tree); all != nil && len(all) < 20 {
				for _, s := range all {
					names = append(names, strings.ToLower(slowBare(s)))
				}
				continue
			}
			if prefix, ok := strings.CutSuffix(name, ").*"); ok {
				name = strings.TrimPrefix(prefix, "(?:") + "*"
			} else {
				name = "/" + name + "/"
			}
		}
		names = append(names, name)
	}
	return names
}

func writePublic(t *testing.T, rows map[string]publicRow) {
	t.Helper()
	old, err := os.ReadFile(publicFile)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for line := range strings.Lines(string(old)) {
		if strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		fmt.Fprintf(&b, "%s\t%s\t%s\n", r.name, r.lists, r.decision)
	}
	if err := os.WriteFile(publicFile, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

const example = "../testdata/profiles/shop.yaml"

// key returns the canonical string of a URL at the level of the profile.
func key(t *testing.T, n *codec.Normalizer, url string) string {
	t.Helper()
	var r codec.Result
	_, err := n.Append(nil, []byte(url), &r)
	if err != nil {
		t.Fatal(err)
	}
	return string(r.AppendKey(nil, n.Profile().Key))
}

func TestLoadProfile(t *testing.T) {
	p, policy, err := LoadProfile(example)
	if err != nil {
		t.Fatal(err)
	}
	crawler, _ := codec.Lookup("crawler")
	want := crawler
	want.Name, want.Key, want.MaxLen = "shop", codec.LevelPage, 16<<10
	want.Rules = crawler.Rules.Minus(codec.RulesOf(codec.RuleDropUserinfo)).With(codec.RuleRFCClean)
	if p != want {
		t.Errorf("profile %+v, want %+v", p, want)
	}
	n, err := codec.New(p, codec.WithPolicy(policy))
	if err != nil {
		t.Fatal(err)
	}
	f := func(url, want string) {
		t.Helper()
		if got := key(t, n, url); got != want {
			t.Errorf("%s: key %s, want %s", url, got, want)
		}
	}
	f("https://www.shop.example.com/A?page=2&x=1&sku=7&gclid=1", "shop.example.com/a?page=2&sku=7")
	f("http://other.example.com/?Partner_ID=1&click_z=2&x=1&utm_q=3", "other.example.com/?x=1")
	f("http://news.example.com/?ref=1&x=1", "news.example.com/?x=1")
	f("http://other.example.com/?ref=1", "other.example.com/?ref=1")
	f("http://app.example.com/#/a", "app.example.com/#/a")
	f("http://other.example.com/#/a", "other.example.com/")
	if got := string(policy.Templates.Append(nil, []byte("/product/blue-hat/reviews"))); got != "/product/{slug}/reviews" {
		t.Errorf("template %s", got)
	}
	v := policy.Versions()
	for _, want := range []string{"profile@", ",default@", ",partners@3;site:profile@"} {
		if !strings.Contains(v, want) {
			t.Errorf("versions %s lack %s", v, want)
		}
	}
}

// TestVersion checks that every change of a rule is another version, and that the
// layout is none.
func TestVersion(t *testing.T) {
	version := func(text string) string {
		t.Helper()
		_, policy, err := ParseProfile("p", []byte("name: x\nbase: crawler\npolicy: "+text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return policy.Versions()
	}
	a := version("{drop_params: [a, b]}")
	if b := version("\n  drop_params:\n    - a\n    - b # why\n"); a != b {
		t.Errorf("%s and %s", a, b)
	}
	for _, text := range []string{"{drop_params: [a]}", "{drop_params: [a, 'b*']}", "{drop_params: [a, '!b']}", "{drop_params: [a, 'h: b']}",
		"{drop_params: [a, 'b ~alnum16']}", "{site_params: [a, b]}", "{lists: [], drop_params: [a, b]}"} {
		if b := version(text); a == b {
			t.Errorf("%s has the version of another policy", text)
		}
	}
	if got, want := version("{lists: [default]}"), codec.DefaultPolicy().Versions(); got != want {
		t.Errorf("version %s, want %s", got, want)
	}
}

// TestPolicyDefault checks that a profile without a policy has the built-in one.
func TestPolicyDefault(t *testing.T) {
	p, policy, err := ParseProfile("p", []byte("{name: x, base: analytics}"), nil)
	if err != nil || p.Key != codec.LevelPage || policy.Versions() != codec.DefaultPolicy().Versions() {
		t.Errorf("%+v, %v", p, err)
	}
}

func files(m map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := m[name]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: "/secret/" + name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
}

func TestMistakes(t *testing.T) {
	open := files(map[string]string{"bad.txt": "ok\na b\nx*y", "bad.json": `{"providers":`, "wide.txt": "*", "ok.txt": "a", "a b.txt": "a"})
	f := func(text string, want ...string) {
		t.Helper()
		_, policy, err := ParseProfile("p", []byte(text), open)
		if err == nil {
			t.Errorf("%q: no error, policy %v", text, policy)
			return
		}
		if got := strings.Split(err.Error(), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q:\n got %s\nwant %s", text, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	const ok = "name: x\nbase: crawler\n"
	f("", "p: file is empty")
	f("# only a comment", "p: file is empty")
	f("- a", "p:1:1: must be a mapping (key: value)")
	f("x", "p:1:1: must be a mapping (key: value)")
	f("{}", "p:1:1: missing required key \"name\"", "p:1:1: missing required key \"base\"")
	f("a: [", `p:1:4: invalid YAML: sequence end token ']' not found`)
	f(ok+"---\n"+ok, "p:3:1: second document: a file must contain only one")
	f(ok+"rulse: {}\nhttp://u:hunter2@h/: 1", "p:3:1: unknown key \"rulse\" (did you mean \"rules\"?)",
		"p:4:1: unknown key (must be one of: name, base, rules, key, max_url, policy, params)")
	f(ok+"name: y", `p:3:1: duplicate key "name"`)
	f("name: crawler\nbase: crawlr\nkey: k7\nmax_url: 1q\nrules:\n  add: [frag-drp, frag-drop]\n  remove: [ui-drop, frag-drop]",
		"p:1:7: name: name of a built-in profile: choose a different one", "p:2:7: base: unknown profile \"crawlr\" (did you mean \"crawler\"?)",
		"p:3:6: key: invalid value (must be one of: syntax, equivalent, fetch, page, match, shape)",
		"p:4:10: max_url: must be a size: a number and a unit, such as 64KiB, 1.5Mi or 10GB",
		"p:6:9: add[0]: unknown rule \"frag-drp\" (did you mean \"frag-drop\"?)",
		"p:7:21: remove[1]: rule is both added and removed")
	f("name: a b\nbase: crawler\nmax_url: 2GiB", "p:1:7: name: "+nameRule, "p:3:10: max_url: must be between 1 and 1GiB")
	f("name: x\nbase: crawler\nrules: {add: ['add,dots']}", "p:3:15: add[0]: unknown rule (must be one of: "+strings.Join(codec.ProfileRules().Names(), ", ")+")")
	f("name: x\nbase: crawler\nrules: {add: [dots]}", "p:3:8: invalid profile: contains a rule that the standard whatwg implies or contradicts",
		"p:3:8: invalid profile: dots requires no-auth-guard: without it a path could become an authority")
	f("name: x\nbase: *a\nkey: !!str fetch\nrules:", "p:2:7: no earlier anchor has the name of this alias", "p:2:7: base: must be a single-line string", "p:3:6: key: must be a single-line string (tags are not supported)",
		"p:4:8: rules: must be a mapping (key: value), not empty")
	f(ok+"<<: {a: b}", "p:3:6: unknown key \"a\" (must be one of: name, base, rules, key, max_url, policy, params)")
	f(ok+"policy:\n  keep_https: yes\n  spa: [Ex.com, 'http://u:hunter2@h/', '*', 'a..b']\n  path_templates: [x, '/ok', '/{}']",
		"p:4:15: keep_https: must be true or false",
		`p:5:9: spa[0]: must be "*", or a host in its normal form: lower case, ASCII, without scheme, port and path`,
		`p:5:17: spa[1]: must be "*", or a host in its normal form: lower case, ASCII, without scheme, port and path`,
		`p:5:45: spa[3]: must be "*", or a host in its normal form: lower case, ASCII, without scheme, port and path`,
		"p:6:20: path_templates[0]: byte 0 of the template: must begin with '/'", "p:6:30: path_templates[2]: byte 2 of the template: missing placeholder name: write {name}")
	f(ok+"policy:\n  drop_params: [a, '*', 'b c', 'Ex.com: a', '!a']\n  keep_params:\n    Shop.example: ['a*b', a]\n    '': [a]\n    ok.example: a",
		"p:4:20: invalid rule: drops every parameter everywhere", "p:4:25: white space in a name: write it as '+' or %20, or add ':' after the host (at byte 1)",
		"p:4:32: invalid host: must be in lower case", "p:4:45: contradicts another rule of the list for the same fields",
		"p:6:5: invalid host: must be in lower case", "p:6:5: invalid host: must be in lower case",
		"p:6:20: '*' not at the end of a name: write a literal one as %2A", "p:7:5: must be HOST, HOST/PATH or /PATH", "p:8:17: ok.example: must be a list")
	f(ok+"policy:\n  lists:\n    - other\n    - {plain: none.txt}\n    - plain: bad.txt\n    - {clearurls: bad.json}\n    - {plain: wide.txt, version: 'a,b', name: 3}\n    - {}\n"+
		"    - {plain: ok.txt, clearurls: ok.txt}\n    - {plain: 'https://u:hunter2@h/l'}\n    - {plain: 'a b.txt'}\n    - {plain: ok.txt, name: ours}\n    - {plain: ok.txt, name: ours}\n    - {plain: wide.txt}\n    - {plain: ''}\n"+
		"    - {robots: ok.txt}\n    - {plain: ok.txt, host: h}\n    - {robots: ok.txt, host: 'Http://h'}\n    - {brave: bad.json}\n    - {firefox: bad.json}",
		"p:5:7: lists[0]: unknown list (must be default, or {KIND: FILE} with the kind adguard, brave, clearurls, firefox, plain or robots)",
		"p:6:15: plain: cannot read file: file does not exist",
		"p:7:14: plain: invalid list: bad:2:2: white space in a name: write it as '+' or %20, or add ':' after the host",
		"p:7:14: plain: invalid list: bad:3:2: '*' not at the end of a name: write a literal one as %2A",
		"p:8:19: clearurls: invalid list: clearurls:1:13: unexpected end of JSON input",
		"p:9:34: version: "+nameRule,
		"p:10:7: must be default, or a mapping with the file of one of adguard, brave, clearurls, firefox, plain or robots", "p:11:7: must be default, or a mapping with the file of one of adguard, brave, clearurls, firefox, plain or robots",
		"p:12:15: plain: must be a file, not a URL: urlfold does not download lists", "p:13:15: plain: cannot derive the list name from the file name: set name ("+nameRule+")",
		"p:15:7: duplicate list name: set name to give the list a different one",
		"p:16:7: invalid list: wide:1: invalid rule: drops every parameter everywhere",
		"p:17:15: plain: must have at least 1 byte",
		"p:18:7: host: must be set with the kind robots, and only with it", "p:19:29: host: must be set with the kind robots, and only with it",
		"p:20:30: host: must be a host in its normal form: lower case, ASCII, without scheme, port and path",
		"p:21:15: brave: invalid list: brave:1:13: unexpected end of JSON input", "p:22:17: firefox: invalid list: firefox:1:13: unexpected end of JSON input")
	f(strings.Repeat("[", 100), "p:1:17: nested more than 16 levels deep")
	f(strings.Repeat("- ", 100), "p:1:33: nested more than 16 levels deep")
	f(strings.Repeat("\n", maxFile+1), "p: file is larger than 64 KiB: move long lists into separate files")
	f("rules:\n\t- dots", "p:2:1: invalid YAML: found character '\t' that cannot start any token (indent with spaces, not tabs)")
	f("name: \"a\\q\"", "p:1:10: invalid YAML: found unknown escape character 'q'")
}

// TestLoadProfileFiles checks what LoadProfile adds: files beside the profile,
// and errors without the names that hold secrets.
func TestLoadProfileFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "p.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := LoadProfile(path)
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), path+": cannot read file: ") {
		t.Errorf("error %v", err)
	}
	write("name: x\nbase: crawler\npolicy: {lists: [{plain: hunter2.txt}]}")
	_, _, err = LoadProfile(path)
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), path+":3:26: plain: cannot read file: ") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "l.txt"), []byte("a"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"l.txt", filepath.Join(dir, "l.txt")} {
		write("name: x\nbase: crawler\npolicy: {lists: [{plain: '" + name + "'}]}")
		if _, policy, err := LoadProfile(path); err != nil || !strings.HasPrefix(policy.Versions(), "l@") {
			t.Errorf("%v", err)
		}
	}
	if _, _, err := ParseProfile("p", []byte("name: x\nbase: crawler\npolicy: {lists: [{plain: l.txt}]}"), nil); err == nil {
		t.Error("a file was read without a way to")
	}
}

// FuzzParseProfile checks that nothing panics, that an error has a place and no
// URL, and that what is accepted is a profile.
func FuzzParseProfile(f *testing.F) {
	text, err := os.ReadFile(example)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(text), "", "a", "- a", "a: *b", "a: &a {<<: *a}", "? a\n: b", "a: |\n x", "%YAML 1.1\n---\n", "a: !!x", "a:\r\n  b: c\r\n",
		"name: x\nbase: crawler\npolicy: {lists: [{plain: 'http://u:p@h'}]}", "{name: x, base: rfc3986, rules: {}}", "name: \"http://u:p@h\"\nhttp://u:p@h: 1"} {
		f.Add([]byte(seed))
	}
	open := files(map[string]string{"partners.txt": "a"})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, policy, err := ParseProfile("p", data, open)
		if err == nil {
			if _, err := codec.New(p, codec.WithPolicy(policy)); err != nil {
				t.Errorf("accepted, and refused by the codec: %v", err)
			}
			return
		}
		if strings.Contains(err.Error(), "://") {
			t.Errorf("an error with a URL: %v", err)
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !strings.HasPrefix(line, "p:") {
				t.Errorf("an error without a place: %s", line)
			}
		}
	})
}

package config

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/config/field"
)

// TestAllMistakes parses a file with many errors. All are reported, in order.
func TestAllMistakes(t *testing.T) {
	data, err := os.ReadFile("testdata/mistakes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Parse("m.yaml", data, doubles(), testEnv())
	want, readErr := os.ReadFile("testdata/mistakes.txt")
	if readErr != nil {
		t.Fatal(readErr)
	}
	if got := err.Error() + "\n"; got != string(want) {
		t.Errorf("got\n%swant, in testdata/mistakes.txt,\n%s", got, want)
	}
}

// minimal is a configuration to which mistakes are added.
const minimal = "sources: [file: {from: lines, include: [a]}]\ncodec: {profile: equiv}\nsinks: [file: {path: b}]\n"

// mistakes parses a configuration, and compares its mistakes.
func mistakes(t *testing.T, text string, want ...string) {
	t.Helper()
	_, err := Parse("c", []byte(text), doubles(), testEnv())
	if err == nil {
		t.Errorf("%q: no error", text)
		return
	}
	if got := err.Error(); got != strings.Join(want, "\n") {
		t.Errorf("%q:\n got %s\nwant %s", text, got, strings.Join(want, "\n     "))
	}
}

// A byte order mark at the beginning is ignored (YAML 1.2.2 §5.2).
func TestByteOrderMark(t *testing.T) {
	if _, err := Parse("c", []byte("\ufeff"+minimal), doubles(), testEnv()); err != nil {
		t.Error(err)
	}
	mistakes(t, "\ufeffversion: 2\n"+minimal, "c:1:10: version: must be 1")
}

func TestFileMistakes(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		mistakes(t, text, want...)
	}
	f("", "c: file is empty")
	f("a", "c:1:1: must be a mapping (key: value)")
	f("version: 1", "c:1:1: missing required key \"sources\"", "c:1:1: missing required key \"sinks\"")
	for _, second := range []string{"---\na: b", "---", "---\n", "---\n# only a comment\n", "---\n...\n", "---\n---\n"} {
		f(minimal+second, "c:4:1: second document: a file must contain only one")
	}
	f("# a comment\n---\n"+minimal+"---\n", "c:6:1: second document: a file must contain only one")
	f("---\n---\n"+minimal, "c:2:1: second document: a file must contain only one")
	f(minimal+"...\na: b", "c:5:1: second document: a file must contain only one")
	f(minimal+"log: &a {}\nbatch: *a\non_error: !!map {}\nadmin:", "c:6:11: on_error: must be a mapping (key: value) (tags are not supported)",
		"c:7:8: admin: must be a mapping (key: value), not empty")
	f(minimal+"on_error: {oversize: dead-letter, rejected: dead-letter}", "c:4:22: oversize: dead_letter is not configured: add a dead_letter section or choose another value", "c:4:45: rejected: dead_letter is not configured: add a dead_letter section or choose another value")
	f(minimal+"on_error: {refused: dead-letter}", "c:4:21: refused: dead_letter is not configured: add a dead_letter section or choose another value")
	f("sources: [file: {from: lines, include: [a], base: ${URL:-x}}]\nsinks: [file: {path: b}]",
		"c:1:52: invalid YAML: ',' or '}' must be specified (inside braces and brackets, quote values that contain ${)")
	const address = `must be HOST:PORT, such as 127.0.0.1:8686 or "[::1]:8686", or unix:PATH`
	for _, bad := range []string{"localhost", ":x", "'127.0.0.1:65536'", "'[::1]:-1'", "'unix:'", "'host:'"} {
		f(minimal+"admin: {listen: "+bad+"}", "c:4:17: listen: "+address)
	}
	for _, bad := range []string{"':8686'", "0.0.0.0:8686", "'[::]:1'", "192.0.2.1:1", "example.com:1"} {
		f(minimal+"admin: {tap: true, listen: "+bad+"}", "c:4:14: tap: requires listen: unix:PATH or a loopback address such as 127.0.0.1:8686, because samples show records")
	}
	for _, good := range []string{"'unix:a'", "127.1.2.3:8686", "'[::1]:1'", "localhost:1", "'[::ffff:127.0.0.1]:1'"} {
		if _, err := Parse("c", []byte(minimal+"admin: {tap: true, listen: "+good+"}"), doubles(), testEnv()); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	const host = "must be a host name without a port, such as urlfold.example.com or *.example.com"
	for _, bad := range []string{"'urlfold:8686'", "http://urlfold/", "'*'", "a.*.b", "''", "a b", "'.a'"} {
		f(minimal+"admin: {allowed_hosts: [a.b, '*.c', "+bad+"]}", "c:4:37: allowed_hosts[2]: "+host)
	}
	f(minimal+"shadow: {profile: analitics, one_in: 63}", `c:4:19: profile: unknown profile "analitics" (did you mean "analytics"?)`, "c:4:38: one_in: must be a power of two, such as 1 or 64")
	f(minimal+"shadow: {key: fetch}", `c:4:1: missing required key "profile"`)
	f(minimal+"shadow: {profile: crawler, key: k5, one_in: 0, memory: 1KiB}", "c:4:33: key: invalid value (must be one of: syntax, equivalent, fetch, page, match, shape)", "c:4:45: one_in: must be between 1 and 65536", "c:4:56: memory: must be between 1MiB and 64GiB")
	const memory = "c:4:15: memory_limit: must be at least 32MiB, or 0 for no limit"
	f(minimal+"memory_limit: 1KiB", memory)
	f(minimal+"memory_limit: 32767KiB", memory)
	for _, good := range []string{"0", "32MiB"} {
		if _, err := Parse("c", []byte(minimal+"memory_limit: "+good+""), doubles(), testEnv()); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	const flags = "unknown flag \"zebra\" (see 'urlfold help flags' for a list)"
	f("sources: [file: {from: lines}]\nsinks: [file: {}]\ncodec: {reject: [zebra, credentals, scheme-not-htp]}\ntests: [{url: a, flags: [zebra]}]",
		"c:3:18: reject[0]: "+flags, "c:3:25: reject[1]: unknown flag \"credentals\" (did you mean \"credentials\"?)", "c:3:37: reject[2]: unknown flag \"scheme-not-htp\" (did you mean \"scheme-not-http\"?)", "c:4:26: flags[0]: "+flags)
	f(minimal+"dead_letter: {}", "c:4:14: dead_letter: missing type (must be one of: file, jetstream, kafka)")
	f("sources: [file: {from: lines, name: x}, file: {from: lines, name: x}]\nsinks: [file: {name: 'a b'}]",
		"c:1:67: name: duplicate component name", "c:2:22: name: "+nameRule)
	f(minimal+strings.Repeat("#", maxFile), "c: file is larger than 64 KiB: move long lists into separate files")
}

func TestProfileFiles(t *testing.T) {
	f := func(profile string, want ...string) {
		t.Helper()
		mistakes(t, "sources: [file: {from: lines}]\nsinks: [file: {}]\ncodec:\n  to: rewrite\n  profile: "+profile, want...)
	}
	f("none.yaml", "c:5:12: profile: cannot read file: file does not exist")
	f("https://u:hunter2@h/p.yaml", "c:5:12: profile: must be a file, not a URL: urlfold does not download profiles")
	f("bad.yaml", "bad.yaml:2:7: base: unknown profile \"crawlr\" (did you mean \"crawler\"?)", "bad.yaml:3:6: key: invalid value (must be one of: syntax, equivalent, fetch, page, match, shape)")
	f("good.yaml\n  rules: {add: [], spa: ['*']}", "c:6:10: cannot be combined with a profile file: move these rules into the profile")
	f("crawler\n  rules: {add: [dots]}", "c:6:10: invalid profile: contains a rule that the standard whatwg implies or contradicts",
		"c:6:10: invalid profile: dots requires no-auth-guard: without it a path could become an authority")
	c, err := Parse("c", []byte("sources: [file: {from: lines}]\nsinks: [file: {}]\ncodec: {profile: good.yaml, key: page, max_url: 1KiB, rules: {remove: [ui-drop]}}"), doubles(), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	p, policy := c.Codec.Resolve()
	if p.Name != "good-ui-drop" || c.Codec.Key != "page" || p.MaxLen != 1024 || policy == nil {
		t.Errorf("%+v", p)
	}
}

// A mistake in one key hides no mistake in another key of the same struct,
// and causes no error that may be only its consequence.
func TestMistakesInOneStruct(t *testing.T) {
	f := func(component string, want ...string) {
		t.Helper()
		mistakes(t, minimal+"dead_letter: "+component, want...)
	}
	f("{name: a, type: file, path: x}", "c:4:24: the key of a component is its type, with the settings below it: write {TYPE: {name: ...}} (TYPE must be one of: file, jetstream, kafka)")
	f("{file: {path: x}, name: a}", "c:4:32: a component has one type: indent its keys below the type")
	const duration = "must be a duration: a number and a unit, such as 50ms, 1m30s or 7d"
	f("{kafka: {brokers: [a], topic: b, share: x, session_timeout: 1m, drain_timeout: 2m}}", "c:4:54: share: must be a number", "c:4:93: drain_timeout: is above session_timeout")
	f("{kafka: {brokers: [a], topic: b, session_timeout: 9x, drain_timeout: 2m}}", "c:4:64: session_timeout: "+duration)
	f("{kafka: {brokers: [a], topic: b, session_timeot: 3m, drain_timeout: 2m}}", "c:4:47: unknown key \"session_timeot\" (did you mean \"session_timeout\"?)")
	f("{kafka: {brokers: [a], share: x}}", "c:4:44: share: must be a number")
	f("{kafka: {brokers: [a], topic: b, user: u, password: p}}", "c:4:47: unknown key \"user\" (did you mean \"sasl.username\"?)",
		"c:4:56: unknown key \"password\" (did you mean \"sasl.password\"?)")
	f("{kafka: {brokers: [a], topic: b, nothing: u}}", "c:4:47: unknown key \"nothing\"")
	f("{kafka: {brokers: [a], topic: b, tls: {key_fil: x}}}", "c:4:47: ca_file: is missing", "c:4:53: unknown key \"key_fil\" (did you mean \"key_file\"?)")
	f("{file: {}}\nbatch: {size: 9x}\nmax_in_flight: 64KiB", "c:5:15: size: must be a size: a number and a unit, such as 64KiB, 1.5Mi or 10GB")
}

// TestErrorAt attaches errors of a caller to places.
func TestErrorAt(t *testing.T) {
	c := load(t, "analytics.yaml")
	f := func(path, want string) {
		t.Helper()
		cause := errors.New("is wrong; see https://u:hunter2@h/")
		err := c.ErrorAt(path, &field.Error{Field: "x", Err: errors.New("is wrong")})
		if got := err.Error(); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
		if err := c.ErrorAt(path, cause); !errors.Is(err, cause) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", path, err)
		}
	}
	f("codec.profile", "analytics.yaml:16:12: profile: x: is wrong")
	f(c.Sources[0].Path()+".topics[0]", "analytics.yaml:8:16: topics[0]: x: is wrong")
	f(c.Sources[0].Path()+".tls.cert_file", "analytics.yaml:13:7: cert_file: x: is wrong")
	f(c.Sinks[0].Path(), "analytics.yaml:24:7: x: is wrong")
	f("tests[1].same_key[1]", "analytics.yaml:33:52: same_key[1]: x: is wrong")
	f("log.level", "analytics.yaml: log.level: x: is wrong")
	f("", "analytics.yaml: x: is wrong")
}

func TestExpansion(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		c, err := Parse("c", []byte(minimal+"where: "+text), doubles(), testEnv())
		if err != nil || c.Where != want {
			t.Errorf("%s: %q, %v; want %q", text, c.Where, err, want)
		}
	}
	f("${N}", "3")
	f("a${N}b${N}", "a3b3")
	f("'${NONE:-x}'", "x")
	f("${EMPTY:-x}", "x")
	f("${NONE:-}y", "y")
	f("'${EMPTY}z'", "z")
	f("'${file:/run/secrets/kafka}'", secret)
	f("'${file:two}'", "a\n")
	f("'${file:crlf}'", "a")
	f("$${N}", "${N}")
	f("$$${N}", "$${N}")
	f("$N-$-}", "$N-$-}")
	f("'${TWICE}'", "${SECRET}")
	f("'${STRUCTURE}'", "a: b\n- "+secret)
	f("'{host}'", "{host}")
	c, err := Parse("c", []byte(minimal+"workers: '${N}'\nbatch: {size: '${N}MiB', linger: '${N}ms'}\nadmin: {pprof: '${YES}'}"), doubles(), testEnv())
	if err != nil || c.Workers != 3 || c.Batch.Size != 3*field.MiB || !c.Admin.Pprof {
		t.Errorf("%v", err)
	}
}

// TestExpansionMistakes checks that an error repeats an expanded text only
// if that is no secret.
func TestExpansionMistakes(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		mistakes(t, minimal+text, want...)
	}
	f("data_dir: ${NONE}", "c:4:11: data_dir: environment variable NONE is not set (write ${NONE:-default} for a default)")
	f("data_dir: ${a b}", "c:4:11: data_dir: invalid reference: must be ${NAME}, ${NAME:-default}, ${NAME:?text} or ${file:PATH} (write $${ for a literal ${)")
	f("data_dir: ${NONE:?set it to a folder}", "c:4:11: data_dir: environment variable NONE: set it to a folder")
	f("data_dir: ${N", "c:4:11: data_dir: missing } after ${ (write $${ for a literal ${)")
	f("data_dir: ${file:none}", "c:4:11: data_dir: cannot read file: file does not exist")
	f("data_dir: ${file:}", "c:4:11: data_dir: missing file name after file:")
	f("${N}: 1", "c:4:1: unknown key")
	f("workers: '${SECRET}'\norder: '${SECRET}'\ncommit_interval: '${SECRET}'\nmax_in_flight: '${SECRET}'\nadmin: {pprof: '${SECRET}'}",
		"c:4:10: workers: must be an integer", "c:5:8: order: invalid value (must be one of: none, lane)",
		"c:6:18: commit_interval: must be a duration: a number and a unit, such as 50ms, 1m30s or 7d",
		"c:7:16: max_in_flight: must be a size: a number and a unit, such as 64KiB, 1.5Mi or 10GB", "c:8:16: pprof: must be true or false")
	f("on_error: '${STRUCTURE}'", "c:4:11: on_error: must be a mapping (key: value)")
	const start = "dead_letter: {kafka: {brokers: [a], topic: b, start: "
	f(start+"'timestamp:${N}x'}}", `c:4:54: start: parsing time "3x" as "2006-01-02T15:04:05Z07:00": cannot parse "3x" as "2006"`)
	f(start+"'timestamp:${SECRET}', sasl: {mechanism: PLAIN, username: u, password: '${SECRET}'}}}", `c:4:54: start: parsing time "${SECRET}" as "2006-01-02T15:04:05Z07:00": cannot parse "${SECRET}" as "2006"`)
	f(start+"'timestamp:${file:kafka}'}}", `c:4:54: start: parsing time "${file:kafka}" as "2006-01-02T15:04:05Z07:00": cannot parse "${file:kafka}" as "2006"`)
	f(start+"'timestamp:${HTTP}'}}", "c:4:54: start: invalid value (not shown: it may contain a secret)")
}

// FuzzParse checks that nothing panics, that errors have no secret and no URL,
// and that what is accepted is printed so that it reads back the same.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"defaults", "analytics", "frontier", "cleanup", "mistakes"} {
		data, err := os.ReadFile("testdata/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, seed := range []string{"", minimal, minimal + "data_dir: ${SECRET}", minimal + "log: {level: '${SECRET}${file:kafka}'}", minimal + "a: [k:9, \"b\":1]", "sources: {{}}", "codec: {to: a}\nsinks: [[]]"} {
		f.Add([]byte(seed))
	}
	types, env := doubles(), testEnv()
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("c", data, types, env)
		if err != nil {
			// A variable that no secret key uses may be shown; what looks like a URL may not.
			text := err.Error()
			if strings.Contains(text, "://") || strings.Contains(text, secret) && !strings.Contains(string(data), "${SECRET}") && !strings.Contains(string(data), "${STRUCTURE}") {
				t.Errorf("an error with a secret: %s", text)
			}
			return
		}
		text := c.String()
		if strings.Contains(text, secret) {
			t.Errorf("printed with a secret: %s", text)
		}
		if strings.Contains(text, "***") {
			return // *** hides a secret, which may be shorter than the key requires
		}
		again, err := Parse("c", []byte(text), types, env)
		if err != nil || again.String() != text {
			t.Errorf("printed so that it reads back as something else (%v): %s", err, text)
		}
	})
}

// A section that is no mapping is one mistake: nothing is known about its keys.
func TestNoMapping(t *testing.T) {
	mistakes(t, "sources: [file: {from: lines, include: [a]}]\ncodec: lines\nsinks: [file: {path: b}]\n", "c:2:8: codec: must be a mapping (key: value)")
	mistakes(t, "sources: [kafka: x]\ncodec: {profile: equiv}\nsinks: [file: {path: b}]\n", "c:1:18: kafka: must be a mapping (key: value)")
}

// A required key that is misspelled is one mistake.
func TestMisspelled(t *testing.T) {
	mistakes(t, "sorces: [file: {include: [a]}]\ncodec: {profil: equiv}\nsinks: [file: {path: b}]\n",
		"c:1:1: unknown key \"sorces\" (did you mean \"sources\"?)", "c:2:9: unknown key \"profil\" (did you mean \"profile\"?)")
}

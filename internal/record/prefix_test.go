package record

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/formats"
)

// prefixes are prefixes in the form of each collector, and what the same text
// would be without them.
var prefixes = map[string][]string{
	"compose": {"web-1  | ", "caddy | ", "my_app.web-12 | "},
	"any":     {"- :", "2026-11-22T10:00:00+00:00 192.0.2.1  ", "web {x} INFO: "},
	"cri":     {"2026-11-22T10:00:00.123456789Z stdout F ", "2026-11-22T10:00:00+01:00 stderr F "},
	"syslog": {
		"<134>Nov 22 10:00:00 web nginx: ", "Nov  2 10:00:00 web nginx[12]: ", "<13>2026-11-22T10:00:00.5+01:00 web app: ",
		"<30>Nov 22 10:00:00 (squid-1)[12]: ",
		"<134>1 2026-11-22T10:00:00Z web nginx 12 - - ", "<165>1 - - - - - [a@1 b=\"c]\\\"d\"][e] \xEF\xBB\xBF",
	},
}

const caddyLine = `{"level":"info","ts":1646861401.5,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.1","proto":"HTTP/2.0","method":"GET","host":"example.com","uri":"/%7ea","headers":{}},"status":200}`

// TestPrefixes checks that lines after each prefix are read like those without
// it, and that rewriting keeps the prefix.
func TestPrefixes(t *testing.T) {
	fields := []string{"norm", "method", "time", "status", "client", "vhost", "error"}
	for format, line := range map[string]string{
		"caddy":    caddyLine,
		"combined": `192.0.2.1 - - [22/Nov/2026:10:00:00 +0000] "GET /%7ea HTTP/1.1" 200 5 "http://example.com/" "x"`,
		"logfmt":   `method=GET path=/%7ea host=example.com status=200`,
	} {
		want, _, _ := runJob(t, newJob(t, Config{Format: format, Render: RenderTSV, Fields: fields}), []byte(line+"\n"))
		for kind, list := range prefixes {
			if kind == "any" && format != "caddy" {
				continue // only JSON shows where the prefix ends
			}
			for _, prefix := range list {
				c := Config{Format: kind + "+" + format, Render: RenderTSV, Fields: fields}
				check(t, c, prefix+line+"\n", string(want))
				c = Config{Format: c.Format, Target: TargetAll}
				check(t, c, prefix+line+"\n", prefix+strings.Replace(line, "%7e", "~", 1)+"\n")
				verify(t, c, []byte(prefix+line+"\n"+line+"\n"+prefix+"\n"))
				for other := range prefixes {
					if kind == "any" || other == "any" {
						continue
					}
					_, _, st := runJob(t, newJob(t, Config{Format: other + "+" + format}), []byte(prefix+line+"\n"))
					if parsed := st.Rejects[Unparsed] == 0; parsed != (other == kind) {
						t.Errorf("%q as %s: %t", prefix, other, parsed)
					}
				}
			}
		}
	}
}

// TestPrefixDetect checks that JSON logs behind a prefix are detected, also
// among other objects of the program, and that nothing else is.
func TestPrefixDetect(t *testing.T) {
	const other = `{"level":"info","msg":"serving initial configuration"}`
	for kind, list := range prefixes {
		for _, prefix := range list {
			text := prefix + other + "\n" + prefix + other + "\n" + prefix + caddyLine + "\n"
			if g, ok := Detect([]byte(text)); !ok || g.Format != kind+"+caddy" || g.Fit != 3 {
				t.Errorf("%q: %+v", prefix, g)
			}
			if g, ok := Detect([]byte(prefix + other + "\n")); ok {
				t.Errorf("%q: %+v", prefix, g)
			}
		}
	}
	if dir := os.Getenv("URLFOLD_CORPORA"); dir != "" {
		if g, _ := Detect(readFile(t, filepath.Join(dir, "logs", "json", "lnav_logfile_caddy_log.0"))); g.Format != "compose+caddy" {
			t.Errorf("the log of docker compose: %+v", g)
		}
	}
}

// TestPrefixJSON checks JSON texts of no known log after each prefix.
func TestPrefixJSON(t *testing.T) {
	const object, text = `{"host":"h.example","url":"/%7ea"}`, `{"level":"info","msg":"started"}`
	for kind, list := range prefixes {
		for _, prefix := range list {
			c := Config{Format: kind + "+jsonl", URLField: "url", Base: "https://{host}/", Render: RenderTSV, Fields: []string{"norm", "error"}}
			check(t, c, prefix+object+"\n", "https://h.example/~a\t\n")
			check(t, Config{Format: c.Format, URLField: "url"}, prefix+object+"\n", prefix+strings.Replace(object, "%7e", "~", 1)+"\n")
			verify(t, Config{Format: c.Format, URLField: "url"}, []byte(prefix+object+"\n"+prefix+"\n"+object+"\n{\n"))
			lines := prefix + text + "\n" + prefix + object + "\n"
			if g, ok := Detect([]byte(lines)); !ok || g.Format != kind+"+jsonl" || g.Fit != 2 {
				t.Errorf("%q: %+v", lines, g)
			}
			if got, ok := WithoutPrefix(c.Format, []byte("text\n"+lines)); !ok || string(got) != text+"\n"+object+"\n" {
				t.Errorf("%q without the prefix: %q", lines, got)
			}
		}
	}
	for format, want := range map[string]bool{"jsonl": true, "combined": false, "syslog+caddy": false, "x+jsonl": false} {
		if _, ok := WithoutPrefix(format, nil); ok != want {
			t.Errorf("%s: %t", format, ok)
		}
	}
	if g, _ := Detect([]byte("<13>1 2026-11-22T10:00:00Z h app - - - " + `{"url":"http://h/","status":"200"}` + "\n")); g.Format != "log" {
		t.Errorf("an absolute URL after a syslog header: %+v", g)
	}
	if g, ok := Detect([]byte("INFO " + text + "\n")); ok {
		t.Errorf("no URL: %+v", g)
	}
}

// TestPrefixConfig checks which formats can follow a prefix.
func TestPrefixConfig(t *testing.T) {
	n := newNormalizer(t, "equiv")
	for _, c := range []Config{
		{Format: "syslog+csv", URLField: "1"}, {Format: "any+combined"}, {Format: "any+jsonl"}, {Format: "docker+jsonl", URLField: "url"},
		{Format: "any+jsonl", URLField: "url", Render: RenderExtend, Extend: []Extension{{Name: "a", Field: "norm"}}}, {Format: "syslog+w3c"}, {Format: "syslog+"}, {Format: "+combined"}, {Format: "journal+combined"},
		{Format: "syslog+syslog+combined"}, {Format: "compose+caddy", Render: RenderExtend, Extend: []Extension{{Name: "a", Field: "norm"}}}, {Format: "cri+azure-front-door"},
	} {
		c.Normalizer = n
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", c.Format)
		}
	}
}

// TestPrefixErrors checks that an error says which part of a name is wrong.
func TestPrefixErrors(t *testing.T) {
	for format, want := range map[string]string{
		"compose+lines":   `the prefix "compose" cannot be combined with the format "lines" (must be one of: log, clf, combined, `,
		"docker+csv":      `the prefix "docker" cannot be combined with the format "csv" (must be one of: `,
		"any+combined":    `the prefix "any" cannot be combined with the format "combined" (must be one of: jsonl, caddy, `,
		"syslog+w3c":      `the prefix "syslog" cannot be combined`,
		"compose+combned": `unknown format after the prefix compose: "combned" (did you mean "combined"?)`,
		"compose+":        `unknown format after the prefix compose: "" (must be one of: log, `,
		"kubernetes+clf":  `unknown prefix "kubernetes" (must be one of: syslog, compose, cri, any, docker, journald, filebeat, journal-export, json)`,
		"sylog+clf":       `unknown prefix "sylog" (did you mean "syslog"?)`,
	} {
		_, err := New(withNormalizer(t, Config{Format: format}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", format, err, want)
		}
	}
}

// TestPrefixMutated checks 100,000 damaged lines.
func TestPrefixMutated(t *testing.T) {
	t.Parallel()
	var lines [][]byte
	for _, list := range prefixes {
		for _, prefix := range list {
			lines = append(lines, []byte(prefix+caddyLine))
		}
	}
	runs := 33_334
	if testing.Short() {
		runs = 2_000
	}
	for _, p := range formats.LinePrefixes {
		j := newJob(t, Config{Format: p.ID + "+caddy", Target: TargetAll})
		random := rand.New(rand.NewPCG(3, 4))
		for range runs {
			checkMutated(t, j, mutateLine(random, lines))
		}
	}
}

// TestPrefixAllocs checks that prefixes cost no allocation.
func TestPrefixAllocs(t *testing.T) {
	for _, p := range formats.LinePrefixes {
		w := newJob(t, allFields(Config{Format: p.ID + "+caddy", Render: RenderTSV})).NewWorker()
		var lines [][]byte
		for _, prefix := range prefixes[p.ID] {
			lines = append(lines, bytes.Join([][]byte{[]byte(prefix), []byte(caddyLine)}, nil))
		}
		var out []byte
		var st Stats
		all := func() {
			for _, line := range lines {
				out, _ = w.Append(out[:0], nil, line, Position{}, &st)
			}
		}
		all()
		if got := testing.AllocsPerRun(3, all); got != 0 {
			t.Errorf("%s: %v allocations", p.ID, got)
		}
	}
}

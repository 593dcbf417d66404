package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// corpora returns the corpus files below URLFOLD_CORPORA that match pattern. It
// skips the test if the variable is not set.
func corpora(t testing.TB, pattern string) []string {
	t.Helper()
	root := os.Getenv("URLFOLD_CORPORA")
	if root == "" {
		t.Skipf("skipped: %s; set URLFOLD_CORPORA to the folder of the corpora", pattern)
	}
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no file matches %s below URLFOLD_CORPORA (%v)", pattern, err)
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCorporaEverything runs every real log through every format and rendering,
// with the checks of verify. It truncates long files, whose later lines are
// similar.
func TestCorporaEverything(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"logs/combined", "logs/common", "logs/json", "logs/proxy", "attack/crowdsec"} {
		for _, name := range corpora(t, dir+"/*") {
			b := readFile(t, name)
			b = b[:min(len(b), 16<<10)]
			each(func(c Config) { verify(t, allFields(c), b) })
		}
	}
}

// TestCorporaElastic reads the 10,000 log lines of a real site. It checks that
// all lines are read, that lines with only normal forms are not changed, and
// that rewriting is idempotent.
func TestCorporaElastic(t *testing.T) {
	in := readFile(t, corpora(t, "logs/combined/elastic_apache_logs.log")[0])
	j := newJob(t, Config{Format: "combined", Target: TargetAll})
	out, _, st := runJob(t, j, in)
	if st.Records != 10000 || st.Rejected != 0 || st.NoURL != 0 {
		t.Fatalf("%+v", st)
	}
	again, _, st2 := runJob(t, j, out)
	if !bytes.Equal(out, again) || st2.Changed != 0 {
		t.Fatalf("the second rewrite changed %d URLs", st2.Changed)
	}
	same := int64(0)
	before, after := slices.Collect(bytes.Lines(in)), slices.Collect(bytes.Lines(out))
	w := j.NewWorker()
	for i, line := range before {
		var one Stats
		w.Append(nil, nil, line, Position{}, &one)
		if equal := bytes.Equal(line, after[i]); equal != (one.Changed == 0) {
			t.Fatalf("%d URLs of line %d counted as changed, but the lines being equal is %v: %q %q", one.Changed, i+1, equal, line, after[i])
		}
		if one.Changed == 0 {
			same++
		}
	}
	t.Logf("%d lines unchanged, %d URLs changed", same, st.Changed)
}

// TestCorporaCounts checks how many lines of each log match the format. The
// others have another format: the Jira log has no quotes, and the second line
// of some logs lacks fields of combined.
func TestCorporaCounts(t *testing.T) {
	for name, rejected := range map[string]int64{
		"combined/elastic_apache_logs.log":          0,
		"combined/lnav_logfile_access_log.0":        0,
		"combined/lnav_logfile_bad_access_log.0":    0,
		"combined/lnav_logfile_regexp_access_log.0": 0,
		"combined/mtail_apache-combined.log":        0,
		"combined/mtail_lighttpd_access.log":        0,
		"combined/plaso_jira_access.log":            -1,
		"combined/webreadr_combined_log.clf":        0,
		"common/mtail_apache-common.log":            0,
		"common/rex_NASA.txt":                       0,
	} {
		_, _, st := runJob(t, newJob(t, Config{Format: "combined", Target: TargetAll}), readFile(t, corpora(t, "logs/"+name)[0]))
		if rejected < 0 {
			rejected = st.Records - st.Blank
		}
		if st.Rejected != rejected {
			t.Errorf("%s: %d of %d records rejected, want %d", name, st.Rejected, st.Records, rejected)
		}
	}
}

// TestCorporaJSONLogs checks that the JSON logs are detected, and how many URLs
// they have.
func TestCorporaJSONLogs(t *testing.T) {
	in := readFile(t, corpora(t, "logs/json/lnav_logfile_caddy_log.1")[0])
	if g, ok := Detect(in); !ok || g.Format != "caddy" {
		t.Errorf("detected as %q", g.Format)
	}
	if _, _, st := runJob(t, newJob(t, Config{Format: "caddy", Target: TargetAll}), in); st.Rejected != 0 || st.URLs < 4 {
		t.Errorf("%+v", st)
	}
}

// TestCorporaVectors checks that the package finds the same URLs as the
// examples of Vector's parsers and the messages of logstash's pattern tests.
func TestCorporaVectors(t *testing.T) {
	for _, name := range []string{"parse_apache_log", "parse_common_log", "parse_nginx_log"} {
		var doc struct {
			Examples []struct {
				Source string
				Return map[string]any
			}
		}
		if err := json.Unmarshal(readFile(t, corpora(t, "logs/vrl/"+name+".json")[0]), &doc); err != nil {
			t.Fatal(err)
		}
		for _, e := range doc.Examples {
			_, rest, _ := strings.Cut(e.Source, "s'")
			line, _, _ := strings.Cut(rest, "'")
			want := []string{}
			for _, key := range []string{"message", "request"} {
				if f := strings.Fields(asString(e.Return[key])); len(f) == 3 && e.Return["severity"] == nil {
					want = append(want, f[1])
				}
			}
			for _, key := range []string{"referrer", "referer", "http_referer"} {
				if v := asString(e.Return[key]); v != "" {
					want = append(want, v)
				}
			}
			if got := urlsOf(t, line); !slices.Equal(got, want) {
				t.Errorf("%s: %q: got %q, want %q", name, line, got, want)
			}
		}
	}
	for line := range bytes.Lines(readFile(t, corpora(t, "logs/logstash_patterns_messages.jsonl")[0])) {
		var m struct{ Spec, Message string }
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		// Those messages of the httpd patterns that are access logs have a time
		// in brackets and a request in quotes.
		isAccess := m.Spec == "httpd" && strings.Contains(m.Message, `] "`)
		if got := urlsOf(t, m.Message); m.Spec == "httpd" && (len(got) > 0) != isAccess {
			t.Errorf("%q: got %q", m.Message, got)
		}
	}
}

func asString(v any) string {
	s, _ := v.(string)
	return s
}

// urlsOf returns the URLs that the format combined finds in a line.
func urlsOf(t *testing.T, line string) []string {
	t.Helper()
	w := newJob(t, Config{Format: "combined", Target: TargetAll}).NewWorker()
	w.locateIn([]byte(line), nil)
	out := []string{}
	for _, s := range w.found.Sites[:w.found.N] {
		out = append(out, string(s.In([]byte(line))))
	}
	return out
}

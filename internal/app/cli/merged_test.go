package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/report/keydiff"
)

// mergedReport is what a report says about --dedupe.
type mergedReport struct {
	Merged struct {
		Records int
		Samples []struct {
			Kept, Duplicate struct{ URL string }
			Rules           []string
		}
	}
}

// reportOf runs the program and returns the part of its report about --dedupe, and its
// summary.
func reportOf(t *testing.T, args ...string) (r mergedReport, text []byte, summary string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.json")
	out, err := exec.Command("urlfold", append([]string{"--summary", path, "-o", filepath.Join(t.TempDir(), "out")}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var raw struct{ Merged json.RawMessage }
	if err := json.Unmarshal(whole, &raw); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(whole, &r); err != nil {
		t.Fatal(err)
	}
	return r, raw.Merged, string(out)
}

// TestUniqueSamples checks the examples of --dedupe against the keys that the rendering
// jsonl writes: both URLs have the same key, and the kept URL is the first or the last
// with this key. The examples depend on neither the number of workers nor of inputs.
func TestUniqueSamples(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: many runs of the program; run without -short")
	}
	lines := uniqueLines(3000)
	whole, parts := writeLines(t, lines, 1), writeLines(t, lines, 5)
	for _, by := range []string{"key", "page", "site"} {
		ids := map[string]string{}
		first, last, several := map[string]string{}, map[string]string{}, map[string]bool{}
		for line := range strings.Lines(urlfoldOutput(t, "--quiet", "-r", "jsonl", "--fields", "url,"+by, whole[0])) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			if id, ok := row[by].(string); ok {
				url := row["url"].(string)
				ids[url], last[id] = id, url
				if first[id] == "" {
					first[id] = url
				}
				if url != first[id] {
					several[id] = true
				}
			}
		}
		for _, mode := range []string{uniqueFirst, uniqueLast, uniqueMark, uniqueCount} {
			args := []string{"-r", "tsv", "--fields", "url", "--dedupe=" + mode, "--by", by}
			got, text, _ := reportOf(t, append(args, append([]string{"-j", "1"}, whole...)...)...)
			if len(got.Merged.Samples) != min(mostSamples, len(several)) || got.Merged.Records < len(lines)/10 {
				t.Errorf("%s, %s: %d samples of %d records", mode, by, len(got.Merged.Samples), got.Merged.Records)
			}
			for _, s := range got.Merged.Samples {
				kept, id := s.Kept.URL, ids[s.Kept.URL]
				want := first[id]
				if mode == uniqueLast {
					want = last[id]
				}
				if id == "" || ids[s.Duplicate.URL] != id || kept == s.Duplicate.URL || kept != want {
					t.Errorf("%s, %s: %+v: the URLs have the keys %q and %q; want the URL %q to be kept", mode, by, s, id, ids[s.Duplicate.URL], want)
				}
				if keyed := by != "site"; (len(s.Rules) > 0) != keyed {
					t.Errorf("%s, %s: %+v: rules", mode, by, s)
				}
			}
			for _, other := range [][]string{append([]string{"-j", "3"}, whole...), append([]string{"-j", "2"}, parts...)} {
				if _, also, _ := reportOf(t, append(args, other...)...); string(also) != string(text) {
					t.Errorf("%s, %s, %s: other samples than with one worker:\n%s\n%s", mode, by, other[1], also, text)
				}
			}
		}
	}
}

// TestUniqueSample checks single examples: their rules, in the summary and in the
// report, and that they contain no password.
func TestUniqueSample(t *testing.T) {
	for _, c := range []struct {
		args, kept, duplicate, rule string
		lines                       []string
	}{
		{"-f lines --dedupe -k fetch", "http://h/?b&a", "http://h/?a&b", "q-sort-name", []string{"http://h/?b&a", "http://h/?b&a", "http://h/?a&b"}},
		{"-f lines --dedupe=last", "http://h/a#x", "HTTP://h/a#x", "scheme-lower", []string{"HTTP://h/a#x", "http://h/a#x", "http://h/a#x"}},
		{"-f lines --dedupe=last -k page", "http://h/", "http://h/index.html", "dirindex", []string{"http://h/", "http://h/index.html", "http://h/"}},
		{"-f lines --dedupe=mark -r keys -p analytics", "http://u:***@h/b", "http://v:***@h/b", "ui-drop", []string{"http://u:hunter2@h/b", "http://v:hunter3@h/b"}},
		{"-f lines --dedupe -k page --secret token", "http://h/?token=***", "https://h/?token=***", "https-http", []string{"http://h/?token=hunter2", "https://h/?token=hunter2"}},
		{"-f csv --url-field u --dedupe", "http://h/a", "http://h/%61", "esc-unres", []string{"n,u", "\"1\n\",http://h/a", "2,http://h/%61"}},
		{"-f combined --dedupe --target all -p crawler", "http://h/%7e", "http://h/~", "esc-unres", []string{
			`h - - [02/Nov/2026:06:25:15 +0100] "GET /a HTTP/1.1" 200 1 "http://h/%7e" "x"`,
			`h - - [02/Nov/2026:06:25:15 +0100] "GET /a HTTP/1.1" 200 1 "http://h/~" "x"`}},
		{"-f combined --dedupe --target all --dedupe-url first", "/%7e", "/~", "esc-unres", []string{
			`h - - [02/Nov/2026:06:25:15 +0100] "GET /%7e HTTP/1.1" 200 1 "http://h/b" "x"`,
			`h - - [02/Nov/2026:06:25:15 +0100] "GET /~ HTTP/1.1" 200 1 "http://h/c" "x"`}},
		{"-f w3c --dedupe", "/%7e", "/~", "esc-unres", []string{
			"#Fields: date cs-uri-stem", "2026-11-02 /%7e", "#Fields: cs-uri-stem date", "/~ 2026-11-02"}},
		{"-p purell-all-greedy -f lines --dedupe", "http://www.h.example/", "http://h.example", "match remove-www", []string{"http://www.h.example/", "http://h.example"}},
	} {
		r, text, summary := reportOf(t, append(strings.Fields(c.args), writeLines(t, c.lines, 1)...)...)
		if strings.Contains(summary+string(text), "hunter") {
			t.Errorf("%s: a password in the summary or the report:\n%s\n%s", c.args, summary, text)
		}
		if n := len(r.Merged.Samples); n != 1 {
			t.Errorf("%s: %d samples:\n%s", c.args, n, summary)
			continue
		}
		s := r.Merged.Samples[0]
		if s.Kept.URL != c.kept || s.Duplicate.URL != c.duplicate || !slices.ContainsFunc(s.Rules, func(r string) bool { return strings.HasPrefix(r, c.rule) }) {
			t.Errorf("%s: got %+v, want %s, %s by %s", c.args, s, c.kept, c.duplicate, c.rule)
		}
		for _, want := range []string{"for example, by " + s.Rules[0], "kept     " + c.kept + "\n", c.duplicate + "\n"} {
			if !strings.Contains(summary, want) {
				t.Errorf("%s: the summary lacks %q:\n%s", c.args, want, summary)
			}
		}
	}
	if _, text, _ := reportOf(t, writeLines(t, []string{"http://h/a"}, 1)...); text != nil {
		t.Errorf("without --dedupe, the report has %s", text)
	}
}

// TestAddMerged checks how the reports of shards are added.
func TestAddMerged(t *testing.T) {
	by := func(rule string) keydiff.Merged { return keydiff.Merged{Rules: []string{rule}} }
	a := &reportMerged{Records: 2, Samples: []keydiff.Merged{by("a"), by("a"), by("a"), by("a"), by("b")}}
	b := &reportMerged{Records: 3, Samples: []keydiff.Merged{by("b"), by("c")}}
	got := a.add(b)
	var rules []string
	for _, s := range got.Samples {
		rules = append(rules, s.Rules[0])
	}
	if got.Records != 5 || strings.Join(rules, " ") != "a b c a a" {
		t.Errorf("got %d records, samples by %v", got.Records, rules)
	}
	if (*reportMerged)(nil).add(b) != b || b.add(nil) != b {
		t.Error("adding nothing changes the report")
	}
}

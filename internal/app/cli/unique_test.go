package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record"
)

// uniqueLines returns n URLs that repeat at every distance, in spellings that the
// levels of the keys take for the same or not.
func uniqueLines(n int) (lines []string) {
	r := rand.New(rand.NewPCG(1, 15))
	spellings := []string{"/p/%d", "/p//%d", "/p/%%7%d", "/p/%d/", "/p/%d?utm_source=x", "/p/%d?b=1&a=2", "/p/%d?a=2&b=1", "/p?NAME=%d", "/%%zz%d", "/p/%d#f"}
	for range n {
		host := []string{"a.example", "www.a.example", "b.example.org"}[r.IntN(3)]
		path := fmt.Sprintf(spellings[r.IntN(len(spellings))], r.IntN(1+r.IntN(n/20)))
		switch r.IntN(50) {
		case 0:
			lines = append(lines, "http://[/") // rejected
		case 1:
			lines = append(lines, "")
		default:
			lines = append(lines, "http://"+host+path)
		}
	}
	return lines
}

// writeLines writes lines to n files and returns their paths in order.
func writeLines(t *testing.T, lines []string, n int) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for chunk := range slices.Chunk(lines, (len(lines)+n-1)/n) {
		path := filepath.Join(dir, fmt.Sprintf("%02d", len(paths)))
		if err := os.WriteFile(path, []byte(strings.Join(chunk, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// urlfoldOutput runs the program, which must succeed, and returns its stdout.
func urlfoldOutput(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("urlfold", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("urlfold %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// A uniqueRow is a record with a URL, and what identifies it.
type uniqueRow struct {
	norm, id string
	has      bool
}

// uniqueRows returns the records of a file as the rendering jsonl shows them.
func uniqueRows(t *testing.T, by, path string) (rows []uniqueRow) {
	t.Helper()
	for line := range strings.Lines(urlfoldOutput(t, "--quiet", "-r", "jsonl", "--fields", "norm,"+by, path)) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if norm, ok := row["norm"].(string); ok { // the others are rejected
			id, has := row[by].(string)
			rows = append(rows, uniqueRow{norm, id, has})
		}
	}
	return rows
}

// wantUnique returns the output of a mode, in tsv with the field norm.
func wantUnique(mode string, rows []uniqueRow) string {
	var out strings.Builder
	last, count := map[string]int{}, map[string]int{}
	for i, r := range rows {
		last[r.id] = i
		count[r.id]++
	}
	seen := map[string]bool{}
	for i, r := range rows {
		again := r.has && seen[r.id]
		seen[r.id] = true
		switch mode {
		case uniqueMark:
			fmt.Fprintf(&out, "%s\t%v\n", r.norm, again)
		case uniqueCount:
			n := count[r.id]
			if !r.has {
				n = 1
			}
			if !again {
				fmt.Fprintf(&out, "%s\t%d\n", r.norm, n)
			}
		case uniqueLast:
			if !r.has || last[r.id] == i {
				fmt.Fprintln(&out, r.norm)
			}
		default:
			if !again {
				fmt.Fprintln(&out, r.norm)
			}
		}
	}
	return out.String()
}

// TestUniqueOracle compares --dedupe, for each mode and identity, with maps over the
// fields that the rendering jsonl writes; with one worker and with several, from
// one file and from many.
func TestUniqueOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: many runs over 30,000 lines; run without -short")
	}
	lines := uniqueLines(30_000)
	whole, parts := writeLines(t, lines, 1), writeLines(t, lines, 7)
	for _, by := range record.IdentityNames() {
		rows := uniqueRows(t, by, whole[0])
		ids := map[string]bool{}
		for _, r := range rows {
			ids[r.id] = true
		}
		if len(ids) < 2 || len(ids) > len(rows)*9/10 {
			t.Fatalf("%s: %d identities in %d rows", by, len(ids), len(rows))
		}
		for _, mode := range []string{uniqueFirst, uniqueLast, uniqueMark, uniqueCount} {
			want := wantUnique(mode, rows)
			for _, input := range [][]string{append([]string{"-j", "1"}, whole...), append([]string{"-j", "3"}, whole...), append([]string{"-j", "1"}, parts...), append([]string{"-j", "2"}, parts...)} {
				args := append([]string{"--quiet", "-r", "tsv", "--fields", "norm", "--dedupe=" + mode, "--by", by}, input...)
				if got := urlfoldOutput(t, args...); got != want {
					t.Errorf("%v: %d lines, want %d", args[5:10], strings.Count(got, "\n"), strings.Count(want, "\n"))
				}
			}
		}
	}
}

// TestUniqueRules checks which rules the summary of --dedupe lists.
func TestUniqueRules(t *testing.T) {
	input := writeLines(t, []string{"http://h/a?utm_source=1", "https://www.h/a", "HTTP://h/b/", "http://u:topsecret@h/b", "http://h/b/"}, 1)[0]
	for _, c := range []struct {
		args string
		want map[string]string // counts by rule
	}{
		{"-p analytics --dedupe", map[string]string{"q-drop": "1", "https-http": "5", "slash-trail": "2", "scheme-lower": "1", "ui-drop": "1"}},
		{"-p analytics --dedupe=mark -r jsonl", map[string]string{"q-drop": "1", "slash-trail": "2"}},
		{"-p analytics --dedupe=last", map[string]string{"q-drop": "1", "slash-trail": "2"}},
		{"-p analytics --dedupe=count -r tsv", map[string]string{"q-drop": "1", "slash-trail": "2"}},
		{"-p analytics --dedupe --by shape", map[string]string{"scheme-drop": "5", "slash-trail": ""}},
		{"-p analytics --dedupe --by site", map[string]string{"q-drop": "", "slash-trail": ""}},
		{"-p crawler --dedupe --by equivalent", map[string]string{"q-drop": "", "slash-trail": ""}},
		{"-p analytics", map[string]string{"q-drop": "", "slash-trail": ""}},
	} {
		args := append(strings.Fields(c.args), "-f", "lines", "-o", filepath.Join(t.TempDir(), "out"), input)
		text, err := exec.Command("urlfold", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.args, err, text)
		}
		if strings.Contains(string(text), "topsecret") {
			t.Errorf("%s: the summary contains a password:\n%s", c.args, text)
		}
		for rule, want := range c.want {
			got := ""
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) > 1 && f[0] == rule {
					got = f[1]
				}
			}
			if got != want {
				t.Errorf("%s: the count of %s is %q, want %q:\n%s", c.args, rule, got, want, text)
			}
		}
	}
}

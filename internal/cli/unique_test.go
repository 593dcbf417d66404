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

	"github.com/urlfold/urlfold/codec/record"
)

// uniqueLines returns n URLs that repeat at every distance, in spellings that the
// levels of the keys take for the same or not.
func uniqueLines(n int) (lines []string) {
	r := rand.New(rand.NewPCG(1, 15))
	spellings := []string{"/p/%d", "/p//%d", "/p/%%7%d", "/p/%d/", "/p/%d?utm_source=x", "/p/%d?b=1&a=2", "/p/%d?a=2&b=1", "/%%zz%d", "/p/%d#f"}
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

// TestUniqueOracle compares --unique, for each identity, with a map over the
// fields that the rendering jsonl writes; with one worker and with several, from
// one file and from many, in memory and beyond it.
func TestUniqueOracle(t *testing.T) {
	lines := uniqueLines(60_000)
	whole, parts := writeLines(t, lines, 1), writeLines(t, lines, 7)
	for _, by := range record.IdentityNames() {
		var want strings.Builder
		seen, rows := map[string]bool{}, 0
		for line := range strings.Lines(urlfoldOutput(t, "--quiet", "-r", "jsonl", "--fields", "norm,"+by, whole[0])) {
			var row map[string]any
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			if row["norm"] == nil {
				continue // rejected
			}
			id, has := row[by].(string)
			if rows++; !has || !seen[id] {
				want.WriteString(row["norm"].(string) + "\n")
			}
			seen[id] = true
		}
		if len(seen) < 2 || len(seen) > rows*9/10 {
			t.Fatalf("%s: %d identities in %d rows", by, len(seen), rows)
		}
		for _, args := range [][]string{append([]string{"-j", "1"}, whole...), append([]string{"-j", "3"}, whole...), append([]string{"-j", "1"}, parts...), append([]string{"-j", "2"}, parts...)} {
			args = append([]string{"--quiet", "-r", "urls", "--unique", "--by", by}, args...)
			if got := urlfoldOutput(t, args...); got != want.String() {
				t.Errorf("%v: %d lines, want %d", args[:7], strings.Count(got, "\n"), strings.Count(want.String(), "\n"))
			}
		}
	}
}

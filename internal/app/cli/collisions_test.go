package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// collisionGroup is what collisions --all writes.
type collisionGroup struct {
	Key       string
	URLs      int64
	Spellings int64
	Rules     []string
}

// collisionGroups returns the groups in path at a level, in the order of the keys.
func collisionGroups(t *testing.T, level string, args ...string) (groups []collisionGroup) {
	t.Helper()
	for line := range strings.Lines(urlfoldOutput(t, append([]string{"collisions", "--all", "-k", level}, args...)...)) {
		var g collisionGroup
		if err := json.Unmarshal([]byte(line), &g); err != nil {
			t.Fatal(err)
		}
		if len(g.Rules) == 0 {
			t.Errorf("%s: group %s has no rule", level, g.Key)
		}
		groups = append(groups, g)
	}
	return groups
}

// TestCollisionsOracle compares the groups with a map.
func TestCollisionsOracle(t *testing.T) {
	paths := writeLines(t, uniqueLines(30_000), 3)
	for _, level := range []string{"fetch", "page", "shape"} {
		spellings := map[string]map[string]int64{}
		for line := range strings.Lines(urlfoldOutput(t, append([]string{"--quiet", "-r", "tsv", "--fields", "key,url", "-k", level}, paths...)...)) {
			key, url, _ := strings.Cut(line, "\t")
			if spellings[key] == nil {
				spellings[key] = map[string]int64{}
			}
			spellings[key][url]++
		}
		groups := collisionGroups(t, level, paths...)
		for i, g := range groups {
			var urls int64
			for _, n := range spellings[g.Key] {
				urls += n
			}
			if g.URLs != urls || g.Spellings != int64(len(spellings[g.Key])) || i > 0 && groups[i-1].Key >= g.Key {
				t.Fatalf("%s: %+v, want %d URLs in %d spellings", level, g, urls, len(spellings[g.Key]))
			}
		}
		want := 0
		for _, s := range spellings {
			if len(s) > 1 {
				want++
			}
		}
		if len(groups) != want || want == 0 {
			t.Errorf("%s: %d groups, want %d", level, len(groups), want)
		}
	}
}

// TestCollisionsCorpus compares the groups in a list of real URLs with those of sort
// and awk.
func TestCollisionsCorpus(t *testing.T) {
	corpora := os.Getenv("URLFOLD_CORPORA")
	if corpora == "" {
		t.Skip("needs the corpora: set URLFOLD_CORPORA to their folder")
	}
	path := filepath.Join(corpora, "urls", "kasztp.txt")
	var got strings.Builder
	for _, g := range collisionGroups(t, "page", path) {
		fmt.Fprintf(&got, "%s %d %d\n", g.Key, g.Spellings, g.URLs)
	}
	cmd := exec.Command("sh", "-c", `urlfold --quiet -r tsv --fields key,url -k page "$1" | LC_ALL=C sort |
		awk -F'\t' 'function end() { if (n > 1) print key, n, urls }
			$1 == "" { next }
			$1 != key { end(); key = $1; n = urls = 0; url = "" }
			$2 != url { n++; url = $2 }
			{ urls++ }
			END { end() }'`, "sh", path)
	want, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) || got.String() == "" {
		t.Errorf("groups:\n%swant:\n%s", got.String(), want)
	}
}

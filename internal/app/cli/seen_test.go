package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/seen/kept"
)

// TestSeenOracle builds a set, adds to it and asks it, in little memory, and
// compares the answers with a map of the keys.
func TestSeenOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: many runs over 60,000 lines; run without -short")
	}
	lines := uniqueLines(60_000)
	set := filepath.Join(t.TempDir(), "set")
	build, merge, query := writeLines(t, lines[:30_000], 3), writeLines(t, lines[30_000:40_000], 2), writeLines(t, lines[35_000:], 4)
	for _, by := range []string{"equivalent", "page"} {
		seen := map[string]bool{}
		keysOf := func(paths []string) []string {
			out := urlfoldOutput(t, append([]string{"--quiet", "-r", "keys", "-k", by}, paths...)...)
			return slices.Collect(strings.Lines(out))
		}
		for _, line := range keysOf(slices.Concat(build, merge)) {
			key, _, _ := strings.Cut(line, "\t")
			seen[key] = true
		}
		want := map[bool]string{}
		for _, line := range keysOf(query) {
			key, _, _ := strings.Cut(line, "\t")
			want[seen[key]] += line
		}
		if want[true] == "" || want[false] == "" {
			t.Fatal("the oracle has no unseen or no seen URL")
		}
		urlfoldOutput(t, append([]string{"seen", "build", "--force", "--quiet", "-k", by, "--max-memory", "16MiB", set}, build...)...)
		urlfoldOutput(t, append([]string{"seen", "merge", "--quiet", set}, merge...)...)
		for _, workers := range []string{"1", "2"} {
			for which, flag := range map[bool]string{true: "--seen", false: "--seen=false"} {
				if got := urlfoldOutput(t, append([]string{"seen", "query", "--quiet", "-j", workers, flag, set}, query...)...); got != want[which] {
					t.Errorf("%s, %s workers, %s: %d lines, want %d", by, workers, flag, strings.Count(got, "\n"), strings.Count(want[which], "\n"))
				}
			}
		}
	}
}

// TestSeenKept: a set that package kept has made is one that the command queries and adds
// to, and the other way round.
func TestSeenKept(t *testing.T) {
	set := filepath.Join(t.TempDir(), "set")
	profile, _ := codec.Lookup("crawler")
	n, err := codec.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	add := func(pages *kept.Set, err error, url string, want bool) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var r codec.Result
		if _, err := n.Append(nil, []byte(url), &r); err != nil {
			t.Fatal(err)
		}
		if fresh, err := pages.Add(r.Key(codec.LevelFetch)); fresh != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", url, fresh, err, want)
		}
		if err := pages.Close(); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := kept.Create(set, n, codec.LevelFetch)
	add(pages, err, "http://example.com/a", true)
	list := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(list, []byte("https://EXAMPLE.com/a#top\nhttp://example.com/b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := urlfoldOutput(t, "seen", "query", "--quiet", set, list); !strings.HasSuffix(got, "\thttp://example.com/b\n") || strings.Count(got, "\n") != 1 {
		t.Errorf("URLs that are not in the set:\n%s", got)
	}
	urlfoldOutput(t, "seen", "merge", "--quiet", set, list)
	pages, err = kept.Open(set, n, codec.LevelFetch)
	add(pages, err, "http://example.com/b", false)
}

// TestSeenKilled kills builds and merges. The set must stay the old one or be the new
// one, and the same command must succeed later.
func TestSeenKilled(t *testing.T) {
	dir := t.TempDir()
	set := filepath.Join(dir, "set")
	var old, more bytes.Buffer
	for i := range 3000 {
		fmt.Fprintf(&old, "http://h/%d\n", i)
	}
	w := bufio.NewWriter(&more)
	for i := 3000; i < 150_000; i++ {
		fmt.Fprintf(w, "http://h/%d\n", i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	oldFile, moreFile := filepath.Join(dir, "old"), filepath.Join(dir, "more")
	for name, text := range map[string][]byte{oldFile: old.Bytes(), moreFile: more.Bytes()} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	counts := func() (inOld, inMore int) {
		t.Helper()
		return strings.Count(urlfoldOutput(t, "seen", "query", "--quiet", "--seen", set, oldFile), "\n"),
			strings.Count(urlfoldOutput(t, "seen", "query", "--quiet", "--seen", set, moreFile), "\n")
	}
	const all = 147_000
	r := rand.New(rand.NewPCG(4, 4))
	for _, command := range [][]string{{"build", "--force"}, {"merge"}} {
		urlfoldOutput(t, "seen", "build", "--force", "--quiet", set, oldFile)
		args := append(append([]string{"seen"}, command...), "--quiet", "--max-memory", "16MiB", set, moreFile)
		killed := 0
		for range 5 {
			cmd := exec.Command("urlfold", args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(r.IntN(250)) * time.Millisecond)
			_ = cmd.Process.Kill() // it may have ended
			if err := cmd.Wait(); err != nil {
				killed++
			}
			inOld, inMore := counts()
			isOld := inOld == 3000 && inMore == 0
			isNew := inMore == all && (inOld == 3000) == (command[0] == "merge")
			if !isOld && !isNew {
				t.Fatalf("%s: after a kill, the set has %d of the old URLs and %d of the new ones", command[0], inOld, inMore)
			}
		}
		t.Logf("%s: killed %d of 5", command[0], killed)
		urlfoldOutput(t, args...)
		if _, inMore := counts(); inMore != all {
			t.Errorf("%s after kills: %d of the new URLs", command[0], inMore)
		}
		if files, _ := filepath.Glob(filepath.Join(set, "*.keys")); len(files) > 6 {
			t.Errorf("files left: %v", files)
		}
	}
}

package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// idleLanes waits until all lanes are retired. After a restart, the lane of a file
// without new text is not opened, but its buffers are released later.
func (d *daemon) idleLanes() {
	d.t.Helper()
	until(d.t, "all lanes to end", func() bool { return len(d.p.Snapshot().Lanes) == 0 })
	until(d.t, "all buffers to be released", func() bool {
		d.w.mu.Lock()
		defer d.w.mu.Unlock()
		for _, t := range d.w.known.tracks {
			if t.life == open && (t.read.head != nil || t.read.last != nil || t.lane != nil || t.read.cut.tail != nil) {
				return false
			}
		}
		return len(d.w.progress.byLane) == 0
	})
}

func appendTo(t testing.TB, path string, text []string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join(text, "")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRetire checks that the lanes of idle files are ended and their buffers
// released, and that data added later is read in order, under the same id,
// during rotations and after a restart.
func TestRetire(t *testing.T) {
	for _, rotation := range []string{"none", "rename", "copytruncate", "restart", "kill"} {
		dir, data := t.TempDir(), t.TempDir()
		sink := &shelf{exact: rotation == "kill", idles: true}
		set := quick(filepath.Join(dir, "*.log*"))
		set.RotateWait = time.Minute // a copy that is not followed by a truncation in time counts as a separate file
		d := start(t, data, set, sink, nil)
		var want []string
		next := map[int]int{}
		more := func(i, n int) {
			lines := numbered(fmt.Sprint("file", i), next[i], n)
			next[i] += n
			appendTo(t, filepath.Join(dir, fmt.Sprint(i, ".log")), lines)
			want = append(want, lines...)
		}
		for i := range 6 {
			more(i, 3+20*i) // some are shorter than fingerprint_bytes
		}
		for round := range 4 {
			until(t, fmt.Sprint(rotation, " all lines ", round, len(want)), func() bool { return sink.count() == len(want) })
			d.idleLanes()
			for i := 0; i < 6; i += 1 + round%2 {
				path := filepath.Join(dir, fmt.Sprint(i, ".log"))
				switch rotation {
				case "rename":
					if err := os.Rename(path, fmt.Sprint(path, ".", round)); err != nil {
						t.Fatal(err)
					}
				case "copytruncate":
					b, err := os.ReadFile(path)
					if err == nil {
						err = os.WriteFile(fmt.Sprint(path, ".", round), b, 0o600)
					}
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(30 * time.Millisecond) // let a scan see the copy
					if err := os.Truncate(path, 0); err != nil {
						t.Fatal(err)
					}
					time.Sleep(30 * time.Millisecond) // and the truncation
				}
				more(i, 1+round)
			}
			switch rotation {
			case "restart":
				d.end()
				d = start(t, data, set, sink, nil)
			case "kill":
				d.kill()
				d = start(t, data, set, sink, nil)
			}
		}
		until(t, rotation+": all lines", func() bool { return sink.count() >= len(want) })
		d.idleLanes()
		d.end()
		sink.check(t, want)
		last, ids := map[string]int{}, map[string]string{}
		for i, line := range sink.lines {
			name, rest, _ := strings.Cut(line, "|")
			var n int
			if _, err := fmt.Sscanf(rest, "%d|", &n); err != nil {
				t.Fatal(err)
			}
			if before, ok := last[name]; ok && n < before {
				t.Errorf("%s: %s: line %d after %d", rotation, name, n, before)
			}
			last[name] = n
			if rotation == "none" && ids[name] != "" && ids[name] != sink.ids[i] {
				t.Errorf("%s: lanes %s and %s", name, ids[name], sink.ids[i])
			}
			ids[name] = sink.ids[i]
		}
	}
}

// TestRetiredIsWatched checks that a retired file that now holds another text
// of the same length and end is read from its beginning.
func TestRetiredIsWatched(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.log")
	sink := &shelf{idles: true}
	set := quick(path)
	set.IdleClose = time.Millisecond // so that the file is not open
	d := start(t, t.TempDir(), set, sink, nil)
	first := numbered("first", 0, 100)
	appendTo(t, path, first)
	until(t, "the first text", func() bool { return sink.count() == len(first) })
	d.idleLanes()
	other := append([]string{}, first...)
	other[0] = strings.Replace(other[0], "first", "other", 1) // in the first KiB, of which only the digest is kept
	if err := os.WriteFile(path, []byte(strings.Join(other, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "the other text", func() bool { return sink.count() == len(first)+len(other) })
	d.end()
	if got := sink.lines[len(first)]; got != other[0] {
		t.Errorf("other text begins with %q", got)
	}
}

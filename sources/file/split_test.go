package file

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSplit checks that when a codec ends the run at a record, everything
// before the record is emitted, whatever batch it is in and wherever in the
// batch, and that the next run resumes with that record, also in a compressed
// file. The checkpoint has the directive in force there.
func TestSplit(t *testing.T) {
	t.Parallel()
	framing := func(c *WatchConfig) { c.Framing = directives{} }
	f := func(name string, at int, exact bool) {
		t.Helper()
		lines := numbered("l", 0, 600)
		directive := ""
		for i := 0; i < len(lines); i += 40 {
			lines[i] = "#" + lines[i][1:]
		}
		lines[at] = "S|" + lines[at][2:]
		for _, line := range lines[:at] {
			if line[0] == '#' {
				directive = line
			}
		}
		text := strings.Join(lines, "")
		if strings.HasSuffix(name, ".gz") {
			text = gz(t, text)
		}
		dir, data := t.TempDir(), t.TempDir()
		put(t, filepath.Join(dir, name), text)
		sink := &shelf{stops: true, exact: exact}
		for range 2 {
			d := start(t, data, batch(dir), sink, framing)
			if err := <-d.done; err == nil || !strings.Contains(err.Error(), name+", offset ") {
				t.Errorf("%s, %d: %v", name, at, err)
			}
			d.stop()
			entries := d.store.Entries("file")
			if err := d.store.Close(); err != nil {
				t.Error(err)
			}
			if !slices.Equal(sink.lines, lines[:at]) {
				t.Fatalf("%s, %d: %d lines", name, at, len(sink.lines))
			}
			if at > 0 && (len(entries) != 1 || entries[0].Line != int64(at)+1 || entries[0].Offset != int64(len(strings.Join(lines[:at], ""))) || entries[0].Directive != directive) {
				t.Errorf("%s, %d: %+v", name, at, entries)
			}
		}
		sink.stops = false
		d := start(t, data, batch(dir), sink, framing)
		d.wait()
		if !slices.Equal(sink.lines, lines) {
			t.Errorf("%s, %d: %d lines in total, want %d", name, at, len(sink.lines), len(lines))
		}
	}
	for _, name := range []string{"a.log", "a.log.gz"} {
		for _, exact := range []bool{false, true} {
			for _, at := range []int{0, 1, 7, 101, 102, 103, 104, 105, 106, 107, 300, 598, 599} { // a batch holds about a hundred lines
				f(name, at, exact)
			}
		}
	}
}

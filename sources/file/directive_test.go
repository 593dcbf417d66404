package file

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/pipeline"
)

// directives is a Framing of lines of which those with a '#' are directives.
type directives struct{ lines }

func (directives) Directive(block []byte) []byte {
	var last []byte
	for line := range bytes.Lines(block) {
		if line[0] == '#' {
			last = line
		}
	}
	return last
}

// TestDirective: every batch knows the directive in force at its start, after a restart
// in mid-file too.
func TestDirective(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	set := quick(filepath.Join(dir, "*"))
	text := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "#%d\n", i)
			for range 3000 + i {
				fmt.Fprintf(&b, "%d\n", i)
			}
		}
		return b.String()
	}
	framing := func(c *WatchConfig) { c.Framing = directives{} }
	sink := &shelf{}
	sink.onBatch = func(b *pipeline.Batch) {
		head := string(b.Head)
		if b.Head == nil {
			head = string(b.Lane.Head())
		}
		if first, _, _ := strings.Cut(string(b.In), "\n"); first[0] != '#' && head != "#"+first+"\n" {
			t.Errorf("offset %d: the record %q is below %q", b.Off, first, head)
		}
	}
	want := 0
	for round, parts := range [][2]int{{0, 9}, {9, 10}, {10, 17}} {
		more := text(parts[0], parts[1])
		if round > 0 {
			more = fmt.Sprint(parts[0]-1, "\n") + more // below the directive before the restart
		}
		want += strings.Count(more, "\n")
		put(t, filepath.Join(dir, "a.log"), more)
		put(t, filepath.Join(dir, "b.gz"), gz(t, more))
		d := start(t, data, set, sink, framing)
		until(t, "all lines", func() bool { return sink.count() == 2*want })
		d.end()
	}
}

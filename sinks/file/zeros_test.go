package file

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// TestZeros: a power loss leaves zeros in blocks that were allocated but not
// written. Recovery truncates them like any torn end, and does not report
// damage.
func TestZeros(t *testing.T) {
	zeros := strings.Repeat("\x00", 5000)
	whole, next := packedWith(t, compress.Gzip, "a\n", "b\n"), packedWith(t, compress.Gzip, strings.Repeat("c", 300)+"\n")
	for name, c := range map[string]struct{ text, want string }{
		"nothing else":                {zeros, ""},
		"after members":               {whole + zeros, "a\nb\n"},
		"after a few bytes":           {whole + next[:3] + zeros, "a\nb\n"},
		"after a torn member":         {whole + next[:len(next)-9] + zeros, "a\nb\n"},
		"after a member without tail": {whole + next[:len(next)-1] + zeros[:1], "a\nb\n" + strings.Repeat("c", 300) + "\n"}, // its last byte is zero
	} {
		dir := t.TempDir()
		put(t, dir, map[string]string{"a.gz.part": c.text})
		out := openLog(t, config(filepath.Join(dir, "{source.relpath}.gz")), "")
		w := newWriter(t, out)
		w.write(laneOfRel("a"), "z\n")
		w.barrier()
		must(t, finish(ctx, out, laneOfRel("a")))
		must(t, out.Close(ctx))
		if names := ls(t, dir); names != "a.gz" {
			t.Errorf("%s: files %s", name, names)
			continue
		}
		if got := text(t, filepath.Join(dir, "a.gz")); got != c.want+"z\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

package file

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestCrowded: the number of open files never exceeds its limit, even if many
// batches go to different outputs before the first sync, and all batches are
// written.
func TestCrowded(t *testing.T) {
	for _, faults := range []string{"", "file.before_create=emfile@3..30", "file.before_create=enfile@40..60"} {
		dir := t.TempDir()
		cfg := config(filepath.Join(dir, "{source.relpath}"))
		cfg.OpenFiles, cfg.Batches, cfg.SyncInterval = 4, 1000, time.Minute
		out := openLog(t, cfg, faults)
		var most atomic.Int64
		at := inner(out).files.at
		inner(out).files.at = func(point string) error {
			if n := inner(out).counts.open.Load(); n > most.Load() {
				most.Store(n)
			}
			return at(point)
		}
		w := newWriter(t, out)
		var want strings.Builder
		for round := range 2 {
			for i := range 50 {
				w.write(laneOfRel(fmt.Sprintf("%02d", i)), fmt.Sprintf("%d\n", round))
			}
		}
		w.barrier()
		if n := most.Load(); n > 4 {
			t.Errorf("%q: %d files were open", faults, n)
		}
		if err := out.Health(); err != nil {
			t.Errorf("%q: %v", faults, err)
		}
		for i := range 50 {
			fmt.Fprintf(&want, "%02d.part=%q ", i, "0\n1\n")
		}
		must(t, out.Close(ctx))
		wantTree(t, dir, strings.TrimSpace(want.String()))
	}
}

// TestCrowdedFinish: a call of Finish ends many more lanes than files may be open.
func TestCrowdedFinish(t *testing.T) {
	for _, ext := range []string{"", ".gz", ".zst"} {
		dir := t.TempDir()
		cfg := config(filepath.Join(dir, "{source.relpath}"+ext))
		cfg.OpenFiles, cfg.Batches, cfg.SyncInterval = 4, 1000, time.Minute
		out := openLog(t, cfg, "")
		w := newWriter(t, out)
		var lanes []*engine.Lane
		for i := range 50 {
			lanes = append(lanes, laneOfRel(fmt.Sprintf("%02d", i)))
			w.write(lanes[i], fmt.Sprintf("%d\n", i))
		}
		w.barrier()
		for _, err := range out.Finish(ctx, lanes) {
			must(t, err)
		}
		for i := range lanes {
			if got := text(t, filepath.Join(dir, fmt.Sprintf("%02d%s", i, ext))); got != fmt.Sprintf("%d\n", i) {
				t.Errorf("%02d%s: %q", i, ext, got)
			}
		}
		must(t, out.Close(ctx))
	}
}

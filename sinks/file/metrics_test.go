package file

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// TestFinishTogether: finishing many lanes at once costs one sync per
// directory, and the metrics are right.
func TestFinishTogether(t *testing.T) {
	const n = 30 // less than the number of members that can be open
	dir := t.TempDir()
	out := openLog(t, config(filepath.Join(dir, "{source.relpath}.gz")), "")
	w := newWriter(t, out)
	var lanes []*engine.Lane
	for i := range n {
		lanes = append(lanes, laneOfRel(fmt.Sprintf("%d/%d", i%2, i)))
		w.write(lanes[i], "a line\n")
	}
	w.barrier()
	folders := 0
	inner(out).files.at = func(point string) error {
		if point == "file.before_sync_dir" {
			folders++
		}
		return nil
	}
	must(t, finish(ctx, out, lanes...))
	if folders != 2 {
		t.Errorf("%d directories were synced, want 2", folders)
	}
	m := map[string]float64{}
	out.Metrics(func(name, _, _ string, value float64, labels ...string) { m[name+fmt.Sprint(labels)] = value })
	for name, want := range map[string]float64{
		"sink_syncs_total[]":          2 * n, // the records, and the ends of the members
		"sink_files_finished_total[]": n, "sink_open_descriptors[]": 0, "sink_unsynced_batches[]": 0,
		"sink_retries_total[class file]": 0, "sink_rotations_total[]": 0,
	} {
		if got, ok := m[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if m["sink_file_bytes_total[]"] <= 0 || m["sink_sync_seconds_total[]"] <= 0 {
		t.Errorf("%v", m)
	}
	if left, _ := filepath.Glob(dir + "/*/*.part"); len(left) > 0 {
		t.Errorf("%d files are unfinished", len(left))
	}
}

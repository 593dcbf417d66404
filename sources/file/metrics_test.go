package file

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

// figures returns the metrics by name and labels.
func figures(w *watcher) map[string]float64 {
	m := map[string]float64{}
	w.Metrics(func(name, _, kind string, value float64, labels ...string) {
		if counts := strings.HasSuffix(name, "_total"); counts != (kind == "counter") {
			m["a wrong kind: "+name] = 1
		}
		for i := range labels {
			labels[i] = filepath.Base(labels[i])
		}
		m[name+fmt.Sprint(labels)] += value
	})
	return m
}

// TestMetrics checks that the metrics describe the files, and that their number
// does not grow with the number of files.
func TestMetrics(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	lines := numbered("l", 0, 2000)
	packed := gz(t, strings.Join(lines, ""))
	put(t, filepath.Join(dir, "a.gz"), packed)
	put(t, filepath.Join(dir, "cut.gz"), packed[:len(packed)/2])
	for i := range 100 {
		put(t, filepath.Join(dir, fmt.Sprint(i, ".log")), fmt.Sprintln("line", i))
	}
	sink := &shelf{}
	d := start(t, data, quick(dir), sink, nil)
	until(t, "all files", func() bool {
		m := figures(d.w)
		return m["source_files_finished_total[verdict ok]"] == 1 && m["source_files_finished_total[verdict truncated]"] == 1 &&
			m["source_files[state open]"] == 100 && m["source_lag_bytes[]"] == 0 && m["checkpoint_saves_total[]"] > 0
	})
	m := figures(d.w)
	for name, want := range map[string]float64{
		"source_files[state done]": 1, "source_files[state damaged]": 1, "source_files[state unreadable]": 0, "source_files[state held]": 0,
		"source_truncations_total[]": 0, "source_lost_bytes_total[]": 0, "source_open_descriptors[]": 100, "checkpoint_failures_total[]": 0,
	} {
		if got, ok := m[name]; !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	d.end()

	w := d.w // no reader is running any more
	w.mu.Lock()
	for _, track := range w.known.tracks {
		if track.life == open {
			track.sight.bound, track.atEnd = true, false
			track.sight.file.size += 1000
		}
	}
	w.mu.Unlock()
	m = figures(w)
	if m["source_lag_bytes[]"] != 100*1000 {
		t.Errorf("lag %v", m["source_lag_bytes[]"])
	}
}

// TestMetricsOfManyFiles checks that a scrape of 100,000 idle files is fast,
// has a bounded number of series, and does not wait for a scan.
func TestMetricsOfManyFiles(t *testing.T) {
	store, err := checkpoint.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }() // nothing was stored
	w, err := makeWatcher(WatchConfig{Settings: quick("x"), Framing: lines{}, Host: Host{Store: store}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100_000 {
		s := fileState{path: fmt.Sprint("/logs/", i), stamps: stamps{size: 5000 + int64(i)}}
		t := &track{path: s.path, sight: sighting{bound: true, file: s}, atEnd: i >= 500, asRead: s}
		t.positions = []position{{off: 5000}}
		w.known.tracks = append(w.known.tracks, t)
	}
	series := 0
	scrape := func() {
		series = 0
		w.Metrics(func(string, string, string, float64, ...string) { series++ })
		if err := w.Health(); err != nil {
			t.Error(err)
		}
		w.Damaged(20)
	}
	scrape()
	if s := w.Stats(); s.Open != 100_000 || s.LagBytes != 499*500/2 || series > 80 {
		t.Errorf("%d open, lag %d, %d series", s.Open, s.LagBytes, series)
	}
	w.mu.Lock() // as during a scan
	done := make(chan struct{})
	go func() { defer close(done); scrape() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("scrape waits for a scan")
	}
	w.mu.Unlock()
}

// BenchmarkMetrics measures a scrape of 100,000 idle files.
func BenchmarkMetrics(b *testing.B) {
	w := &watcher{cfg: WatchConfig{Host: Host{Store: new(checkpoint.Store)}}}
	for i := range 100_000 {
		s := fileState{path: fmt.Sprint("/logs/", i), stamps: stamps{size: 5000}}
		w.known.tracks = append(w.known.tracks, &track{path: s.path, sight: sighting{bound: true, file: s}, atEnd: true, asRead: s, positions: []position{{off: 5000}}})
	}
	for b.Loop() {
		w.Metrics(func(string, string, string, float64, ...string) {})
	}
}

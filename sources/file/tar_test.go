package file

import (
	"archive/tar"
	"bytes"
	"path/filepath"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/testkit"
)

// TestTar checks that source and watcher refuse a tar archive with a verdict,
// plain or compressed, and read the log next to it.
func TestTar(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	text := logText(20)
	if err := w.WriteHeader(&tar.Header{Name: "access.log", Mode: 0o644, Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{"a.tar": b.String(), "b.tar.gz": gz(t, b.String()), "c.log": "c\n"})
	s, err := New(Config{Paths: []string{dir}, Framing: lines{}})
	if err != nil {
		t.Fatal(err)
	}
	rt := testkit.NewRuntime(4, 128<<10)
	if err := s.Open(t.Context(), rt); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Reports() {
		if refused := r.Verdict.Kind == compress.UnsupportedFormat; refused != (filepath.Ext(r.Path) != ".log") {
			t.Errorf("%s: %v", r.Path, r.Verdict)
		}
		if got := string(rt.Text(r.Path)); got != "" && got != "c\n" {
			t.Errorf("%s: %d bytes emitted", r.Path, len(got))
		}
	}
	sink := &shelf{}
	d := start(t, t.TempDir(), batch(dir), sink, nil)
	d.wait()
	if sink.count() != 1 {
		t.Errorf("watcher emitted %d records", sink.count())
	}
	kinds := map[string]compress.Kind{}
	for _, r := range d.reports {
		kinds[filepath.Base(r.Path)] = r.Verdict.Kind
	}
	if kinds["a.tar"] != compress.UnsupportedFormat || kinds["b.tar.gz"] != compress.UnsupportedFormat || kinds["c.log"] != compress.OK {
		t.Errorf("watcher reported %v", kinds)
	}
}

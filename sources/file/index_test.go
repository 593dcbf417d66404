package file

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// indexRun opens the input as Run does, reads it, and returns the text, the
// verdict and the log.
func indexRun(t *testing.T, path, index string, intact bool) (text []byte, log string) {
	t.Helper()
	var b bytes.Buffer
	s, err := New(Config{Paths: []string{path}, Framing: lines{}, Index: index, Logger: slog.New(slog.NewTextHandler(&b, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Paths(); err != nil {
		t.Fatal(err)
	}
	st, err := s.open(t.Context(), s.inputs[0])
	if err != nil || st == nil {
		t.Fatalf("%v, %v", err, s.inputs[0].report.Verdict)
	}
	text, err = readAllOf(st)
	if err != nil {
		t.Fatal(err)
	}
	st.complete = intact && st.zr.Verdict().Kind == compress.OK
	st.close()
	return text, b.String()
}

func readAllOf(st *stream) ([]byte, error) {
	var b bytes.Buffer
	_, err := b.ReadFrom(onlyRead{st.zr})
	return b.Bytes(), err
}

// TestIndexFile follows an index: written by the first run, read by the second,
// replaced after the input has changed, and left alone if it is not ours.
func TestIndexFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	var text bytes.Buffer
	for i := range 150_000 {
		fmt.Fprintf(&text, "https://www.example.com/page/%x\n", uint64(i)*0x9e3779b97f4a7c15)
	}
	path := filepath.Join(dir, "access.log.gz")
	write := func(text []byte) {
		t.Helper()
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text.Bytes())
	run := func(index, want string) {
		t.Helper()
		got, log := indexRun(t, path, index, true)
		if !bytes.Equal(got, text.Bytes()) {
			t.Fatalf("%d bytes instead of %d", len(got), text.Len())
		}
		if want == "" && log != "" || !strings.Contains(log, want) {
			t.Errorf("log %q, want %q", log, want)
		}
	}
	for _, index := range []string{filepath.Join(dir, "x.gzidx"), filepath.Join(dir, "x.gzi"), IndexAuto} {
		if _, log := indexRun(t, path, index, false); log != "" { // the run has stopped
			t.Errorf("log %q", log)
		}
		run(index, "index written")
		run(index, "")
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
		run(index, "modified after the index was written")
		run(index, "")
		text.WriteString("another line\n")
		write(text.Bytes())
		run(index, "stale index")
		run(index, "")
	}
	// A file that is no index stays as it is.
	foreign := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(foreign, []byte("not an index"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(foreign, "index not used")
	if got, err := os.ReadFile(foreign); err != nil || string(got) != "not an index" {
		t.Errorf("%q, %v", got, err)
	}
	// With auto, an index beside the input is used.
	if err := os.WriteFile(filepath.Join(dir, "access.log.gzi"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(IndexAuto, "access.log.gzi")
}

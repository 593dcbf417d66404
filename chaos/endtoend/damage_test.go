package endtoend

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/chaos"
)

// TestDamageIsShown checks that the status page, /status.json and the metrics
// show a damaged archive with its verdict and position, also after a restart,
// until an intact file replaces it.
func TestDamageIsShown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := packed(t, 10_000)
	write := func(data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "a.gz"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cut := len(whole) / 2
	write(whole[:cut])
	config := fmt.Sprintf(`
version: 1
data_dir: %s
sources: [{file: {from: lines, include: ["%s/*.gz"], mode: tail, damage_after: 10ms}}]
sinks: [{file: {path: %s}}]
commit_interval: 50ms
admin: {listen: "127.0.0.1:0"}
`, filepath.Join(dir, "state"), dir, filepath.Join(dir, "out.log"))
	p := start(t, config)
	wantShown(t, p, 1, int64(cut))
	stop(t, p)
	p = start(t, config)
	wantShown(t, p, 1, int64(cut))
	write(whole)
	wantShown(t, p, 0, 0)
	stop(t, p)
}

// packed returns n compressed lines.
func packed(t *testing.T, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for i := range n {
		if _, err := fmt.Fprintf(z, "http://h.example/%d\n", i*i); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// wantShown waits until p shows count damaged files, the first of them
// truncated at the given byte.
func wantShown(t *testing.T, p *chaos.Process, count int, at int64) {
	t.Helper()
	ctx := context.Background()
	var shown struct {
		Damaged struct {
			Count int
			Files []struct {
				Path, Source, Verdict string
				Offset                int64
			}
		} `json:"damaged_files"`
	}
	until(t, fmt.Sprintf("%d damaged files are shown", count), func() bool {
		_, body, err := p.Get(ctx, "/status.json")
		if err != nil {
			return false
		}
		m, err := p.Scrape(ctx)
		return json.Unmarshal(body, &shown) == nil && shown.Damaged.Count == count &&
			err == nil && m.Sum("urlfold_source_damaged_files", `verdict="truncated"`) == float64(count) &&
			m.Sum("urlfold_source_files_finished_total", `verdict="ok"`) == float64(1-count)
	})
	_, page, err := p.Get(ctx, "/")
	if err != nil {
		t.Fatal(err)
	}
	if has := strings.Contains(string(page), "Damaged files"); has != (count > 0) {
		t.Errorf("the page has the section: %v", has)
	}
	if count == 0 {
		return
	}
	if f := shown.Damaged.Files[0]; f.Verdict != "truncated" || f.Offset != at || f.Source != "file-1" || !strings.HasSuffix(f.Path, "a.gz") {
		t.Errorf("%+v, want truncated at %d", f, at)
	}
}

package file

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// wantDamage checks that w lists a damaged file with its verdict and position,
// and counts it. With an empty kind it checks that w lists and counts nothing.
func wantDamage(t *testing.T, w *watcher, name, kind string) {
	t.Helper()
	list, counts := w.Damaged(10)
	figures := map[string]float64{}
	w.Metrics(func(name, _, _ string, value float64, labels ...string) {
		figures[name+" "+strings.Join(labels, " ")] = value
	})
	for k := compress.OK; k <= compress.Unreadable; k++ {
		want := 0.0
		if k.String() == kind {
			want = 1
		}
		if _, ok := figures["source_files_finished_total verdict "+k.String()]; !ok {
			t.Errorf("%s: no metric for the verdict %v, so an alert would miss the first one", name, k)
		}
		if got := figures["source_damaged_files verdict "+k.String()]; got != want {
			t.Errorf("%s: %v files with verdict %v, want %v", name, got, k, want)
		}
	}
	if kind == "" {
		if len(list)+len(counts) > 0 {
			t.Errorf("%s: damaged: %+v, %v", name, list, counts)
		}
		return
	}
	if len(list) != 1 || counts[kind] != 1 || !strings.HasSuffix(list[0].Path, name) || list[0].Verdict != kind || list[0].Offset < 1 ||
		!strings.HasPrefix(list[0].Text, kind) {
		t.Errorf("%s: damaged: %+v, %v", name, list, counts)
	}
}

func TestParseDamage(t *testing.T) {
	f := func(text, verdict string, offset int64) {
		t.Helper()
		if d := parseDamage("p", text); d != (Damage{"p", verdict, offset, text}) {
			t.Errorf("%q: %+v", text, d)
		}
	}
	f("bad-crc at byte 17: the CRC is wrong", "bad-crc", 17)
	f("truncated at byte 0", "truncated", 0)
	f("unreadable", "unreadable", -1)
	f("", "", -1)
}

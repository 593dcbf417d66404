package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
	source "github.com/urlfold/urlfold/sources/file"
)

// everySecond is a engine.Filter that drops every second record.
type everySecond struct{ n int }

func (f *everySecond) Filter(b *engine.Batch, keep engine.Keep) error {
	for i := range b.Out.Recs {
		if f.n++; f.n%2 == 0 {
			keep.Drop(i)
		}
	}
	return nil
}

// TestFilter: the records of several inputs that a filter keeps are in a
// compressed output, in order and unchanged, along with records in pieces and
// dead letters.
func TestFilter(t *testing.T) {
	p, _ := codec.Lookup("equiv")
	norm, err := codec.New(p)
	must(t, err)
	for _, render := range []record.Render{record.RenderRewrite, record.RenderKeys} {
		dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out.zst")
		var want, letters []string
		n := 0
		for i := range 5 {
			var text strings.Builder
			for k := range 3000 {
				rec := fmt.Sprintf("HTTP://h%d/%d", i, k)
				if k%100 == 99 {
					rec = fmt.Sprintf("http://[%d", k)
				} else if k%1000 == 500 {
					rec += strings.Repeat("x", 300<<10)
				}
				text.WriteString(rec + "\n")
				long := len(rec) > 64<<10
				switch {
				case k%100 == 99:
					letters = append(letters, rec)
					continue
				case long && render != record.RenderRewrite:
					continue // dropped
				}
				if n++; n%2 == 0 {
					continue
				}
				if !long {
					rec = strings.ToLower(rec)
				}
				want = append(want, rec)
			}
			writeInput(t, filepath.Join(dir, fmt.Sprint(i)), text.String())
		}
		job, err := record.New(record.Config{Format: "lines", Normalizer: norm, Render: render, Facts: true, OnRejected: record.DispositionDead, OnOversize: record.DispositionPass, MaxRecord: 64 << 10})
		must(t, err)
		src, err := source.New(source.Config{Paths: []string{dir}, Framing: job.Framing(), Parallel: 3, MaxRecord: 64 << 10})
		must(t, err)
		sink, err := New(Config{Path: out})
		must(t, err)
		dead, err := New(Config{Path: filepath.Join(t.TempDir(), "dead.zst")})
		must(t, err)
		pipe, err := engine.New(engine.Options{
			Sources: []engine.Source{src}, Sinks: []engine.Sink{sink}, DeadLetter: dead, Filter: &everySecond{},
			NewCodec: engine.NewRecordCodec(job), Workers: 4, Ordering: engine.OrderInput, BatchBytes: 16 << 10,
		})
		must(t, err)
		must(t, pipe.Run(context.Background()))
		must(t, sink.Publish())
		r := treeRun{out: filepath.Dir(out)}
		got := strings.Split(strings.TrimSuffix(r.read(t, "out.zst"), "\n"), "\n")
		if len(got) != len(want) {
			t.Fatalf("%v: %d records, want %d", render, len(got), len(want))
		}
		for i := range got {
			if _, url, ok := strings.Cut(got[i], "\t"); ok {
				got[i] = url
			}
			if got[i] != want[i] {
				t.Fatalf("%v: record %d is %.40q, want %.40q", render, i, got[i], want[i])
			}
		}
		l := pipe.Snapshot().Ledger
		if !l.Balanced() || int(l.Emitted) != len(want) || int(l.Dead) != len(letters) || int(l.Duplicates) != n-len(want) {
			t.Errorf("%v: %+v", render, l)
		}
	}
}

func writeInput(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

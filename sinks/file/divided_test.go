package file

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
	source "github.com/urlfold/urlfold/sources/file"
)

// runDivided writes the CSV files of r to an output for each of the hosts h0, h1, …, and
// returns its sink and the error of the pipeline.
func (r *treeRun) runDivided(t *testing.T, cfg DividedConfig, ext string) (Tree, error) {
	t.Helper()
	p, _ := codec.Lookup("equiv")
	norm, err := codec.New(p)
	must(t, err)
	job, err := record.New(record.Config{Format: "csv", URLField: "u", Normalizer: norm, Route: []record.Branch{{To: 1, ToHost: func(host []byte) uint64 {
		n := uint64(0)
		for _, c := range host[min(1, len(host)):] {
			n = 10*n + uint64(c-'0')
		}
		return n<<1 | 1
	}}}})
	must(t, err)
	src, err := source.New(source.Config{Paths: []string{r.in}, Framing: job.Framing(), Parallel: 4})
	must(t, err)
	cfg.PathOf = func(to uint64) string { return filepath.Join(r.out, fmt.Sprint("h", to>>1, ext)) }
	cfg.Other, cfg.Logger = filepath.Join(r.out, "other"+ext), slog.New(slog.DiscardHandler)
	divided, err := NewDivided(cfg)
	must(t, err)
	pipe, err := engine.New(engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{divided},
		NewCodec: engine.NewRecordCodec(job), Workers: 4, Ordering: engine.OrderInput,
	})
	must(t, err)
	return divided, pipe.Run(t.Context())
}

// TestDivided: each output has the header and its own records, in order. The records of the
// hosts beyond the maximum are in one output.
func TestDivided(t *testing.T) {
	for _, ext := range []string{"", ".gz", ".zst"} {
		for _, unbuffered := range []bool{false, true} {
			r := newTreeRun(t)
			want := map[string]string{}
			random := rand.New(rand.NewPCG(1, 2))
			var text strings.Builder
			text.WriteString("n,u\n")
			for i := range 2_000 {
				host := min(i, random.IntN(9))
				line := fmt.Sprintf("%d,http://h%d/%[1]d", i, host)
				text.WriteString(line)
				if i < 1_999 {
					text.WriteByte('\n')
					line += "\n"
				}
				name := fmt.Sprint("h", host, ext)
				if _, known := want[name]; !known && len(want) >= 5 {
					name = "other" + ext
				}
				if want[name] == "" {
					want[name] = "n,u\n"
				}
				want[name] += line
			}
			r.input(t, "a.csv", text.String())
			divided, err := r.runDivided(t, DividedConfig{Most: 5, Config: Config{Unbuffered: unbuffered}}, ext)
			must(t, err)
			must(t, divided.PublishEmpty(nil))
			for name, text := range want {
				if got := r.read(t, name); got != text {
					t.Errorf("%s has %d bytes of %d", name, len(got), len(text))
				}
			}
			files, _ := os.ReadDir(r.out)
			if len(files) != 6 || len(divided.Parts()) > 0 {
				t.Errorf("%d files, parts %q", len(files), divided.Parts())
			}
		}
	}
}

// TestDividedFails: if one output cannot be written, none gets its final name.
func TestDividedFails(t *testing.T) {
	r := newTreeRun(t)
	r.input(t, "a.csv", "n,u\n0,http://h0/\n1,http://h1/\n")
	must(t, os.WriteFile(filepath.Join(r.out, "h1"), []byte("mine"), 0o600))
	divided, err := r.runDivided(t, DividedConfig{Most: 5}, "")
	if !errors.Is(err, ErrExists) {
		t.Errorf("the run ends with %v", err)
	}
	parts := divided.Parts()
	_, err = os.Stat(filepath.Join(r.out, "h0"))
	if err == nil || slices.ContainsFunc(parts, func(name string) bool { return !strings.HasSuffix(name, partSuffix) }) || content(t, filepath.Join(r.out, "h1")) != "mine" {
		t.Errorf("h0: %v, parts %q", err, parts)
	}
}

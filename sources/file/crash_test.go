package file

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// members returns text compressed as n gzip members.
func members(t testing.TB, f compress.Format, text string, n int) string {
	t.Helper()
	pack, err := compress.NewPack(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b []byte
	for i := range n {
		b = append(b, pack(nil, []byte(text[i*len(text)/n:(i+1)*len(text)/n]))...)
	}
	return string(b)
}

// noisy returns n lines that compress poorly, so that there are many blocks.
func noisy(name string, n int) []string {
	rnd := rand.New(rand.NewPCG(3, uint64(n)))
	lines := numbered(name, 0, n)
	for i := range lines {
		var b strings.Builder
		for range rnd.IntN(200) {
			b.WriteByte(byte('!' + rnd.IntN(90)))
		}
		lines[i] = strings.TrimSuffix(lines[i], "\n") + b.String() + "\n"
	}
	return lines
}

// TestCrash kills a daemon repeatedly while it reads. With outputs that are
// truncated to the stored extents, every line is emitted once, and each restart
// begins at most one restart interval and a little before its position.
func TestCrash(t *testing.T) {
	lines := noisy("l", 16000)
	text := strings.Join(lines, "")
	inputs := map[string]string{
		"plain": text, "gzip-1.gz": gz(t, text),
		"gzip-1000.gz": members(t, compress.Gzip, text, 1000),
		"zstd-1.zst":   members(t, compress.Zstd, text, 1), "zstd-100.zst": members(t, compress.Zstd, text, 100),
	}
	for name, content := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(5, 5))
			dir, data := t.TempDir(), t.TempDir()
			put(t, filepath.Join(dir, name), content)
			set := batch(dir)
			set.RestartPointEvery = 256 << 10
			sink := &shelf{exact: true}
			resumed := 0
			for range 8 {
				limit := rnd.IntN(len(lines))
				hit := make(chan struct{}, 1)
				sink.full = func(n int) {
					if n >= limit {
						select {
						case hit <- struct{}{}:
						default:
						}
					}
				}
				d := start(t, data, set, sink, nil)
				select {
				case <-hit:
					d.kill()
				case err := <-d.done:
					d.done <- err
					d.wait()
				}
				s := d.w.Stats()
				if s.Reinflated > 0 {
					resumed++
				}
				if name != "zstd-1.zst" && s.Reinflated > 512<<10 {
					t.Errorf("%d bytes decompressed again", s.Reinflated)
				}
			}
			sink.full = nil
			d := start(t, data, set, sink, nil)
			d.wait()
			sink.check(t, lines)
			if v := d.w.Stats().Verdicts; v["ok"] != 1 && len(d.reports) != 0 {
				t.Errorf("verdicts %v", v)
			}
			if resumed < 2 && name != "plain" {
				t.Errorf("only %d runs resumed within the file", resumed)
			}
			checkRestarts(t, data)
		})
	}
}

// checkRestarts fails the test if unneeded restart points remain.
func checkRestarts(t *testing.T, data string) {
	t.Helper()
	names, err := os.ReadDir(filepath.Join(data, "restart"))
	if err != nil || len(names) > 2 {
		t.Errorf("%d restart points remain, %v", len(names), err)
	}
}

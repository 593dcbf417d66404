package compress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// benchText returns blocks of an access log: from the corpora if they are
// available, else made of the 40 lines in testdata.
func benchText(b *testing.B) []byte {
	if root := os.Getenv("URLFOLD_CORPORA"); root != "" {
		names, _ := filepath.Glob(filepath.Join(root, "logs", "combined", "*"))
		for _, name := range names {
			if fi, err := os.Stat(name); err == nil && fi.Size() > 1<<20 {
				return readFile(b, name)
			}
		}
	}
	return bytes.Repeat(readFile(b, "testdata/access.log"), 200)
}

// BenchmarkPack packs blocks of 128 KiB. "out/in" is the relative size of the
// result.
func BenchmarkPack(b *testing.B) {
	const block = 128 << 10
	text := benchText(b)
	for _, c := range []struct {
		format Format
		levels int
	}{{Gzip, 9}, {Zstd, 4}} {
		for level := 1; level <= c.levels; level++ {
			b.Run(fmt.Sprintf("%v/%d", c.format, level), func(b *testing.B) {
				pack, err := NewPack(c.format, level)
				if err != nil {
					b.Fatal(err)
				}
				var in, out int64
				var dst []byte
				b.ReportAllocs()
				for i := range b.N {
					at := i * block % (len(text) - block)
					dst = pack(dst[:0], text[at:at+block])
					in += block
					out += int64(len(dst))
				}
				b.SetBytes(block)
				b.ReportMetric(float64(out)/float64(in), "out/in")
			})
		}
	}
}

func BenchmarkReader(b *testing.B) {
	text := benchText(b)
	for _, c := range []struct {
		name   string
		packed []byte
	}{{"plain", text}, {"gzip", gz(b, text)}, {"zstd", zst(b, text)}, {"lz4", lz(b, text)}, {"s2", s2x(b, text)}} {
		b.Run(c.name, func(b *testing.B) {
			buf := make([]byte, 128<<10)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for range b.N {
				r := NewReader(bytes.NewReader(c.packed), Options{})
				for err := error(nil); err != io.EOF; {
					_, err = r.Read(buf)
				}
				r.Close()
			}
		})
	}
}

// BenchmarkRestart reads 200 MB of an access log, as gzip and zstd, with
// restart points every 64 MiB, every 1 MiB, and without. The flushed file has
// the shortest blocks that occur in practice: its writer flushed after each
// line.
func BenchmarkRestart(b *testing.B) {
	log := benchText(b)
	text := bytes.Repeat(log, 200_000_000/len(log)+1)[:200_000_000]
	pack, err := NewPack(Zstd, 0)
	if err != nil {
		b.Fatal(err)
	}
	var frames []byte
	for chunk := range slices.Chunk(text, 128<<10) {
		frames = pack(frames, chunk)
	}
	for _, c := range []struct {
		name   string
		packed []byte
	}{{"gzip", gz(b, text)}, {"gzip-flushed", gzLines(b, text)}, {"zstd-frames", frames}} {
		for _, every := range []int64{0, DefaultRestartEvery, 1 << 20} {
			b.Run(fmt.Sprintf("%s/every=%dMiB", c.name, every>>20), func(b *testing.B) {
				buf := make([]byte, 128<<10)
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				points, last := 0, int64(0)
				for b.Loop() {
					r := NewReader(bytes.NewReader(c.packed), Options{RestartEvery: every})
					for err := error(nil); err != io.EOF; {
						_, err = r.Read(buf)
						if p, ok := r.RestartPoint(); ok && p.Offset() != last {
							last = p.Offset()
							points++
						}
					}
					r.Close()
				}
				b.ReportMetric(float64(points)/float64(b.N), "points/op")
			})
		}
	}
}

// gzLines compresses text to one member, with a flush after each line.
func gzLines(b *testing.B, text []byte) []byte {
	return encode(b, text, func(w io.Writer) (io.WriteCloser, error) { return lineFlusher{gzip.NewWriter(w)}, nil })
}

type lineFlusher struct{ *gzip.Writer }

func (w lineFlusher) Write(p []byte) (int, error) {
	for line := range bytes.Lines(p) {
		if _, err := w.Writer.Write(line); err != nil {
			return 0, err
		}
		if err := w.Flush(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

package compress

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// benchText returns blocks of an access log: of the corpora if they are there,
// else of our own 40 lines.
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

// BenchmarkPack packs blocks of 128 KiB. "out/in" is the size of the result.
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

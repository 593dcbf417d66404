package compress

import (
	"bytes"
	"compress/gzip"
	"runtime"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// blocks returns text compressed with each method.
func blocks(t *testing.T, text []byte) map[Method][]byte {
	t.Helper()
	var gz, br bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, _ = w.Write(text)
	_ = w.Close()
	b := brotli.NewWriter(&br)
	_, _ = b.Write(text)
	_ = b.Close()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	l := make([]byte, lz4.CompressBlockBound(len(text)))
	n, err := lz4.CompressBlock(text, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	size := []byte{byte(len(text) >> 24), byte(len(text) >> 16), byte(len(text) >> 8), byte(len(text)), byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
	return map[Method][]byte{
		BlockNone: text, BlockSnappy: snappy.Encode(nil, text), BlockGzip: gz.Bytes(), BlockBrotli: br.Bytes(),
		BlockZstd: z.EncodeAll(text, nil), BlockLZ4: l[:n], BlockHadoopLZ4: append(size, l[:n]...),
	}
}

// TestBlocks checks that blocks have exactly the announced length, and that the
// memory does not depend on what a block holds.
func TestBlocks(t *testing.T) {
	text := bytes.Repeat([]byte("http://h/"), 1000)
	var b Blocks
	for method, block := range blocks(t, text) {
		for range 2 { // a decoder is used again
			got := make([]byte, len(text))
			if err := b.Decode(got, block, method); err != nil || !bytes.Equal(got, text) {
				t.Errorf("method %d: %v", method, err)
			}
			for _, size := range []int{0, 1, len(text) - 1, len(text) + 1} {
				if err := b.Decode(make([]byte, size), block, method); err == nil {
					t.Errorf("method %d: a block of %d bytes fills %d", method, len(text), size)
				}
			}
		}
		if method != BlockNone && method != BlockHadoopLZ4 {
			if err := b.Decode(make([]byte, len(text)), block[:len(block)-1], method); err == nil {
				t.Errorf("method %d: a truncated block is accepted", method)
			}
		}
	}
	damaged := blocks(t, text)[BlockGzip]
	damaged[len(damaged)-8] ^= 1 // the checksum
	if err := b.Decode(make([]byte, len(text)), damaged, BlockGzip); err == nil {
		t.Error("a wrong checksum is accepted")
	}
	if err := b.Decode(nil, nil, 3); err == nil {
		t.Error("LZO is accepted")
	}
}

// TestBlockBombs checks that a page that announces 100 bytes costs no more
// memory if it holds 64 MiB.
func TestBlockBombs(t *testing.T) {
	bombs := blocks(t, make([]byte, 64<<20))
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0} // snappy, 4 GiB
	b := new(Blocks)
	for method, block := range bombs {
		for _, block := range [][]byte{block, huge} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := b.Decode(make([]byte, 100), block, method); err == nil {
				t.Errorf("method %d: a bomb is accepted", method)
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 24<<20 { // windows of decoders
				t.Errorf("method %d: %d MiB allocated", method, n>>20)
			}
		}
	}
}

// TestInflateBlock checks that Inflate reuses memory, allocates what it needs and no more,
// and reports all damage.
func TestInflateBlock(t *testing.T) {
	var b Blocks
	var buf []byte
	for _, size := range []int{0, 1, 1000, 300_000, 310_000, 5000, 1 << 20} {
		text := bytes.Repeat([]byte("0123456789abcdef!"), size/17+1)[:size]
		var packed bytes.Buffer
		w, _ := flate.NewWriter(&packed, 1)
		_, _ = w.Write(text)
		_ = w.Close()
		before := cap(buf)
		out, err := b.Inflate(buf, packed.Bytes(), size)
		if err != nil || !bytes.Equal(out, text) || size <= before && cap(out) != before || cap(out) > max(before, size+80<<10) {
			t.Fatalf("%d bytes with room for %d: %d, room for %d, %v", size, before, len(out), cap(out), err)
		}
		buf = out[:0]
		for _, room := range [][]byte{nil, make([]byte, 0, size), make([]byte, 0, size+1)} {
			if _, err := b.Inflate(room, packed.Bytes(), max(size-1, 0)); size > 0 && err == nil {
				t.Errorf("%d bytes with room for %d and a limit of one byte less: no error", size, cap(room))
			}
			if _, err := b.Inflate(room, packed.Bytes()[:packed.Len()-1], size); err == nil {
				t.Errorf("%d bytes, cut, with room for %d: no error", size, cap(room))
			}
		}
	}
}

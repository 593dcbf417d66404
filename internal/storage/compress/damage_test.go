package compress

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"

	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// TestZstdCorruptBlock checks that the verdict is the decoder's finding about
// the block, even if its goroutines have already read to the end of the file.
func TestZstdCorruptBlock(t *testing.T) {
	packed, err := hex.DecodeString("28b52ffd0458d50000a8687474703a2f2f612e6578616d706c652f310a320a01006d9e618af981bb")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 2, 4} {
		if _, v := read(t, packed, Options{Concurrency: n}); v.Kind != Corrupt || !v.Cut {
			t.Errorf("%d goroutines: %v", n, v)
		}
	}
	// Earlier blocks are delivered, and later frames do not hide the damage.
	text := bytes.Repeat(readFile(t, "testdata/access.log"), 200)
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	var ends []int
	for part := text; len(part) > 0; part = part[min(len(part), 100<<10):] {
		if _, err := w.Write(part[:min(len(part), 100<<10)]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, b.Len())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bad := append(bytes.Clone(b.Bytes()), b.Bytes()...)
	clear(bad[ends[5]+20 : ends[5]+60])
	for _, n := range []int{1, 4} {
		out, v := read(t, bad, Options{Concurrency: n})
		if v.Kind != Corrupt || len(out) < 6*100<<10 || !bytes.HasPrefix(text, out[:6*100<<10]) {
			t.Errorf("%d goroutines: %d bytes, %v", n, len(out), v)
		}
	}
}

// TestXZBeforeDamage checks that everything that can be decoded of a chunk
// before the damage is delivered, and does not count as verified.
func TestXZBeforeDamage(t *testing.T) {
	text := mixed(t, 600<<10)
	packed := encode(t, text, func(w io.Writer) (io.WriteCloser, error) {
		return xz.WriterConfig{BlockSize: 250 << 10}.NewWriter(w)
	})
	before := 0
	step := len(packed) / 150
	for at := 40; at < len(packed)-100; at += step {
		r := NewReader(bytes.NewReader(packed[:at]), Options{})
		out, v := drain(t, r)
		if !bytes.HasPrefix(text, out) || len(out) < before || v.Kind != Truncated {
			t.Fatalf("cut at %d of %d: %d bytes after %d, %v", at, len(packed), len(out), before, v)
		}
		if at > 40 && len(out)-before < step*9/10 { // a byte of the text takes at most one byte
			t.Errorf("cut at %d of %d: %d bytes, and %d at the last cut", at, len(packed), len(out), before)
		}
		before = len(out)
		if verified, sums := r.Verified(); verified != int64(len(out))/(250<<10)*(250<<10) || !sums {
			t.Errorf("cut at %d of %d: %d of %d bytes are verified", at, len(packed), verified, len(out))
		}
	}
	for range 2 { // first with a wrong block check, then without any
		r := NewReader(bytes.NewReader(packed), Options{})
		if out, v := drain(t, r); v.Kind != OK || !bytes.Equal(out, text) {
			t.Errorf("%d bytes of %d, %v", len(out), len(text), v)
		}
		packed = encode(t, text, func(w io.Writer) (io.WriteCloser, error) {
			return xz.WriterConfig{NoCheckSum: true}.NewWriter(w)
		})
	}
	r := NewReader(bytes.NewReader(packed), Options{})
	drain(t, r)
	if verified, sums := r.Verified(); verified != 0 || sums {
		t.Errorf("without checks, %d bytes are verified, checksummed %v", verified, sums)
	}
}

// TestLZ4BeforeDamage checks that the bytes before the damage are delivered for
// a block without a checksum, and that a block with a checksum is held back.
func TestLZ4BeforeDamage(t *testing.T) {
	text := mixed(t, 300<<10)
	for _, sums := range []bool{false, true} {
		packed := encode(t, text, func(w io.Writer) (io.WriteCloser, error) {
			z := lz4.NewWriter(w)
			return z, z.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.BlockChecksumOption(sums), lz4.ConcurrencyOption(1))
		})
		second := 7 + 4 + int(binary.LittleEndian.Uint32(packed[7:])&^lz4Stored)
		if sums {
			second += 4
		}
		size := int(binary.LittleEndian.Uint32(packed[second:]) &^ lz4Stored)
		bad := bytes.Clone(packed)
		clear(bad[second+4+size/2 : second+4+size/2+40])
		for name, p := range map[string][]byte{"zeroed": bad, "cut": packed[:second+4+size/2]} {
			r := NewReader(bytes.NewReader(p), Options{})
			out, v := drain(t, r)
			verified, checksummed := r.Verified()
			if !v.Damage() || !bytes.HasPrefix(out, text[:64<<10]) || !checksummed {
				t.Errorf("%s, block checksums %v: %d bytes, %v", name, sums, len(out), v)
			}
			switch {
			case sums && (len(out) != 64<<10 || verified != 64<<10):
				t.Errorf("%s: %d bytes and %d verified, want the first block", name, len(out), verified)
			case !sums && (verified != 0 || len(out) < 80<<10 || !bytes.HasPrefix(out, text[:80<<10])):
				t.Errorf("%s: %d bytes and %d verified", name, len(out), verified)
			}
		}
	}
}

// TestLZ4Frames checks frames in the forms that other programs write.
func TestLZ4Frames(t *testing.T) {
	text := mixed(t, 300<<10)
	f := func(name string, want bool, opt ...lz4.Option) {
		t.Helper()
		packed := encode(t, text, func(w io.Writer) (io.WriteCloser, error) {
			z := lz4.NewWriter(w)
			return z, z.Apply(append(opt, lz4.ConcurrencyOption(1))...)
		})
		skippable := []byte("\x51\x2a\x4d\x18\x03\x00\x00\x00abc")
		r := NewReader(bytes.NewReader(bytes.Join([][]byte{packed, skippable, packed}, nil)), Options{})
		out, v := drain(t, r)
		_, sums := r.Verified()
		if v.Kind != OK || !bytes.Equal(out, append(bytes.Clone(text), text...)) || sums != want {
			t.Errorf("%s: %d bytes of %d, checksummed %v, %v", name, len(out), 2*len(text), sums, v)
		}
	}
	f("plain", true)
	f("block checksums only", true, lz4.BlockChecksumOption(true), lz4.ChecksumOption(false))
	f("no checksums", false, lz4.ChecksumOption(false))
	f("size", true, lz4.SizeOption(uint64(len(text))))
	f("legacy", false, lz4.LegacyOption(true))
	for size := range 100 {
		part := text[:size]
		packed := encode(t, part, func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil })
		if out, v := read(t, packed, Options{}); v.Kind != OK || !bytes.Equal(out, part) {
			t.Errorf("%d bytes: %v", size, v)
		}
	}
}

// TestBzip2HeldBack checks that a block with a wrong CRC is not delivered, and
// that the blocks before it are delivered and verified.
func TestBzip2HeldBack(t *testing.T) {
	packed := readFile(t, "testdata/access.log.bz2")
	text := readFile(t, "testdata/access.log")
	for _, at := range []int{11, 200, 700} { // the CRC of the block, its tables, its data
		bad := append(bytes.Clone(packed), packed...)
		bad[len(packed)+at] ^= 0x10
		r := NewReader(bytes.NewReader(bad), Options{})
		out, v := drain(t, r)
		verified, sums := r.Verified()
		if !v.Damage() || !bytes.Equal(out, text) || verified != int64(len(text)) || !sums {
			t.Errorf("byte %d: %d bytes, %d verified, %v", at, len(out), verified, v)
		}
	}
}

// TestGzipTail checks that all complete symbols of a truncated member are
// delivered. TestGzipTail of module chaos compares that with the gzip program.
func TestGzipTail(t *testing.T) {
	var text []byte
	for i := range 3000 { // short lines, so that some line end is among the last symbols
		text = fmt.Appendf(text, "%c%d\n", 'a'+i*7%23, i%10)
	}
	packed := gz(t, text)
	const header = 10
	for n := header; n < len(packed)-8; n++ {
		want, err := io.ReadAll(inflate.NewReader(bytes.NewReader(packed[header:n]), nil, 0))
		if err != io.ErrUnexpectedEOF {
			t.Fatalf("cut at %d: %v", n, err)
		}
		for _, every := range []int64{0, 1000, math.MaxInt64} {
			if out, v := read(t, packed[:n], Options{RestartEvery: every}); v.Kind != Truncated || !bytes.Equal(out, want) {
				t.Fatalf("cut at %d, points every %d: %d bytes, want %d: %v", n, every, len(out), len(want), v)
			}
		}
	}
}

// TestZstdSalvage checks that the part decoded before the damage is delivered
// for a block with damaged literals, as with the zstd program, whether or not
// goroutines ran ahead.
func TestZstdSalvage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var text []byte
	for n := 0; len(text) < 400<<10; n++ {
		text = fmt.Appendf(text, "http://h%d.example/%x?id=%d&session=%x\n", rng.IntN(50), rng.IntN(1<<16), n, rng.Uint32())
	}
	packed := zst(t, text)
	came := 0
	for at := 5000; at < 25000; at += 500 {
		bad := bytes.Clone(packed)
		clear(bad[at : at+3])
		for _, n := range []int{1, 4} {
			r := NewReader(bytes.NewReader(bad), Options{Concurrency: n})
			out, v := drain(t, r)
			if !v.Damage() {
				t.Errorf("byte %d, %d goroutines: %v", at, n, v)
			}
			if len(out) > 0 && bytes.HasPrefix(out, text[:500]) {
				came++
			}
		}
	}
	if came < 8 {
		t.Errorf("only %d files delivered data of the first block", came)
	}
}

// TestZstdCutChecksum checks that a frame truncated in its checksum delivers
// all of its blocks.
func TestZstdCutChecksum(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	for _, frames := range []int{1, 3} {
		packed := bytes.Repeat(zst(t, text), frames)
		for cut := 1; cut <= 4; cut++ {
			for _, n := range []int{1, 4} {
				out, v := read(t, packed[:len(packed)-cut], Options{Concurrency: n})
				if v.Kind != Truncated || !bytes.Equal(out, bytes.Repeat(text, frames)) {
					t.Errorf("%d frames less %d bytes, %d goroutines: %d bytes, %v", frames, cut, n, len(out), v)
				}
			}
		}
	}
}

// TestSkippedData checks that a data chunk whose type was changed to a
// skippable one counts as damage, and that other skippable chunks do not.
func TestSkippedData(t *testing.T) {
	text := mixed(t, 300<<10) // with incompressible parts
	for _, pack := range []func(testing.TB, []byte) []byte{s2x, snap} {
		packed := pack(t, text)
		kinds := map[byte]int{}
		for at := 10; at < len(packed); at += 4 + int(littleEndian(packed[at+1:at+4])) {
			bad := bytes.Clone(packed)
			bad[at] ^= 0x80
			if out, v := read(t, bad, Options{}); v.Kind != Corrupt || !bytes.HasPrefix(text, out) {
				t.Fatalf("the chunk at %d of type %d: %d bytes, %v", at, packed[at], len(out), v)
			}
			if kinds[packed[at]]++; kinds[packed[at]] == 20 {
				break
			}
		}
		other := append(bytes.Clone(packed), "\x80\x05\x00\x00hello\x81\x02\x00\x00ab\xfe\x01\x00\x00\x00"...)
		if out, v := read(t, other, Options{}); v.Kind != OK || !bytes.Equal(out, text) {
			t.Errorf("skippable chunks: %d bytes of %d, %v", len(out), len(text), v)
		}
		if _, v := read(t, other[:len(other)-12], Options{}); v.Kind != Truncated {
			t.Errorf("cut in a skippable chunk: %v", v)
		}
	}
}

// TestTruncatedThenGrown checks that data appended to a file after its end was
// reached is not read.
func TestTruncatedThenGrown(t *testing.T) {
	for _, s := range samples(t) {
		if s.format == Plain {
			continue
		}
		half := len(s.packed) * 2 / 3
		src := &growing{parts: [][]byte{s.packed[:half], s.packed[half:]}}
		out, v := drain(t, NewReader(src, Options{}))
		if betweenChunks(s, out, v) {
			continue
		}
		if v.Kind != Truncated || v.Offset != int64(half) || len(src.parts) != 1 {
			t.Errorf("%v: %v, %d parts left, want the end at %d", s.format, v, len(src.parts), half)
		}
	}
}

// A growing file reports its end after each part, and then continues.
type growing struct {
	parts [][]byte
	end   bool
}

func (g *growing) Read(p []byte) (int, error) {
	switch {
	case g.end || len(g.parts) == 0:
		g.end = false
		return 0, io.EOF
	case len(g.parts[0]) == 0:
		g.parts, g.end = g.parts[1:], false
		return 0, io.EOF
	}
	n := copy(p, g.parts[0])
	g.parts[0] = g.parts[0][n:]
	return n, nil
}

package inflate

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"
)

// decode returns all output of a stream and how it ended.
func decode(data []byte) ([]byte, error) {
	var out bytes.Buffer
	_, err := io.Copy(&out, errorReader{NewReader(bytes.NewReader(data), nil, 0)})
	return out.Bytes(), errors.Unwrap(err)
}

// An errorReader wraps each error, so that io.Copy returns io.EOF, too.
type errorReader struct{ r io.Reader }

func (e errorReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil {
		err = fmt.Errorf("end: %w", err)
	}
	return n, err
}

// random returns a stream of some random blocks.
func random(rnd *rand.Rand) *writer {
	w := &writer{rnd: rnd}
	for n := rnd.IntN(4); n >= 0; n-- {
		w.block(rnd.IntN(60), n == 0)
	}
	return w
}

// TestExact cuts random streams after each byte: all output of the symbols before
// the cut comes out, and no more.
func TestExact(t *testing.T) {
	for seed := range uint64(200) {
		w := random(rand.New(rand.NewPCG(seed, 1)))
		for n := range w.data {
			out, err := decode(w.data[:n])
			if err != io.ErrUnexpectedEOF || !bytes.Equal(out, w.text[:w.before(8*n)]) {
				t.Fatalf("seed %d, %d of %d bytes: %d bytes, want %d: %v", seed, n, len(w.data), len(out), w.before(8*n), err)
			}
		}
		r := NewReader(iotest.OneByteReader(bytes.NewReader(append(w.data, 0xff))), nil, 0)
		out, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(out, w.text) || r.Offset() != int64(w.bits) {
			t.Fatalf("seed %d: %d bytes of %d, end at bit %d, want %d: %v", seed, len(out), len(w.text), r.Offset(), w.bits, err)
		}
	}
}

// TestOffset: at a cut, Offset is the end of the last complete symbol.
func TestOffset(t *testing.T) {
	w := &writer{rnd: rand.New(rand.NewPCG(1, 2))}
	w.put(1, 1)
	w.put(2, 2)
	w.dynamic(500)
	for n := w.ends[0].bit/8 + 1; n < len(w.data)-2; n++ {
		r := NewReader(bytes.NewReader(w.data[:n]), nil, 0)
		out, _ := io.ReadAll(r)
		for _, e := range w.ends {
			if e.text == len(out) && int(r.Offset()) != e.bit {
				t.Errorf("cut at %d: bit %d, want %d", n, r.Offset(), e.bit)
			}
		}
	}
}

// TestWindow begins at each block of a stream.
func TestWindow(t *testing.T) {
	for seed := range uint64(20) {
		w := &writer{rnd: rand.New(rand.NewPCG(seed, 3))}
		var blocks []end
		for len(w.text) < 3*Window {
			blocks = append(blocks, end{w.bits, len(w.text)})
			w.block(300, false)
		}
		w.block(10, true)
		for _, b := range blocks {
			for _, window := range [][]byte{w.text[:b.text], w.text[max(0, b.text-Window):b.text]} {
				r := NewReader(bytes.NewReader(w.data[b.bit/8:]), window, uint8(b.bit%8))
				out, err := io.ReadAll(r)
				if err != nil || !bytes.Equal(out, w.text[b.text:]) || int(r.Offset()) != w.bits-b.bit/8*8 {
					t.Fatalf("seed %d, block at bit %d: %d bytes of %d, %v", seed, b.bit, len(out), len(w.text)-b.text, err)
				}
			}
		}
	}
}

// compare compares with package flate, which is right about every complete and
// every corrupt stream and may stop early at a cut.
func compare(t *testing.T, data []byte) {
	t.Helper()
	want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), 1<<20))
	out, err := io.ReadAll(io.LimitReader(NewReader(bytes.NewReader(data), nil, 0), 1<<20))
	var corrupt *CorruptError
	var flateCorrupt flate.CorruptInputError
	switch {
	case wantErr == nil && (err != nil || !bytes.Equal(out, want)),
		errors.As(wantErr, &flateCorrupt) && (!errors.As(err, &corrupt) || !bytes.Equal(out, want)),
		wantErr == io.ErrUnexpectedEOF && (err == nil && len(out) < 1<<20 || !bytes.HasPrefix(out, want)):
		t.Fatalf("%x:\n got %x, %v\nwant %x, %v", data, out, err, want, wantErr)
	}
	if corrupt != nil && (corrupt.Bit < 0 || corrupt.Bit > int64(8*len(data))) {
		t.Fatalf("%x: %v", data, corrupt)
	}
}

// TestCorrupt changes single bits of random streams.
func TestCorrupt(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		data := random(rnd).data
		compare(t, data)
		for range 100 {
			i, bit := rnd.IntN(len(data)), byte(1)<<rnd.IntN(8)
			data[i] ^= bit
			compare(t, data)
			data[i] ^= bit
		}
	}
}

// TestErrors has each way to be corrupt.
func TestErrors(t *testing.T) {
	f := func(name, reason string, bit int64, text string, write func(w *writer)) {
		t.Helper()
		w := &writer{}
		write(w)
		out, err := decode(w.data)
		var c *CorruptError
		if !errors.As(err, &c) || c.Reason != reason || c.Bit != bit || string(out) != text {
			t.Errorf("%s: %q, %v, want %q at bit %d", name, out, err, reason, bit)
		}
		compare(t, w.data)
	}
	put := func(pairs ...int) func(*writer) {
		return func(w *writer) {
			for i := 0; i < len(pairs); i += 2 {
				w.put(pairs[i], pairs[i+1])
			}
			w.put(0, 64) // package flate reads ahead
		}
	}
	// lengths writes the header of a dynamic block with the lengths of the codes
	// for code lengths, by symbol.
	lengths := func(of map[uint8]int, more ...int) func(*writer) {
		pairs := []int{1, 1, 2, 2, 0, 5, 0, 5, 15, 4}
		for _, symbol := range lengthOrder {
			pairs = append(pairs, of[symbol], 3)
		}
		return put(append(pairs, more...)...)
	}
	const header = 3 + 14 + 19*3
	f("type 3", "reserved block type", 0, "", put(1, 1, 3, 2))
	f("stored", "length of a stored block does not match its complement", 0, "", put(1, 1, 0, 7, 5, 16, 5, 16))
	f("a block later", "reserved block type", 48, "a", put(0, 8, 1, 16, 0xfffe, 16, 'a', 8, 7, 3))
	f("fixed, far", "distance before the start of the output", 11, "0", put(1, 1, 1, 2, 0x06, 8, 0x40, 7, 0x10, 5))
	f("fixed, length 286", "reserved length or distance", 3, "", put(1, 1, 1, 2, 0x63, 8))
	f("fixed, distance 30", "reserved length or distance", 11, "0", put(1, 1, 1, 2, 0x06, 8, 0x40, 7, 0x0f, 5))
	f("286 literals", "too many length or distance symbols", 0, "", put(1, 1, 2, 2, 30, 5, 0, 5, 0, 4))
	f("31 distances", "too many length or distance symbols", 0, "", put(1, 1, 2, 2, 0, 5, 30, 5, 0, 4))
	f("oversubscribed", "invalid code for code lengths", 0, "", lengths(map[uint8]int{0: 1, 1: 1, 2: 1}))
	f("incomplete", "invalid code for code lengths", 0, "", lengths(map[uint8]int{0: 2, 1: 2}))
	f("no codes", "a code without a symbol", 0, "", lengths(nil))
	f("the unused bit", "a code without a symbol", 0, "", lengths(map[uint8]int{18: 1}, 1, 1))
	f("repeat of nothing", "no code length to repeat", 0, "", lengths(map[uint8]int{16: 1, 0: 1}, 1, 1))
	f("too many", "too many code lengths", 0, "", lengths(map[uint8]int{18: 1}, 0, 1, 127, 7, 0, 1, 127, 7))
	f("three literals of one bit", "invalid code", 0, "", lengths(map[uint8]int{0: 1, 1: 1}, 7, 3, 0, 62, 0, 62, 0, 62, 0, 62))
	f("repeat cut off by the end", "too many code lengths", 0, "", lengths(map[uint8]int{16: 1, 1: 1}, append([]int{0, 1}, slices.Repeat([]int{1<<31 - 1, 31}, 10)...)...))
	f("no literals", "a code without a symbol", header+16, "", lengths(map[uint8]int{18: 1}, 0, 1, 127, 7, 0, 1, 109, 7))
}

func TestSourceError(t *testing.T) {
	broken := errors.New("broken")
	w := random(rand.New(rand.NewPCG(1, 5)))
	src := io.MultiReader(bytes.NewReader(w.data[:len(w.data)/2]), iotest.ErrReader(broken))
	out, err := io.ReadAll(NewReader(src, nil, 0))
	if err != broken || !bytes.Equal(out, w.text[:w.before(len(w.data)/2*8)]) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if _, err := NewReader(idle{}, nil, 0).Read(make([]byte, 1)); err != io.ErrNoProgress {
		t.Errorf("a source that never returns anything: %v", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

// FuzzReader compares with package flate; in a window, with a stored block before.
func FuzzReader(f *testing.F) {
	for seed := range uint64(20) {
		w := random(rand.New(rand.NewPCG(seed, 6)))
		f.Add(w.data)
		f.Add(w.data[:len(w.data)/2])
	}
	window := []byte("http://a.example/index.html?a=1&b=2\n")
	f.Fuzz(func(t *testing.T, data []byte) {
		compare(t, data)
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReaderDict(bytes.NewReader(data), window), 1<<20))
		out, err := io.ReadAll(io.LimitReader(NewReader(bytes.NewReader(data), window, 0), 1<<20))
		if wantErr == nil && err != nil || !bytes.HasPrefix(out, want) {
			t.Fatalf("%x with a window:\n got %x, %v\nwant %x, %v", data, out, err, want, wantErr)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	var text, packed bytes.Buffer
	rnd := rand.New(rand.NewPCG(1, 7))
	for text.Len() < 4<<20 {
		fmt.Fprintf(&text, "10.0.%d.%d - - [22/Nov/2026:16:%02d:%02d +0000] \"GET /item/%d?page=%d HTTP/1.1\" 200 %d\n",
			rnd.IntN(9), rnd.IntN(256), rnd.IntN(60), rnd.IntN(60), rnd.IntN(1e5), rnd.IntN(20), rnd.IntN(1e4))
	}
	fw, err := flate.NewWriter(&packed, 6)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = fw.Write(text.Bytes()) // a bytes.Buffer takes everything
	_ = fw.Close()
	for name, open := range map[string]func(io.Reader) io.Reader{
		"inflate":  func(r io.Reader) io.Reader { return NewReader(r, nil, 0) },
		"standard": func(r io.Reader) io.Reader { return flate.NewReader(r) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if _, err := io.Copy(io.Discard, open(bytes.NewReader(packed.Bytes()))); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

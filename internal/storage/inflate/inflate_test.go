package inflate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	klauspost "github.com/klauspost/compress/flate"
)

// decode returns all output of a stream and the error that ended it.
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

// random returns a stream of a few random blocks.
func random(rnd *rand.Rand) *writer {
	w := &writer{rnd: rnd}
	for n := rnd.IntN(4); n >= 0; n-- {
		w.block(rnd.IntN(60), n == 0)
	}
	return w
}

// TestExact truncates random streams after each byte: exactly the output of the
// complete symbols must be returned.
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

// TestOffset checks that Offset is the end of the last complete symbol of a
// truncated stream.
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

// TestWindow starts at each block of a stream.
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

// compare compares a Reader with package flate, which is right about every
// complete and every corrupt stream but may stop early in a truncated one, and
// with the slow decoder, which is right about everything.
func compare(t *testing.T, data []byte) {
	t.Helper()
	const most = 1 << 20
	want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), most))
	out, err := io.ReadAll(io.LimitReader(NewReader(bytes.NewReader(data), nil, 0), most))
	var corrupt *CorruptError
	var flateCorrupt flate.CorruptInputError
	switch {
	case wantErr == nil && (err != nil || !bytes.Equal(out, want)),
		errors.As(wantErr, &flateCorrupt) && (!errors.As(err, &corrupt) || !bytes.Equal(out, want)),
		wantErr == io.ErrUnexpectedEOF && (err == nil && len(out) < most || !bytes.HasPrefix(out, want)):
		t.Fatalf("%x:\n got %x, %v\nwant %x, %v", data, out, err, want, wantErr)
	}
	twins(t, data, nil, 0, most)
}

// twins compares a Reader, with each fast loop, with the slow decoder: output,
// error and position, for input that arrives at once and in pieces.
func twins(t *testing.T, data, window []byte, bit uint8, most int64) {
	t.Helper()
	slow := newSlowReader(bytes.NewReader(data), window, bit)
	want, wantErr := io.ReadAll(io.LimitReader(slow, most))
	f := func(name string, src io.Reader) {
		t.Helper()
		fast := NewReader(src, window, bit)
		out, err := io.ReadAll(io.LimitReader(fast, most))
		if !bytes.Equal(out, want) || !reflect.DeepEqual(err, wantErr) {
			t.Fatalf("%s, %x:\n got %x, %v\nwant %x, %v", name, data, out, err, want, wantErr)
		}
		if int64(len(out)) < most && fast.Offset() != slow.Offset() {
			t.Fatalf("%s, %x: end at bit %d, want %d", name, data, fast.Offset(), slow.Offset())
		}
	}
	eachLoop(t, func(loop string) {
		f(loop+", at once", bytes.NewReader(data))
		f(loop+", in pieces", &pieces{rest: data})
		f(loop+", through a small buffer", bufio.NewReaderSize(bytes.NewReader(data), 64))
	})
}

// pieces delivers its bytes in pieces of 1 to 97 bytes.
type pieces struct {
	rest []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	p.n = p.n*5%97 + 1
	n := copy(b[:min(len(b), p.n)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// TestCopies decodes matches of all lengths, at distances around each width that a
// fast loop copies at once.
func TestCopies(t *testing.T) {
	w := &writer{rnd: rand.New(rand.NewPCG(1, 11))}
	for length := 3; length <= maxMatch; length++ {
		w.put(0, 1)
		w.stored(80)
		w.put(0, 1)
		w.put(1, 2)
		for distance := 1; distance <= 70; distance++ {
			w.exactly(length, distance)
		}
		w.symbol(fixedLiterals, endOfBlock)
	}
	w.block(40, true)
	twins(t, w.data, nil, 0, 1<<30)
	if out, err := decode(w.data); err != io.EOF || !bytes.Equal(out, w.text) {
		t.Errorf("%d bytes, want %d: %v", len(out), len(w.text), err)
	}
}

// TestLong decodes streams of many windows, and resumes from each block.
func TestLong(t *testing.T) {
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		w := &writer{rnd: rnd}
		for len(w.text) < 5*outSize {
			w.block(1+rnd.IntN(9000), false)
		}
		w.block(10, true)
		twins(t, w.data, nil, 0, 1<<30)
		r := NewReader(bytes.NewReader(w.data), nil, 0)
		r.PauseAtBlocks(true)
		var out []byte
		for blocks := 0; ; {
			buf := make([]byte, 1+rnd.IntN(100<<10))
			n, err := r.Read(buf)
			out = append(out, buf[:n]...)
			if err != nil {
				if err != io.EOF || !bytes.Equal(out, w.text) || blocks < 3 {
					t.Fatalf("seed %d: %d bytes of %d, %d blocks, %v", seed, len(out), len(w.text), blocks, err)
				}
				break
			}
			bit, ok := r.Block()
			if !ok {
				continue
			}
			blocks++
			window := bytes.Clone(r.Window())
			if len(window) != min(len(out), Window) || !bytes.HasSuffix(out, window) {
				t.Fatalf("seed %d, bit %d: a wrong window of %d bytes", seed, bit, len(window))
			}
			rest, err := io.ReadAll(NewReader(bytes.NewReader(w.data[bit/8:]), window, uint8(bit%8)))
			if err != nil || !bytes.Equal(rest, w.text[len(out):]) {
				t.Fatalf("seed %d, from bit %d: %d bytes of %d, %v", seed, bit, len(rest), len(w.text)-len(out), err)
			}
		}
	}
}

// TestBehind checks that the source is left directly after the stream, and that
// decoded output does not wait for input.
func TestBehind(t *testing.T) {
	for seed := range uint64(50) {
		w := random(rand.New(rand.NewPCG(seed, 9)))
		const behind = "what follows the stream, more than the fast loop would load"
		src := bufio.NewReader(io.MultiReader(bytes.NewReader(w.data), strings.NewReader(behind)))
		out, err := io.ReadAll(NewReader(src, nil, 0))
		if err != nil || !bytes.Equal(out, w.text) {
			t.Fatalf("seed %d: %d bytes of %d, %v", seed, len(out), len(w.text), err)
		}
		if rest, _ := io.ReadAll(src); string(rest) != behind {
			t.Fatalf("seed %d: %q remains", seed, rest)
		}
	}
}

// TestFlushed checks that a flushed stream returns all its text before more
// input arrives.
func TestFlushed(t *testing.T) {
	in, out := io.Pipe()
	t.Cleanup(func() { _ = in.Close() }) // never fails
	go func() {
		w, _ := flate.NewWriter(out, 6)
		for i := range 5 {
			_, _ = fmt.Fprintf(w, "line %d of a log that is still written\n", i)
			_ = w.Flush()
		}
		// no more input, but the pipe stays open
	}()
	r := NewReader(in, nil, 0)
	var text strings.Builder
	buf := make([]byte, 1000)
	for strings.Count(text.String(), "\n") < 5 {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(buf[:n])
	}
	if !strings.HasSuffix(text.String(), "line 4 of a log that is still written\n") {
		t.Errorf("%q", text.String())
	}
}

// TestReset uses one Reader for many streams, without allocations per stream.
func TestReset(t *testing.T) {
	w := random(rand.New(rand.NewPCG(3, 10)))
	src := bufio.NewReader(nil)
	data := bytes.NewReader(nil)
	r := NewReader(nil, nil, 0)
	buf := make([]byte, 64<<10)
	if n := testing.AllocsPerRun(20, func() {
		data.Reset(w.data)
		src.Reset(data)
		r.Reset(src, nil, 0)
		n, err := io.ReadFull(r, buf[:len(w.text)])
		if err != nil || !bytes.Equal(buf[:n], w.text) {
			t.Fatalf("%d bytes, %v", n, err)
		}
		if n, err := r.Read(buf); n != 0 || err != io.EOF {
			t.Fatalf("%d bytes more, %v", n, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a stream", n)
	}
}

// TestCorrupt flips single bits of random streams.
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

// TestErrors checks each kind of corrupt data.
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
	// lengths writes the header of a dynamic block with the lengths of the
	// codes for code lengths, by symbol.
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

// FuzzReader compares a Reader with package flate. To test a window, it puts a
// stored block before the data.
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
		twins(t, data, window, uint8(len(data)%8), 1<<20)
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
	_, _ = fw.Write(text.Bytes()) // a bytes.Buffer never fails
	_ = fw.Close()
	for name, open := range map[string]func(io.Reader) io.Reader{
		"inflate":   func(r io.Reader) io.Reader { return NewReader(r, nil, 0) },
		"standard":  func(r io.Reader) io.Reader { return flate.NewReader(r) },
		"klauspost": func(r io.Reader) io.Reader { return klauspost.NewReader(r) },
		"readable":  func(r io.Reader) io.Reader { return newSlowReader(r, nil, 0) },
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

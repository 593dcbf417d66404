package compress

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
)

// An outcome is everything that a reading results in.
type outcome struct {
	text       []byte
	verdict    Verdict
	verified   int64
	unverified []Range
	points     []RestartPoint
	members    int64
	good       int64
	err        error
}

// outcomeOf reads packed in pieces of different lengths.
func outcomeOf(t testing.TB, src io.Reader, opt Options) (o outcome) {
	t.Helper()
	r := NewReader(src, opt)
	defer r.Close()
	rnd := rand.New(rand.NewPCG(5, 5))
	buf := make([]byte, 70<<10)
	var last RestartPoint
	for {
		if rnd.IntN(2) == 0 {
			settle(r)
		}
		n, err := r.Read(buf[:1+rnd.IntN(len(buf))])
		o.text = append(o.text, buf[:n]...)
		if p, _ := r.RestartPoint(); p.offset > last.offset && p.inside { // other points are returned together with pieces of the text
			o.points, last = append(o.points, p), p
		}
		if err == io.EOF {
			break
		}
	}
	if r.in.raw.src != src {
		aheads++
	}
	o.verdict, o.unverified, o.err = r.Verdict(), r.Unverified(), r.Err()
	o.verified, _ = r.Verified()
	o.members, o.good = r.restarts.members, r.restarts.good
	return o
}

var aheads int

// settle waits until the goroutines of r have decoded what they can before the
// next Read.
func settle(r *Reader) {
	d, ok := r.dec.(*gzipDecoder)
	if !ok || d.ahead == nil {
		return
	}
	a := d.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	busy := func(s *segment) bool { return s.taken && !s.done }
	for !a.closed && (a.candidate() != nil || slices.ContainsFunc(a.segments, busy)) {
		a.changed.Wait()
	}
}

// drainSettled is drain for a reader whose goroutines are faster than it.
func drainSettled(t testing.TB, r *Reader) ([]byte, Verdict) {
	t.Helper()
	defer r.Close()
	var out []byte
	buf := make([]byte, 4<<10)
	for {
		settle(r)
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if err != nil {
			return out, r.Verdict()
		}
	}
}

// sameOutcome compares the reading with and without goroutines.
func sameOutcome(t testing.TB, name string, packed []byte, opt Options) {
	t.Helper()
	// A point before the empty block at the end of a member is the newest only
	// until that block is decoded, which may be in the same Read.
	beforeEnd := func(p RestartPoint) bool {
		r, err := NewReaderAt(bytes.NewReader(packed), p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		n, _ := r.Read(make([]byte, 1))
		return n == 0 || r.restarts.members > p.members
	}
	opt.Ahead = 0
	want := outcomeOf(t, bytes.NewReader(packed), opt)
	if want.verdict.Kind == Limit {
		want.verdict.Offset = 0 // a limit ends the text at the same byte, but the decoder may be anywhere after it
	}
	want.points = slices.DeleteFunc(want.points, beforeEnd)
	for _, sizes := range []aheadSizes{
		{buffer: 300, chunk: 512, tail: 1500, input: 4000, output: 20 << 10},
		{buffer: 4000, chunk: 9 << 10, tail: 30 << 10, input: 100 << 10, output: 300 << 10},
	} {
		opt.Ahead, opt.sizes = 2, sizes
		got := outcomeOf(t, bytes.NewReader(packed), opt)
		if got.verdict.Kind == Limit {
			got.verdict.Offset = 0
		}
		got.points = slices.DeleteFunc(got.points, beforeEnd)
		if !bytes.Equal(got.text, want.text) {
			t.Fatalf("%s: %d bytes of text, without goroutines %d", name, len(got.text), len(want.text))
		}
		if !reflect.DeepEqual(got, want) {
			i := 0
			for i < min(len(got.points), len(want.points)) && got.points[i] == want.points[i] {
				i++
			}
			t.Logf("%d points, without goroutines %d, of which %d are equal", len(got.points), len(want.points), i)
			got.text, want.text, got.points, want.points = nil, nil, nil, nil
			t.Fatalf("%s: outcome\n%+v, without goroutines\n%+v", name, got, want)
		}
	}
}

// manyMembers returns a file of members of many lengths and encoders. Some
// contain gzip files as they are.
func manyMembers(t testing.TB, n int) []byte {
	rnd := rand.New(rand.NewPCG(3, 9))
	text := mixed(t, 400<<10)
	var b bytes.Buffer
	for b.Len() < n {
		part := text[rnd.IntN(len(text)):]
		part = part[:rnd.IntN(min(len(part), 1<<rnd.IntN(18))+1)]
		if rnd.IntN(8) == 0 { // members inside of a stored block
			part = bytes.Join([][]byte{gz(t, part), gz(t, nil), part}, part[:len(part)/2])
		}
		level := []int{stdgzip.NoCompression, 1, 6, 9, stdgzip.HuffmanOnly}[rnd.IntN(5)]
		var w io.WriteCloser
		if rnd.IntN(2) == 0 {
			z, _ := stdgzip.NewWriterLevel(&b, level)
			z.Name, z.Extra = "access.log", []byte("BC\x02\x00\x1f\x8b\x08\x00")
			w = z
		} else {
			w, _ = gzip.NewWriterLevel(&b, level)
		}
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// TestAhead compares readings with and without goroutines: texts, verdicts,
// verified parts and restart points of sound, cut, changed and padded files.
func TestAhead(t *testing.T) {
	packed := manyMembers(t, 200<<10)
	for _, every := range []int64{0, 5000, 40 << 10} {
		opt := Options{RestartEvery: every}
		sameOutcome(t, "sound", packed, opt)
		sameOutcome(t, "zeros", append(bytes.Clone(packed), make([]byte, 5000)...), opt)
		sameOutcome(t, "garbage", append(bytes.Clone(packed), mixed(t, 5000)...), opt)
		sameOutcome(t, "hole", append(append(bytes.Clone(packed), make([]byte, 512)...), packed...), opt)
	}
	for _, limits := range []Limits{{MaxBytes: 100 << 10}, {MaxRatio: 2}} {
		sameOutcome(t, fmt.Sprint(limits), packed, Options{Limits: limits})
	}
	if aheads == 0 {
		t.Error("no reading used goroutines")
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		cut := rnd.IntN(len(packed))
		sameOutcome(t, fmt.Sprintf("cut at %d", cut), packed[:cut], Options{RestartEvery: 10 << 10})
		bit := rnd.IntN(len(packed) * 8)
		bad := bytes.Clone(packed)
		bad[bit/8] ^= 1 << (bit % 8)
		sameOutcome(t, fmt.Sprintf("bit %d changed", bit), bad, Options{RestartEvery: 10 << 10})
	}
}

// TestAheadUsesRuns checks that the goroutines decode most of the text, also of
// members that are longer than a segment.
func TestAheadUsesRuns(t *testing.T) {
	text := mixed(t, 300<<10)
	for size, least := range map[int]int64{1 << 10: 150 << 10, 20 << 10: 100 << 10, 60 << 10: 40 << 10} {
		var packed []byte
		for part := range slices.Chunk(text, size) {
			packed = append(packed, gz(t, part)...)
		}
		r := NewReader(bytes.NewReader(packed), Options{Ahead: 2, sizes: aheadSizes{buffer: 1000, chunk: 16 << 10, tail: 64 << 10, input: 256 << 10, output: 100 << 10}})
		out, _ := drainSettled(t, r)
		d := r.dec.(*gzipDecoder).inflate.(*aheadDeflate)
		if !bytes.Equal(out, text) || d.fromRuns < least {
			t.Errorf("members of %d bytes: %d of %d bytes, %d from runs", size, len(out), len(text), d.fromRuns)
		}
	}
}

// TestAheadUnreadable checks that an error of the file has the same effect as
// without goroutines.
func TestAheadUnreadable(t *testing.T) {
	packed := manyMembers(t, 60<<10)
	fail := errors.New("disk failure")
	for _, at := range []int{100, 5000, 30000, 59999} {
		src := func() io.Reader { return io.MultiReader(bytes.NewReader(packed[:at]), iotest.ErrReader(fail)) }
		want := outcomeOf(t, src(), Options{})
		got := outcomeOf(t, src(), Options{Ahead: 2, sizes: aheadSizes{buffer: 300, chunk: 512, tail: 1500, input: 4000, output: 20 << 10}})
		if !reflect.DeepEqual(got, want) || want.verdict.Kind != Unreadable || got.err != fail {
			t.Errorf("error at %d: %+v, without goroutines %+v", at, got.verdict, want.verdict)
		}
	}
}

// FuzzAhead compares readings with and without goroutines.
func FuzzAhead(f *testing.F) {
	f.Add(manyMembers(f, 3000), uint16(0), uint8(0), int64(0))
	f.Add(manyMembers(f, 40000), uint16(2000), uint8(1), int64(3000))
	f.Add(append(gz(f, gz(f, []byte("text"))), gz(f, nil)...), uint16(3), uint8(16), int64(1))
	f.Fuzz(func(t *testing.T, packed []byte, at uint16, flip uint8, every int64) {
		packed = append(gz(t, []byte("first\n")), packed...) // goroutines start at the second member
		packed[int(at)%len(packed)] ^= flip
		sameOutcome(t, "input", packed, Options{RestartEvery: max(0, every)})
		sameOutcome(t, "cut input", packed[:int(at)%len(packed)], Options{})
	})
}

package compress

import (
	"bytes"
	"io"
	"reflect"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestVerified checks which bytes are verified at the end of a file.
func TestVerified(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	size := int64(len(text))
	cat := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	f := func(name string, packed []byte, opt Options, verified int64, checksummed bool, unverified ...Range) {
		t.Helper()
		r := NewReader(bytes.NewReader(packed), opt)
		drain(t, r)
		got, sums := r.Verified()
		if got != verified || sums != checksummed || !reflect.DeepEqual(r.Unverified(), unverified) {
			t.Errorf("%s: verified up to %d, checksummed %v, unverified %v; want %d, %v, %v (%v)",
				name, got, sums, r.Unverified(), verified, checksummed, unverified, r.Verdict())
		}
	}
	g, z := gz(t, text), zst(t, text)
	badGzip, badZstd := bytes.Clone(g), bytes.Clone(z)
	badGzip[len(g)-8] ^= 1
	badZstd[len(z)-1] ^= 1
	f("gzip", cat(g, g), Options{}, 2*size, true)
	f("gzip, the second of three is wrong", cat(g, badGzip, g), Options{}, size, true, Range{size, 2 * size})
	f("gzip, the first two of three are wrong", cat(badGzip, badGzip, g), Options{}, 0, true, Range{0, 2 * size})
	f("gzip, the first and the third are wrong", cat(badGzip, g, badGzip, g), Options{}, 0, true, Range{0, size}, Range{2 * size, 3 * size})
	f("gzip, cut before the trailer", cat(g, g[:len(g)-8]), Options{}, size, true, Range{size, 2 * size})
	f("gzip, a limit", g, Options{Limits: Limits{MaxBytes: 100}}, 0, true, Range{0, 100})
	bare := encode(t, text, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderCRC(false)) })
	for _, n := range []int{1, 4} {
		opt := Options{Concurrency: n}
		f("zstd", cat(z, z), opt, 2*size, true)
		f("zstd without checksums", bare, opt, 0, false, Range{0, size})
		f("zstd, the second of two is wrong", cat(z, badZstd), opt, size, true, Range{size, 2 * size})
		f("zstd, the second of two is cut", cat(z, z[:len(z)-1]), opt, size, true, Range{size, 2 * size})
	}
	f("zstd, the second of three has no checksum", cat(z, bare, z), Options{}, size, false, Range{size, 2 * size})
	f("plain", text, Options{}, 0, false, Range{0, size})
	f("nothing", nil, Options{}, 0, false)
}

// TestVerifiedOnTheWay checks that the verified part never shrinks and never
// exceeds the delivered part, and that everything outside of Unverified is
// right.
func TestVerifiedOnTheWay(t *testing.T) {
	for _, s := range samples(t) {
		packed := bytes.Join([][]byte{s.packed, s.packed, s.packed[:len(s.packed)*2/3]}, nil)
		want := bytes.Repeat(s.text, 3)
		r := NewReader(bytes.NewReader(packed), Options{})
		var out []byte
		var before int64
		buf := make([]byte, 700)
		for {
			n, err := r.Read(buf)
			out = append(out, buf[:n]...)
			verified, _ := r.Verified()
			if verified < before || verified > r.Bytes() {
				t.Fatalf("%v: verified up to %d of %d, previously up to %d", s.format, verified, r.Bytes(), before)
			}
			before = verified
			if u := r.Unverified(); len(u) > 0 && (u[0].From != verified || u[len(u)-1].To != r.Bytes()) || len(u) == 0 && verified != r.Bytes() {
				t.Fatalf("%v: verified up to %d of %d, unverified %v", s.format, verified, r.Bytes(), u)
			}
			if err != nil {
				break
			}
		}
		if !bytes.HasPrefix(want, out[:before]) {
			t.Errorf("%v: the verified text differs", s.format)
		}
		r.Close()
	}
}

// TestVerifiedResumed checks that a restart point carries the verified offset.
func TestVerifiedResumed(t *testing.T) {
	text := mixed(t, 200<<10)
	half := int64(len(text) / 2)
	packed := append(gz(t, text[:half]), gz(t, text[half:])...)
	bad := bytes.Clone(packed)
	bad[len(bad)-8] ^= 1
	opt := Options{RestartEvery: 20 << 10}
	var points []RestartPoint
	r := NewReader(bytes.NewReader(packed), opt)
	buf := make([]byte, 4096)
	for {
		_, err := r.Read(buf)
		if p, _ := r.RestartPoint(); len(points) == 0 || points[len(points)-1] != p {
			points = append(points, p)
		}
		if err != nil {
			break
		}
	}
	if len(points) < 5 {
		t.Fatalf("only %d points", len(points))
	}
	for _, p := range points {
		for _, src := range [][]byte{packed, bad} {
			want, unverified := int64(len(text)), []Range(nil)
			if &src[0] == &bad[0] {
				want, unverified = half, []Range{{half, int64(len(text))}}
			}
			if p.Members() == 2 { // the end of the intact file: nothing is read
				want, unverified = int64(len(text)), nil
			}
			again, err := NewReaderAt(bytes.NewReader(src), p, opt)
			if err != nil {
				t.Fatal(err)
			}
			drainQuietly(again)
			if got, _ := again.Verified(); got != want || !reflect.DeepEqual(again.Unverified(), unverified) {
				t.Errorf("resumed at %d: verified up to %d, unverified %v, want %d, %v", p.Offset(), got, again.Unverified(), want, unverified)
			}
		}
	}
}

func drainQuietly(r *Reader) {
	_, _ = io.Copy(io.Discard, onlyReader{r})
	r.Close()
}

// TestUnverifiedBounded checks that many wrong members take limited memory, and
// that ranges that are not kept apart count as unverified.
func TestUnverifiedBounded(t *testing.T) {
	var s sums
	for i := range int64(3 * maxUnverified) {
		s.unit(2*i+1, sumWrong)
		s.unit(2*i+2, sumRight)
	}
	last := s.failed[len(s.failed)-1]
	if len(s.failed) != maxUnverified || last.To != 6*maxUnverified-1 || s.verified != 0 {
		t.Errorf("%d ranges, the last one %v, verified up to %d", len(s.failed), last, s.verified)
	}
}

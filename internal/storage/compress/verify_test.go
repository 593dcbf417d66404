package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

func TestVerify(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	lines := int64(bytes.Count(text, []byte{'\n'}))
	size := int64(len(text))
	cat := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	f := func(name string, packed []byte, want Verification) {
		t.Helper()
		got := Verify(bytes.NewReader(packed), Options{})
		got.Verdict.Detail, got.Verdict.Format = "", Plain
		got.Verified, got.Checksummed = 0, false // see verified_test.go
		want.Compressed = int64(len(packed))
		if got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
		good, bytesGood, v := LastGood(bytes.NewReader(packed), Options{})
		if good != want.Good || bytesGood != want.GoodBytes || v.Kind != want.Verdict.Kind {
			t.Errorf("%s: LastGood returned %d, %d, %v", name, good, bytesGood, v)
		}
		out, v := read(t, packed[:good], Options{})
		if int64(len(out)) != bytesGood || v.Kind != OK {
			t.Errorf("%s: cut at %d there are %d bytes of %d, %v", name, good, len(out), bytesGood, v)
		}
	}
	for _, s := range samples(t) {
		if s.format == Plain {
			continue
		}
		n, counted := int64(len(s.packed)), int64(0)
		if s.format == Gzip || s.format == Zstd || s.format == XZ || s.format == LZ4 || s.format == Zlib {
			counted = 1
		}
		whole := Verification{Bytes: size, Lines: lines, Members: counted, Good: n, GoodBytes: size}
		f(s.format.String(), s.packed, whole)
		f(s.format.String()+", twice", cat(s.packed, s.packed),
			Verification{Bytes: 2 * size, Lines: 2 * lines, Members: 2 * counted, Good: 2 * n, GoodBytes: 2 * size})
		if s.format != S2 && s.format != Snappy && s.format != Xerial { // garbage after these would be a chunk
			padded := whole
			padded.Verdict = Verdict{Kind: TrailingGarbage, Offset: n}
			f(s.format.String()+", padding", cat(s.packed, make([]byte, 7)), padded)
			whole.Verdict = Verdict{Kind: Corrupt, Offset: n, Cut: true}
			if s.format == Bzip2 { // good as a whole or not at all
				whole.Good, whole.GoodBytes = 0, 0
			}
			f(s.format.String()+", garbage", cat(s.packed, []byte("garbage")), whole)
		}
	}
	f("nothing", nil, Verification{})
	f("plain", []byte("a\nb\n"), Verification{Bytes: 4, Lines: 2, Good: 4, GoodBytes: 4})
	f("plain, torn", []byte("a\nb\nc"), Verification{Bytes: 5, Lines: 3, Good: 4, GoodBytes: 4})
	f("plain, one line that does not end", []byte("abc"), Verification{Bytes: 3, Lines: 1})

	g := gz(t, text)
	n := int64(len(g))
	bad := bytes.Clone(g)
	bad[n-8] ^= 1
	f("gzip, the second of three wrong", cat(g, bad, g),
		Verification{Verdict: Verdict{Kind: BadCRC, Offset: 2*n - 8}, Bytes: 3 * size, Lines: 3 * lines, Members: 3, Good: n, GoodBytes: size})
	z := zst(t, text)
	n = int64(len(z))
	bad = bytes.Clone(z)
	bad[n-1] ^= 1
	f("zstd, the second of two wrong", cat(z, bad),
		Verification{Verdict: Verdict{Kind: BadCRC, Offset: 2*n - 4}, Bytes: 2 * size, Lines: 2 * lines, Members: 1, Good: n, GoodBytes: size})
	skippable := []byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc")
	f("zstd, skippable frames", cat(skippable, z, skippable, z, skippable),
		Verification{Bytes: 2 * size, Lines: 2 * lines, Members: 2, Good: 2*n + 33, GoodBytes: 2 * size})
	f("zip", []byte("PK\x03\x04"), Verification{Verdict: Verdict{Kind: UnsupportedFormat, Cut: true}})
}

// TestLastGood tears an output of many members at random offsets, as kill -9
// does, and truncates the torn end.
func TestLastGood(t *testing.T) {
	text := mixed(t, 200<<10)
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, format := range []Format{Gzip, Zstd} {
		pack, err := NewPack(format, 0)
		if err != nil {
			t.Fatal(err)
		}
		var packed []byte
		ends, sizes := []int{0}, []int{0}
		for size := 0; size < len(text); {
			n := min(len(text)-size, rnd.IntN(20<<10))
			packed = pack(packed, text[size:size+n])
			size += n
			ends, sizes = append(ends, len(packed)), append(sizes, size)
		}
		f := func(name string, torn []byte, member int) {
			t.Helper()
			good, n, _ := LastGood(bytes.NewReader(torn), Options{Name: "out.gz"})
			if good != int64(ends[member]) || n != int64(sizes[member]) {
				t.Fatalf("%v, %s: good up to %d (%d bytes), want %d (%d)", format, name, good, n, ends[member], sizes[member])
			}
		}
		member := func(at int) (i int) {
			for i+1 < len(ends) && ends[i+1] <= at {
				i++
			}
			return i
		}
		for range 100 {
			at := rnd.IntN(len(packed) + 1)
			f(fmt.Sprintf("cut at %d", at), packed[:at], member(at))
			torn := append(bytes.Clone(packed[:at]), make([]byte, 1+rnd.IntN(5000))...) // the file grew before its data was written
			same := at                                                                  // the zero bytes may equal the right ones
			for same < min(len(torn), len(packed)) && packed[same] == 0 {
				same++
			}
			f(fmt.Sprintf("zero bytes from %d", at), torn, member(same))
		}
	}
}

func TestVerifyUnreadable(t *testing.T) {
	g := gz(t, readFile(t, "testdata/access.log"))
	broken := errors.New("the disk is on fire")
	src := io.MultiReader(bytes.NewReader(g), &faulty{rnd: rand.New(rand.NewPCG(1, 1)), fail: broken})
	v := Verify(src, Options{})
	if v.Verdict.Kind != Unreadable || v.Verdict.Detail != broken.Error() || v.Good != int64(len(g)) || v.Members != 1 {
		t.Errorf("%+v", v)
	}
}

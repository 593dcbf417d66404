package compress

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// requireSamples fails the test for each supported format without a sample,
// because the tests of this package iterate over the samples.
func requireSamples(t testing.TB, formats []Format, all []sample) {
	t.Helper()
	for _, f := range formats {
		if !slices.ContainsFunc(all, func(s sample) bool { return s.format == f }) {
			t.Errorf("format %v is supported, but has no sample for the tests: add one to samples", f)
		}
	}
}

// formatsRead returns the supported formats.
func formatsRead() (all []Format) {
	for f := range Unsupported {
		all = append(all, f)
	}
	return all
}

// A counter is a testing.TB that counts errors.
type counter struct {
	testing.TB
	errors int
}

func (c *counter) Helper()               {}
func (c *counter) Errorf(string, ...any) { c.errors++ }

// TestSamplesCoverFormats checks that each format has a sample, and that a
// format without one makes the tests fail.
func TestSamplesCoverFormats(t *testing.T) {
	requireSamples(t, formatsRead(), samples(t))
	c := &counter{TB: t}
	if requireSamples(c, append(formatsRead(), Unsupported), samples(t)); c.errors != 1 {
		t.Errorf("with a format without a sample there are %d errors, want 1", c.errors)
	}
}

// TestPackCoversFormats checks that TestPack covers the formats of NewPack.
func TestPackCoversFormats(t *testing.T) {
	for _, f := range formatsRead() {
		_, err := NewPack(f, 1)
		if packed := f == Gzip || f == Zstd; packed != (err == nil) {
			t.Errorf("NewPack(%v): %v; tested by TestPack: %t", f, err, packed)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, s := range samples(t) {
		for _, concurrency := range []int{1, 4} {
			out, v := read(t, s.packed, Options{Concurrency: concurrency})
			if !bytes.Equal(out, s.text) || v.Kind != OK || v.Format != s.format {
				t.Errorf("%v: %d bytes of %d, verdict %v, format %v", s.format, len(out), len(s.text), v, v.Format)
			}
		}
		if s.format == Plain {
			continue
		}
		twice := append(bytes.Clone(s.packed), s.packed...)
		out, v := read(t, twice, Options{})
		if want := append(bytes.Clone(s.text), s.text...); !bytes.Equal(out, want) || v.Kind != OK {
			t.Errorf("%v, two members: %d bytes of %d, verdict %v", s.format, len(out), len(want), v)
		}
	}
}

// TestFaultyReader checks that text and verdict do not depend on how the bytes
// arrive.
func TestFaultyReader(t *testing.T) {
	for _, s := range samples(t) {
		for seed := range uint64(20) {
			r := NewReader(&faulty{src: s.packed, rnd: rand.New(rand.NewPCG(seed, 1))}, Options{})
			if out, v := drain(t, r); !bytes.Equal(out, s.text) || v.Kind != OK {
				t.Errorf("%v, seed %d: %d bytes of %d, verdict %v", s.format, seed, len(out), len(s.text), v)
			}
		}
	}
}

// TestUnreadable checks that an error of the file is the verdict, whatever the
// decoder returns, and that the data before it is delivered.
func TestUnreadable(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, s := range samples(t) {
		for seed := range uint64(5) {
			half := s.packed[:len(s.packed)*2/3]
			r := NewReader(&faulty{src: half, rnd: rand.New(rand.NewPCG(seed, 1)), fail: broken}, Options{})
			out, v := drain(t, r)
			if !bytes.HasPrefix(s.text, out) || v.Kind != Unreadable || !v.Cut || v.Detail != broken.Error() {
				t.Errorf("%v, seed %d: verdict %v", s.format, seed, v)
			}
			if s.format == Plain && len(out) != len(half) {
				t.Errorf("plain: %d bytes of %d", len(out), len(half))
			}
		}
	}
}

// cuts returns the offsets at which to truncate s: every byte or, for formats
// that are slow to decode, every byte near the ends and every seventh in
// between.
func cuts(s sample) (at []int) {
	slow := s.format != Gzip && s.format != Zstd && s.format != LZ4
	for n := range len(s.packed) {
		if !slow || n < 64 || n >= len(s.packed)-64 || n%7 == 0 {
			at = append(at, n)
		}
	}
	return at
}

// TestCut cuts every sample.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		if s.format == Plain {
			continue
		}
		before := 0
		for i, n := range cuts(s) {
			if testing.Short() && i%8 != 0 {
				continue
			}
			out, v := read(t, s.packed[:n], Options{Name: "x.gz"})
			if !bytes.HasPrefix(s.text, out) {
				t.Fatalf("%v cut at %d: the output is not a prefix of the text", s.format, n)
			}
			if len(out) < before {
				t.Fatalf("%v cut at %d: %d bytes, but %d at the previous cut", s.format, n, len(out), before)
			}
			before = len(out)
			if n == 0 || betweenChunks(s, out, v) {
				if v.Kind != OK {
					t.Errorf("%v cut at %d: verdict %v", s.format, n, v)
				}
				continue
			}
			if v.Kind != Truncated || v.Offset != int64(n) || !v.Cut || !v.Damage() {
				t.Errorf("%v cut at %d: verdict %v", s.format, n, v)
			}
		}
		if before < len(s.text)/2 && s.format != Bzip2 && s.format != Zstd && s.format != LZ4 && s.format != Snappy { // these samples have a single block
			t.Errorf("%v without its last byte gives only %d bytes of %d", s.format, before, len(s.text))
		}
	}
}

// betweenChunks reports whether s has a format of chunks without an end mark,
// and was truncated at the end of a chunk.
func betweenChunks(s sample, out []byte, v Verdict) bool {
	switch s.format {
	case S2, Snappy:
		return v.Kind == OK && len(out)%(4<<10) == 0
	case Xerial:
		return v.Kind == OK && len(out)%1000 == 0
	}
	return false
}

// TestCutSecond truncates the second of two members at every byte: even one
// stray byte must be detected.
func TestCutSecond(t *testing.T) {
	for _, s := range samples(t) {
		if s.format == Plain {
			continue
		}
		for n := 1; n < min(len(s.packed), 40); n++ {
			two := append(bytes.Clone(s.packed), s.packed[:n]...)
			out, v := read(t, two, Options{})
			if !bytes.HasPrefix(out, s.text) {
				t.Fatalf("%v, %d bytes of a second member: the first is incomplete", s.format, n)
			}
			if betweenChunks(s, out[len(s.text):], v) {
				continue // only the stream identifier
			}
			if v.Kind != Truncated || v.Offset != int64(len(two)) {
				t.Errorf("%v, %d bytes of a second member: verdict %v", s.format, n, v)
			}
		}
	}
}

// TestFlip flips one bit at a time. Only the verdict may report the damage, and
// for formats with checksums the output before it must at least be limited.
func TestFlip(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, s := range samples(t) {
		if s.format == Plain || s.format == Xerial { // no checksums
			continue
		}
		for range 150 {
			at, bit := rnd.IntN(len(s.packed)), byte(1)<<rnd.IntN(8)
			bad := bytes.Clone(s.packed)
			bad[at] ^= bit
			out, v := read(t, bad, Options{Name: "x.gz"})
			if v.Kind == OK && !bytes.Equal(out, s.text) {
				t.Errorf("%v, bit %#x of byte %d: the text differs, but the verdict is ok", s.format, bit, at)
			}
			if v.Offset < 0 || v.Offset > int64(len(bad)) {
				t.Errorf("%v, bit %#x of byte %d: offset %d", s.format, bit, at, v.Offset)
			}
		}
	}
}

func TestGzipVerdicts(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	whole := gz(t, text)
	size := int64(len(whole))
	with := func(at int64, c byte) []byte { b := bytes.Clone(whole); b[at] ^= c; return b }
	cat := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	zeros := make([]byte, 1<<20)
	f := func(name string, packed []byte, n int, want Verdict) {
		t.Helper()
		out, v := read(t, packed, Options{})
		v.Detail, v.Format = "", Plain
		if v != want || len(out) != n*len(text) || n > 0 && !bytes.Equal(out[:len(text)], text) {
			t.Errorf("%s: %d bytes of %d, verdict %+v, want %+v", name, len(out), n*len(text), v, want)
		}
	}
	f("wrong CRC", with(size-8, 1), 1, Verdict{Kind: BadCRC, Offset: size - 8})
	f("wrong ISIZE", with(size-1, 1), 1, Verdict{Kind: BadCRC, Offset: size - 8})
	f("wrong CRC, then another member", cat(with(size-8, 1), whole), 2, Verdict{Kind: BadCRC, Offset: size - 8})
	f("wrong CRC, then a cut", cat(with(size-8, 1), whole[:15]), 1, Verdict{Kind: Truncated, Offset: size + 15, Cut: true})
	f("wrong CRC, then garbage", cat(with(size-8, 1), []byte("xyz")), 1, Verdict{Kind: Corrupt, Offset: size, Cut: true})
	f("wrong CRC, then zero padding", cat(with(size-8, 1), zeros), 1, Verdict{Kind: BadCRC, Offset: size - 8})
	f("garbage", cat(whole, []byte("some garbage\n")), 1, Verdict{Kind: Corrupt, Offset: size, Cut: true})
	f("zero padding", cat(whole, zeros), 1, Verdict{Kind: TrailingGarbage, Offset: size})
	f("zero padding, then a member", cat(whole, zeros, whole), 2, Verdict{Kind: Corrupt, Offset: size}) // possibly a hole that replaced members
	f("reserved flag", with(3, 0x80), 0, Verdict{Kind: Corrupt, Offset: 10, Cut: true})
	f("empty member", gz(t, nil), 0, Verdict{})
	f("header only", whole[:10], 0, Verdict{Kind: Truncated, Offset: 10, Cut: true})
	f("two bytes", whole[:2], 0, Verdict{Kind: Truncated, Offset: 2, Cut: true})
	f("empty file", nil, 0, Verdict{})

	// RFC 1952 section 2.3.1: FEXTRA, FNAME, FCOMMENT and FHCRC, all of them.
	head := []byte("\x1f\x8b\x08\x1e\x00\x00\x00\x00\x00\x03\x04\x00abcdname\x00comment\x00")
	crc := crcOf(head)
	f("all header fields", cat(head, crc, whole[10:]), 1, Verdict{})
	f("wrong header CRC", cat(head, []byte{crc[0] ^ 1, crc[1]}, whole[10:]), 0,
		Verdict{Kind: Corrupt, Offset: int64(len(head) + 2), Cut: true})
	f("empty extra field", cat([]byte("\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\x03\x00\x00"), whole[10:]), 1, Verdict{})
	for n := 10; n < len(head)+2; n++ {
		f("cut in the header", cat(head, crc)[:n], 0, Verdict{Kind: Truncated, Offset: int64(n), Cut: true})
	}
}

// TestWrongChecksum checks that the text of a member with a wrong checksum is
// delivered.
func TestWrongChecksum(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	z := zst(t, text)
	sum := len(z) - 4
	z[sum] ^= 1
	out, v := read(t, z, Options{})
	if want := (Verdict{Kind: BadCRC, Offset: int64(sum)}); !bytes.Equal(out, text) || v.Kind != want.Kind || v.Offset != want.Offset || v.Cut {
		t.Errorf("zstd: %d bytes of %d, %+v", len(out), len(text), v)
	}
	out, v = read(t, z, Options{Concurrency: 4})
	if !bytes.Equal(out, text) || v.Kind != BadCRC || v.Offset != int64(sum) || v.Cut {
		t.Errorf("zstd, concurrent: %d bytes of %d, %+v", len(out), len(text), v)
	}
	l := lz(t, text)
	l[len(l)-1] ^= 1
	out, v = read(t, l, Options{})
	if !bytes.Equal(out, text) || v.Kind != BadCRC || v.Offset != int64(len(l)-4) || v.Cut {
		t.Errorf("lz4: %d bytes of %d, %+v", len(out), len(text), v)
	}
}

func TestNames(t *testing.T) {
	text := []byte("GET / HTTP/1.1\n")
	utf16le := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune("GET /\n")) {
		utf16le = append(utf16le, byte(u), byte(u>>8))
	}
	f := func(name string, packed []byte, want Kind) {
		t.Helper()
		if _, v := read(t, packed, Options{Name: name}); v.Kind != want {
			t.Errorf("%s: verdict %v, want %v", name, v, want)
		}
	}
	f("a.log", text, OK)
	f("a.log.gz", text, Corrupt)
	f("a.log.ZST", text, Corrupt)
	f("a.log.br", text, UnsupportedFormat)
	f("a.log.Z", []byte("\x1f\x9dabc"), UnsupportedFormat)
	f("a.log", []byte("PK\x03\x04abc"), UnsupportedFormat)
	isText := func(got []byte) bool { return bytes.HasPrefix(text, got) }
	if got, v := read(t, text, Options{Name: "a.log.gz", IsText: isText}); v.Kind != OK || !bytes.Equal(got, text) {
		t.Errorf("text named .gz: %v, %q", v, got)
	}
	if _, v := read(t, []byte("other"), Options{Name: "a.log.gz", IsText: isText}); v.Kind != Corrupt {
		t.Errorf("other content named .gz: %v", v)
	}
	for _, m := range magics {
		if m.format == Unsupported && extractors[m.name] == "" {
			t.Errorf("the error about %s names no program that reads it", m.name)
		}
	}
	f("a.log.gz", nil, OK)
	f("a.log.gz", []byte{0x1f}, Truncated)
	f("a.log", []byte{0x1f, 0x8b}, Truncated)
	f("a.log.zst", []byte("("), Truncated)
	f("a.log", []byte("("), OK)
	f("a.log", []byte("BZ"), OK)
	f("a.log", []byte("BZh9 is how a text may begin\n"), OK)
	f("a.log.gz", gz(t, text), OK)
	f("a.log", gz(t, text), OK)
	f("a.txt", zst(t, text), OK)
	f("a.log", utf16le, UnsupportedEncoding)
	f("a.log.gz", gz(t, utf16le), UnsupportedEncoding)
	f("a.log", []byte("\xfe\xff\x00G"), UnsupportedEncoding)
	f("a.log", []byte("\xef\xbb\xbfGET /\n"), OK)
	f("a.log", []byte("\xffabc\n"), OK)
	f("a.log", []byte("\x00\x00\n"), OK)
	f("a.zst", append([]byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc"), zst(t, text)...), OK)
}

func TestDetect(t *testing.T) {
	for _, s := range samples(t) {
		if got := Detect(s.packed); got != s.format {
			t.Errorf("Detect returns %v for %v", got, s.format)
		}
	}
	for _, a := range magics {
		for _, b := range magics {
			if a != b && strings.HasPrefix(a.bytes, b.bytes) {
				t.Errorf("magic %q is a prefix of %q", b.bytes, a.bytes)
			}
		}
		if len(a.bytes) > maxMagic {
			t.Errorf("magic %q is longer than maxMagic", a.bytes)
		}
	}
}

// TestDetectAllocs checks that Detect does not copy a long text for each magic.
func TestDetectAllocs(t *testing.T) {
	text := bytes.Repeat([]byte("a line of text\n"), 1<<12)
	if n := testing.AllocsPerRun(10, func() { Detect(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSlowPipe checks that the beginning of a text is delivered before more of
// it arrives.
func TestSlowPipe(t *testing.T) {
	pr, pw := io.Pipe()
	defer func() { _ = pw.Close() }()
	go func() { _, _ = pw.Write([]byte("a\n")) }()
	buf := make([]byte, 100)
	n, err := NewReader(pr, Options{}).Read(buf)
	if err != nil || string(buf[:n]) != "a\n" {
		t.Errorf("%q, %v", buf[:n], err)
	}
}

func TestCorpus(t *testing.T) {
	root := os.Getenv("URLFOLD_CORPORA")
	if root == "" {
		t.Skip("skipped: needs the compressed logs of the corpora; set URLFOLD_CORPORA to the folder of the corpora")
	}
	f := func(name string, format Format, want Kind, lines int) {
		t.Helper()
		packed := readFile(t, filepath.Join(root, "logs", "compressed", name))
		out, v := read(t, packed, Options{Name: name})
		if v.Kind != want || v.Format != format || bytes.Count(out, []byte("\n")) != lines {
			t.Errorf("%s: %v, %v, %d lines, want %v, %v, %d", name, v.Format, v, bytes.Count(out, []byte("\n")), format, want, lines)
		}
	}
	f("lnav_access_log.gz", Gzip, OK, 2492)
	f("vector_gzipped.log", Gzip, OK, 5)
	f("vector_multipart-zst.log", Plain, OK, 12) // the name mentions zstd, but the file is plain
	f("vector_utf-16le.log", Plain, UnsupportedEncoding, 0)
}

func FuzzReader(f *testing.F) {
	for _, s := range samples(f) {
		f.Add(s.packed)
		f.Add(s.packed[:len(s.packed)/2])
	}
	f.Add([]byte(xerialMagic))
	f.Fuzz(func(t *testing.T, packed []byte) {
		out, v := read(t, packed, Options{Limits: Limits{MaxBytes: 1 << 20, MaxWindow: 1 << 20}})
		if len(out) > 1<<20 && v.Format != Plain {
			t.Errorf("%d bytes of output", len(out))
		}
		if v.Offset < 0 || v.Offset > int64(len(packed)) {
			t.Errorf("offset %d of %d", v.Offset, len(packed))
		}
		if v.Kind == OK && v.Cut {
			t.Error("verdict ok, but Cut is set")
		}
	})
}

package compress

import (
	"bytes"
	stdgzip "compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// mixed returns n bytes that lead to deflate blocks of all three kinds: log
// lines, random bytes (stored), and a repeated byte.
func mixed(t testing.TB, n int) []byte {
	log := readFile(t, "testdata/access.log")
	rnd := rand.New(rand.NewPCG(7, 7))
	var text []byte
	for len(text) < n {
		switch size := 1 + rnd.IntN(70<<10); rnd.IntN(4) {
		case 0:
			for range size / 8 {
				text = append(text, byte(rnd.Uint32()), byte(rnd.Uint32()), byte(rnd.Uint32()), byte(rnd.Uint32()))
			}
		case 1:
			text = append(text, bytes.Repeat([]byte{byte(size)}, size)...)
		default:
			for line := range bytes.Lines(log) {
				text = fmt.Appendf(text, "%d %s", rnd.Uint32(), line)
			}
		}
	}
	return text[:n]
}

// gzFlush compresses src to one member, with flushes in between. They lead to
// short blocks, some of which are empty or use the fixed codes.
func gzFlush(t testing.TB, src []byte, newWriter func(io.Writer) flusher) []byte {
	t.Helper()
	var b bytes.Buffer
	w := newWriter(&b)
	rnd := rand.New(rand.NewPCG(8, 8))
	for len(src) > 0 {
		n := min(len(src), 1+rnd.IntN(1<<uint(rnd.IntN(17))))
		if _, err := w.Write(src[:n]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		src = src[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type flusher interface {
	io.WriteCloser
	Flush() error
}

// members packs text as n members; every tenth is empty.
func members(t testing.TB, f Format, text []byte, n int) []byte {
	t.Helper()
	pack, err := NewPack(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for i := range n {
		if i%10 == 9 {
			out = pack(out, nil)
			continue
		}
		k := len(text) / (n - i)
		out = pack(out, text[:k])
		text = text[k:]
	}
	return pack(out, text)
}

// A resumable is a file for tests of resuming.
type resumable struct {
	name   string
	packed []byte
	every  int64
	block  int64 // maximum length of its blocks
}

// blockMax is the maximum length of the blocks of these gzip writers: they
// start a new block after 16 Ki or 32 Ki symbols of up to 258 bytes (RFC 1951
// section 3.2.5).
const blockMax = 32 << 10 * 258

func gzipFiles(t testing.TB, text []byte) (files []resumable) {
	for level := 1; level <= 9; level++ {
		klauspost := func(w io.Writer) flusher { z, _ := gzip.NewWriterLevel(w, level); return z }
		std := func(w io.Writer) flusher { z, _ := stdgzip.NewWriterLevel(w, level); return z }
		plain := encode(t, text, func(w io.Writer) (io.WriteCloser, error) { return klauspost(w), nil })
		files = append(files, resumable{fmt.Sprintf("gzip level %d", level), plain, 20 << 10, blockMax})
		plain = encode(t, text, func(w io.Writer) (io.WriteCloser, error) { return std(w), nil })
		files = append(files, resumable{fmt.Sprintf("std gzip level %d", level), plain, 50 << 10, blockMax})
		if level == 1 || level == 6 {
			files = append(files,
				resumable{fmt.Sprintf("gzip level %d, flushed", level), gzFlush(t, text, klauspost), 1, 64 << 10},
				resumable{fmt.Sprintf("std gzip level %d, flushed", level), gzFlush(t, text, std), 50 << 10, 64 << 10})
		}
	}
	if program, err := exec.LookPath("gzip"); err == nil {
		for _, level := range []string{"-1", "-6", "-9"} {
			cmd := exec.Command(program, "-c", level)
			cmd.Stdin = bytes.NewReader(text)
			packed, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, resumable{"program gzip " + level, packed, 20 << 10, blockMax})
		}
	}
	return files
}

func otherFiles(t testing.TB, text []byte) []resumable {
	size := int64(len(text))
	zstFrames := members(t, Zstd, text, 300)
	zstLong := encode(t, text, func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest))
	})
	skippable := append([]byte("\x50\x2a\x4d\x18\x03\x00\x00\x00abc"), zstFrames...)
	half := len(text) / 2
	log := readFile(t, "testdata/access.log")
	return []resumable{
		{"plain", text, 1, 0},
		{"gzip, 1000 members", members(t, Gzip, text, 1000), 1 << 20, 100 << 10},
		{"gzip, 1000 members, points everywhere", members(t, Gzip, text, 1000), 1, 100 << 10},
		{"gzip, 3 members, points inside", bytes.Repeat(gzFlush(t, text[:half], func(w io.Writer) flusher { return gzip.NewWriter(w) }), 3), 10 << 10, 64 << 10},
		{"gzip, 1000 members and garbage", append(members(t, Gzip, text, 1000), "garbage"...), 1 << 20, 100 << 10},
		{"gzip and zero bytes", append(gz(t, text), make([]byte, 512)...), 20 << 10, blockMax},
		{"zstd, 300 frames", zstFrames, 1, 100 << 10},
		{"zstd, skippable", append(skippable, skippable...), 1, 100 << 10},
		{"zstd, 300 frames and garbage", append(bytes.Clone(zstFrames), "garbage"...), 1 << 20, 100 << 10},
		{"zstd, 1 frame", zstLong, 1, size},
		{"s2", s2x(t, text), 1, 4 << 10},
		{"s2, 2 streams", append(s2x(t, text[:half]), s2x(t, text[half:])...), 1, 4 << 10},
		{"snappy", snap(t, text), 1, 64 << 10},
		{"xerial", xerial(t, text), 1, 1000},
		{"xz, 20 streams", bytes.Repeat(xzip(t, log), 20), 1, int64(len(log))},
		{"bzip2", bytes.Repeat(readFile(t, "testdata/access.log.bz2"), 20), 1, 20 * int64(len(log))},
		{"lz4", lz(t, text), 1, size},
	}
}

// stopResume reads f up to a random offset and returns the newest restart
// point, after encoding and decoding it, and the offset.
func stopResume(t testing.TB, f resumable, rnd *rand.Rand, size int) (RestartPoint, int64) {
	t.Helper()
	opt := Options{RestartEvery: f.every, Limits: Limits{MaxRatio: -1}}
	r := NewReader(bytes.NewReader(f.packed), opt)
	defer r.Close()
	return readTo(t, r, rnd, int64(rnd.IntN(size+1)))
}

// readTo reads r up to offset stop, a random number of bytes at a time.
func readTo(t testing.TB, r *Reader, rnd *rand.Rand, stop int64) (RestartPoint, int64) {
	t.Helper()
	buf := make([]byte, 100<<uint(rnd.IntN(12))/(1+rnd.IntN(3)))
	for r.Bytes() < stop {
		k := int64(len(buf))
		if _, err := r.Read(buf[:min(k, stop-r.Bytes())]); err != nil {
			break
		}
	}
	p, ok := r.RestartPoint()
	if !ok || p.Offset() > r.Bytes() {
		t.Fatalf("at %d: restart point at %d, %v", r.Bytes(), p.Offset(), ok)
	}
	var q RestartPoint
	if err := q.UnmarshalBinary(marshal(t, p)); err != nil || q != p {
		t.Fatalf("the point at %d does not survive its binary form: %v", p.Offset(), err)
	}
	return q, r.Bytes()
}

// checkResumes stops f repeatedly and compares the text from there with an
// uninterrupted reading. It returns the number of points inside a member.
func checkResumes(t *testing.T, f resumable, stops int) (inside int) {
	t.Helper()
	opt := Options{RestartEvery: f.every, Limits: Limits{MaxRatio: -1}}
	text, want := read(t, f.packed, Options{Limits: opt.Limits})
	rnd := rand.New(rand.NewPCG(uint64(len(f.packed)), uint64(f.every)))
	for range stops {
		p, at := stopResume(t, f, rnd, len(text))
		if p.inside {
			inside++
		}
		if at-p.Offset() > f.every+f.block {
			t.Fatalf("%s: %d bytes to read again at %d, points are %d apart and blocks at most %d", f.name, at-p.Offset(), at, f.every, f.block)
		}
		r, err := ResumeAt(bytes.NewReader(f.packed), p, at, opt)
		if err != nil {
			t.Fatalf("%s at %d: %v", f.name, at, err)
		}
		if f.name != "plain" && r.Again() != at-p.Offset() || f.name == "plain" && r.Again() != 0 {
			t.Fatalf("%s at %d: %d bytes were read again from %d", f.name, at, r.Again(), p.Offset())
		}
		if rnd.IntN(4) == 0 { // stop again
			q, at2 := readTo(t, r, rnd, at+int64(rnd.IntN(len(text)-int(at)+1)))
			r.Close()
			if r, err = ResumeAt(bytes.NewReader(f.packed), q, at2, opt); err != nil {
				t.Fatalf("%s at %d, then %d: %v", f.name, at, at2, err)
			}
			at = at2
		}
		rest, err := io.ReadAll(r)
		r.Close()
		if err != nil || !bytes.Equal(rest, text[at:]) {
			t.Fatalf("%s at %d from %d: %d bytes, the rest is %d, %v", f.name, at, p.Offset(), len(rest), len(text)-int(at), err)
		}
		if v := r.Verdict(); v != want {
			t.Fatalf("%s at %d from %d (%d): verdict %+v, want %+v", f.name, at, p.Offset(), p.compressed, v, want)
		}
		if r.CompressedBytes() != int64(len(f.packed)) && !want.Cut {
			t.Fatalf("%s at %d: %d compressed bytes of %d", f.name, at, r.CompressedBytes(), len(f.packed))
		}
	}
	return inside
}

// stops returns the number of stops for the file with that name. Files of the
// same kind share the work, and files that are always read from their start
// need few.
func stops(name string) int {
	for _, few := range []string{"level 2", "level 3", "level 4", "level 5", "level 7", "level 8", "program gzip -1", "std", "bzip2", "lz4", "xz", "1 frame"} {
		if strings.Contains(name, few) {
			return 8
		}
	}
	return 50
}

func TestResumeGzip(t *testing.T) {
	t.Parallel()
	text := mixed(t, 256<<10)
	for _, f := range gzipFiles(t, text) {
		if inside := checkResumes(t, f, stops(f.name)); inside < stops(f.name)/3 {
			t.Errorf("%s: only %d of %d restart points are inside the member", f.name, inside, stops(f.name))
		}
	}
}

func TestResumeOthers(t *testing.T) {
	t.Parallel()
	text := mixed(t, 192<<10)
	for _, f := range otherFiles(t, text) {
		inside := checkResumes(t, f, stops(f.name))
		if want := strings.HasSuffix(f.name, "points inside"); (inside > 0) != (want || f.name == "gzip and zero bytes") {
			t.Errorf("%s: %d restart points are inside a member", f.name, inside)
		}
	}
}

// TestResumeDamage checks that damage after a restart point gives the verdict
// of an uninterrupted reading.
func TestResumeDamage(t *testing.T) {
	t.Parallel()
	text := mixed(t, 150<<10)
	rnd := rand.New(rand.NewPCG(3, 4))
	klauspost := func(w io.Writer) flusher { return gzip.NewWriter(w) }
	one, many := gz(t, text), members(t, Gzip, text, 30)
	for _, f := range []resumable{
		{"gzip", one, 10 << 10, blockMax},
		{"flushed", gzFlush(t, text, klauspost), 1, 64 << 10},
		{"members", many, 1000, 64 << 10},
		{"zstd", members(t, Zstd, text, 30), 1, 64 << 10},
		{"s2", s2x(t, text), 1, 4 << 10},
		{"xz", bytes.Repeat(xzip(t, text[:10<<10]), 5), 1, 10 << 10},
	} {
		whole := f.packed
		damage := func(name string, bad []byte, stops int) {
			t.Helper()
			checkResumes(t, resumable{f.name + ", " + name, bad, f.every, f.block}, stops)
		}
		with := func(at int, c byte) []byte { b := bytes.Clone(whole); b[at] ^= c; return b }
		size := len(whole)
		damage("CRC", with(size-8, 1), 8)
		damage("ISIZE", with(size-1, 1), 8)
		damage("a byte missing", whole[:size-1], 8)
		damage("garbage", append(bytes.Clone(whole), "not a member"...), 8)
		flips := 8
		if testing.Short() {
			flips = 1
		}
		for range flips {
			damage("bit flip", with(rnd.IntN(size), 1<<rnd.IntN(8)), 4)
			damage("truncated", whole[:rnd.IntN(size)], 4)
		}
	}
	// A wrong CRC before the point is still reported at the end.
	bad := bytes.Clone(many)
	bad[bytes.Index(bad[1:], []byte("\x1f\x8b\x08"))+1-8] ^= 1
	checkResumes(t, resumable{"wrong CRC of the first member", bad, 1000, 64 << 10}, 20)
	checkResumes(t, resumable{"the same, truncated", bad[:len(bad)-100], 1000, 64 << 10}, 20)
}

package compress

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestResumeGrowing reads a file while it is written, as soon as its format can
// be detected. At every length, it resumes from the newest restart point at the
// delivered offset, and reads to the end. Together that must be the whole text,
// and the last verdict must be that of an uninterrupted reading.
func TestResumeGrowing(t *testing.T) {
	text := mixed(t, 100<<10)
	flushed := func(w io.Writer) flusher { return gzip.NewWriter(w) }
	one := gzFlush(t, text[:50<<10], flushed)
	bad := bytes.Clone(one)
	bad[len(bad)-8] ^= 1
	f := func(name string, packed []byte, step int) {
		t.Helper()
		want, verdict := read(t, packed, Options{})
		opt := Options{Name: "growing", RestartEvery: 5 << 10}
		var point RestartPoint
		var got []byte
		for n := 16; ; n = min(n+step, len(packed)) {
			r, err := ResumeAt(bytes.NewReader(packed[:n]), point, int64(len(got)), opt)
			if err != nil {
				t.Fatalf("%s, %d bytes: %v", name, n, err)
			}
			more, err := io.ReadAll(r)
			r.Close()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, more...)
			point, _ = r.RestartPoint()
			if !bytes.HasPrefix(want, got) || point.Offset() > int64(len(got)) || point.compressed > int64(n) {
				t.Fatalf("%s, %d bytes: the text differs, or the restart point is beyond the delivered text", name, n)
			}
			if n == len(packed) {
				if v := r.Verdict(); v != verdict || len(got) != len(want) {
					t.Errorf("%s: %d bytes of %d, %+v, want %+v", name, len(got), len(want), v, verdict)
				}
				return
			}
		}
	}
	f("plain", text, 1000)
	f("gzip, one member", one, 173)
	f("gzip, a wrong CRC between", append(bytes.Clone(bad), one...), 1009)
	f("gzip, members", members(t, Gzip, text, 50), 307)
	f("zstd", members(t, Zstd, text, 50), 307)
	f("s2", s2x(t, text), 507)
	f("xerial", xerial(t, text), 507)
	log := readFile(t, "testdata/access.log")
	for _, s := range samples(t) { // complete members
		if s.format != Plain {
			f(s.format.String(), bytes.Repeat(s.packed, 5), len(s.packed))
		}
	}
	f("zero bytes behind bzip2", append(readFile(t, "testdata/access.log.bz2"), make([]byte, len(log))...), 1<<20)
}

func TestResumeErrors(t *testing.T) {
	text := mixed(t, 300<<10)
	packed := gz(t, text)
	opt := Options{RestartEvery: 1}
	r := NewReader(bytes.NewReader(packed), opt)
	defer r.Close()
	if p, ok := r.RestartPoint(); !ok || p != (RestartPoint{}) {
		t.Errorf("before the first Read the point is %+v, %v", p, ok)
	}
	if _, err := io.CopyN(io.Discard, onlyReader{r}, 200<<10); err != nil {
		t.Fatal(err)
	}
	p, ok := r.RestartPoint()
	if !ok || !p.inside {
		t.Fatalf("%+v, %v", p, ok)
	}
	if _, err := NewReaderAt(bytes.NewReader(packed[:p.compressed-1]), p, opt); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that is too short: %v", err)
	}
	if _, err := ResumeAt(bytes.NewReader(packed), p, p.offset-1, opt); err == nil {
		t.Error("an offset before the point is accepted")
	}
	if _, err := ResumeAt(bytes.NewReader(packed), p, int64(len(text))+1, opt); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an offset after the end: %v", err)
	}
	if _, err := ResumeAt(bytes.NewReader(text[:100]), RestartPoint{}, 101, opt); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an offset after the end of a plain file: %v", err)
	}
	if _, err := NewReaderAt(unseekable{bytes.NewReader(packed)}, p, opt); !errors.Is(err, errSeek) {
		t.Errorf("a pipe: %v", err)
	}
	off := NewReader(bytes.NewReader(packed), Options{})
	if _, err := io.Copy(io.Discard, onlyReader{off}); err != nil {
		t.Fatal(err)
	}
	if p, ok := off.RestartPoint(); ok || p != (RestartPoint{}) {
		t.Errorf("a point without RestartEvery: %+v", p)
	}
}

var errSeek = errors.New("a pipe does not seek")

type unseekable struct{ *bytes.Reader }

func (unseekable) Seek(int64, int) (int64, error) { return 0, errSeek }

// TestResumeLimits checks that limits count from the start of the file.
func TestResumeLimits(t *testing.T) {
	text := mixed(t, 300<<10)
	f := func(name string, packed []byte) {
		t.Helper()
		size := int64(len(text))
		for _, limit := range []int64{size - 1, size} {
			opt := Options{RestartEvery: 1, Limits: Limits{MaxBytes: limit}}
			r := NewReader(bytes.NewReader(packed), opt)
			if _, err := io.CopyN(io.Discard, onlyReader{r}, 250<<10); err != nil {
				t.Fatal(err)
			}
			p, _ := r.RestartPoint()
			r.Close()
			again, err := ResumeAt(bytes.NewReader(packed), p, 250<<10, opt)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, onlyReader{again})
			again.Close()
			want := OK
			if limit < size {
				want = Limit
			}
			if v := again.Verdict(); err != nil || n != limit-250<<10 || v.Kind != want {
				t.Errorf("%s, limit %d: %d bytes, %v", name, limit, n, v)
			}
		}
	}
	f("gzip", gz(t, text))
	f("zstd", members(t, Zstd, text, 20))
	f("s2", s2x(t, text))

	// 128 MiB of zero bytes with a ratio of 1000 exceed the limit after the
	// grace of 64 MiB. They are written by the standard library, because
	// klauspost's writer makes a single block of them.
	bomb := encode(t, make([]byte, 128<<20), func(w io.Writer) (io.WriteCloser, error) { return stdgzip.NewWriter(w), nil })
	opt := Options{RestartEvery: 16 << 20}
	_, want := readBomb(t, NewReader(bytes.NewReader(bomb), opt))
	r := NewReader(bytes.NewReader(bomb), opt)
	if _, err := io.CopyN(io.Discard, onlyReader{r}, 60<<20); err != nil {
		t.Fatal(err)
	}
	p, _ := r.RestartPoint()
	again, err := NewReaderAt(bytes.NewReader(bomb), p, opt)
	if err != nil {
		t.Fatal(err)
	}
	n, v := readBomb(t, again)
	if v.Kind != Limit || want.Kind != Limit || p.offset < 32<<20 || n < ratioGrace || n > ratioGrace+1<<20 {
		t.Errorf("resumed at %d: stopped at %d, %v; uninterrupted: %v", p.offset, n, v, want)
	}
}

func readBomb(t *testing.T, r *Reader) (int64, Verdict) {
	t.Helper()
	defer r.Close()
	if _, err := io.Copy(io.Discard, onlyReader{r}); err != nil {
		t.Fatal(err)
	}
	return r.Bytes(), r.Verdict()
}

// TestResumeConcurrent decodes zstd with several goroutines and checks that
// there are points about every RestartEvery bytes.
func TestResumeConcurrent(t *testing.T) {
	text := mixed(t, 1<<20)
	packed := members(t, Zstd, text, 100)
	opt := Options{RestartEvery: 100 << 10, Concurrency: 4}
	r := NewReader(bytes.NewReader(packed), opt)
	defer r.Close()
	buf := make([]byte, 10<<10)
	points := map[int64]RestartPoint{}
	for err := error(nil); err == nil; _, err = r.Read(buf) {
		p, ok := r.RestartPoint()
		if !ok || p.offset > r.Bytes() {
			t.Fatalf("a point at %d, but only %d bytes are delivered", p.offset, r.Bytes())
		}
		points[p.offset] = p
	}
	if len(points) < 5 {
		t.Errorf("only %d points", len(points))
	}
	for _, p := range points {
		again, err := NewReaderAt(bytes.NewReader(packed), p, opt)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(again)
		again.Close()
		if v := again.Verdict(); err != nil || !bytes.Equal(rest, text[p.offset:]) || v.Kind != OK {
			t.Errorf("from %d: %d bytes, %v", p.offset, len(rest), v)
		}
	}
}

// TestRestartNoAllocs checks that restart points do not make Read allocate.
func TestRestartNoAllocs(t *testing.T) {
	packed := gz(t, bytes.Repeat(readFile(t, "testdata/access.log"), 2000))
	r := NewReader(bytes.NewReader(packed), Options{RestartEvery: math.MaxInt64, Limits: Limits{MaxRatio: -1}})
	defer r.Close()
	buf := make([]byte, 32<<10)
	if _, err := r.Read(buf); err != nil {
		t.Fatal(err)
	}
	var offset int64
	n := testing.AllocsPerRun(100, func() {
		_, _ = r.Read(buf)
		p, _ := r.RestartPoint()
		offset = p.Offset()
	})
	if n > 0 || offset != 0 {
		t.Errorf("%v allocations for a Read, point at %d", n, offset)
	}
}

// FuzzResume checks that for any file, resuming from a restart point gives the
// rest of the text and the verdict of an uninterrupted reading.
func FuzzResume(f *testing.F) {
	text := mixed(f, 20<<10)
	flushed := func(w io.Writer) flusher { return gzip.NewWriter(w) }
	for _, s := range samples(f) {
		f.Add(append(bytes.Clone(s.packed), s.packed...), uint16(1), uint16(len(s.text)+100))
	}
	f.Add(gzFlush(f, text, flushed), uint16(1), uint16(10000))
	f.Add(members(f, Gzip, text, 10), uint16(3000), uint16(10000))
	f.Add(members(f, Zstd, text, 10), uint16(1), uint16(10000))
	f.Fuzz(func(t *testing.T, packed []byte, every, stop uint16) {
		limits := Limits{MaxBytes: 1 << 20, MaxWindow: 1 << 20}
		text, want := read(t, packed, Options{Limits: limits})
		opt := Options{Limits: limits, RestartEvery: int64(every)}
		r := NewReader(bytes.NewReader(packed), opt)
		defer r.Close()
		_, _ = io.CopyN(io.Discard, onlyReader{r}, int64(stop)) // may reach the end first
		p, ok := r.RestartPoint()
		if ok != (every > 0) || p.Offset() > r.Bytes() || r.Bytes() > int64(len(text)) {
			t.Fatalf("point %+v, %v, at %d", p, ok, r.Bytes())
		}
		at := r.Bytes()
		again, err := ResumeAt(bytes.NewReader(packed), p, at, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		rest, err := io.ReadAll(again)
		if err != nil || !bytes.Equal(rest, text[at:]) {
			t.Fatalf("from %d: %d bytes, want %d", p.Offset(), len(rest), len(text[at:]))
		}
		got := again.Verdict()
		// Details may differ for zero bytes after a clean end of bzip2 and lz4.
		if got.Kind != want.Kind || got.Offset != want.Offset || got.Cut != want.Cut {
			t.Fatalf("from %+v: %+v, want %+v", p, got, want)
		}
	})
}

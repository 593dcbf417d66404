package compress

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func crcOf(head []byte) []byte {
	return binary.LittleEndian.AppendUint16(nil, uint16(crc32.ChecksumIEEE(head)))
}

func TestMaxBytes(t *testing.T) {
	for _, s := range samples(t) {
		size := int64(len(s.text))
		f := func(limit int64, n int64, want Kind) {
			t.Helper()
			out, v := read(t, s.packed, Options{Limits: Limits{MaxBytes: limit}})
			if int64(len(out)) != n || v.Kind != want || !bytes.HasPrefix(s.text, out) {
				t.Errorf("%v, limit %d: %d bytes, %v", s.format, limit, len(out), v)
			}
			if want == Limit && (!strings.Contains(v.Detail, "(--max-decompressed, limits.max_decompressed)") || !v.Cut || v.Offset == 0) {
				t.Errorf("%v, limit %d: %+v", s.format, limit, v)
			}
		}
		f(size, size, OK)
		f(size+1, size, OK)
		if s.format == Plain {
			f(size-1, size, OK) // limits do not apply to a plain file
			continue
		}
		f(size-1, size-1, Limit)
		f(1, 1, Limit)
	}
}

// TestBomb decompresses 10 GiB of zero bytes: 640 members of 16 MiB each.
func TestBomb(t *testing.T) {
	member := gz(t, make([]byte, 16<<20))
	bomb := io.LimitReader(&repeat{member: member}, int64(len(member))*640)
	r := NewReader(bomb, Options{})
	defer r.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := io.Copy(io.Discard, onlyReader{r})
	runtime.ReadMemStats(&after)
	v := r.Verdict()
	if err != nil || v.Kind != Limit || !strings.Contains(v.Detail, "--max-ratio") {
		t.Errorf("%d bytes, %v, %v", n, err, v)
	}
	if n < ratioGrace || n > ratioGrace+1<<20 {
		t.Errorf("stopped after %d bytes", n)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("%d bytes were allocated", grown)
	}
	if n, v := bombWithout(t, member); n != 160<<20 || v.Kind != OK {
		t.Errorf("without a limit: %d bytes, %v", n, v)
	}
}

func bombWithout(t *testing.T, member []byte) (int64, Verdict) {
	t.Helper()
	r := NewReader(io.LimitReader(&repeat{member: member}, int64(len(member))*10), Options{Limits: Limits{MaxRatio: -1}})
	defer r.Close()
	n, err := io.Copy(io.Discard, onlyReader{r})
	if err != nil {
		t.Fatal(err)
	}
	return n, r.Verdict()
}

// repeat is a file that repeats a member endlessly.
type repeat struct {
	member []byte
	at     int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.member[r.at:])
	r.at = (r.at + n) % len(r.member)
	return n, nil
}

func TestWindow(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	wide := encode(t, bytes.Repeat(text, 300), func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithWindowSize(1<<20), zstd.WithSingleSegment(false))
	})
	f := func(name string, packed []byte, window int64, want Kind) {
		t.Helper()
		_, v := read(t, packed, Options{Limits: Limits{MaxWindow: window}})
		if v.Kind != want || want == Limit && !strings.Contains(v.Detail, "(--max-window, limits.max_window)") {
			t.Errorf("%s, window %d: %v", name, window, v)
		}
	}
	f("zstd", wide, 1<<20, OK)
	f("zstd", wide, 1<<20-1, Limit)
	// RFC 8878 section 3.1.1.1.2: exponent 21, mantissa 0 is 2 GiB.
	f("zstd --long=31", []byte("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00"), 0, Limit)
	// A single segment of 2^40 bytes, section 3.1.1.1.1.2.
	f("single segment", []byte("\x28\xb5\x2f\xfd\xe0\x00\x00\x00\x00\x00\x01\x00\x00\x01\x00\x00"), 0, Limit)
	x := xzip(t, text)
	f("xz", x, 1<<16, OK)
	f("xz", x, 1<<16-1, Limit)
	// The zstd frame above, after an intact one.
	two := append(zst(t, text), wide...)
	out, v := read(t, two, Options{Limits: Limits{MaxWindow: 1<<20 - 1}})
	if v.Kind != Limit && !bytes.Equal(out, text) {
		t.Errorf("second frame: %d bytes, %v", len(out), v)
	}
}

package compress

import (
	"bytes"
	"testing"
)

func TestPack(t *testing.T) {
	text := readFile(t, "testdata/access.log")
	f := func(format Format, level int) {
		t.Helper()
		pack, err := NewPack(format, level)
		if err != nil {
			t.Fatal(err)
		}
		prefix := []byte("before")
		out := pack(bytes.Clone(prefix), text)
		if !bytes.HasPrefix(out, prefix) {
			t.Fatalf("%v: dst was overwritten", format)
		}
		first := len(out) - len(prefix)
		out = pack(out, nil)
		if len(out) == len(prefix)+first {
			t.Errorf("%v: no member for an empty block", format)
		}
		out = pack(out, text)[len(prefix):]
		got, v := read(t, out, Options{})
		if want := append(bytes.Clone(text), text...); !bytes.Equal(got, want) || v.Kind != OK || v.Format != format {
			t.Errorf("%v: %d bytes of %d, %v", format, len(got), len(want), v)
		}
		if got, v := read(t, out[:first], Options{}); !bytes.Equal(got, text) || v.Kind != OK {
			t.Errorf("%v: a member cannot be decoded by itself: %v", format, v)
		}
	}
	for level := range 10 {
		f(Gzip, level)
	}
	for level := range 20 {
		f(Zstd, level)
	}
	for _, bad := range []struct {
		format Format
		level  int
	}{{Gzip, 10}, {Gzip, -9}, {Zstd, 20}, {Zstd, -1}, {Plain, 0}, {XZ, 0}} {
		if _, err := NewPack(bad.format, bad.level); err == nil {
			t.Errorf("NewPack(%v, %d) succeeds", bad.format, bad.level)
		}
	}
}

func TestParseFormat(t *testing.T) {
	f := func(flag, name string, want Format, level int, ok bool) {
		t.Helper()
		if got, l, err := ParseFormat(flag, name); ok && (got != want || l != level) || (err == nil) != ok {
			t.Errorf("ParseFormat(%q, %q) = %v, %d, %v", flag, name, got, l, err)
		}
	}
	f("", "a.log.gz", Gzip, 0, true)
	f("", "a.ZST", Zstd, 0, true)
	f("", "a.log", Plain, 0, true)
	f("none", "a.gz", Plain, 0, true)
	f("gzip", "a", Gzip, 0, true)
	f("zstd", "a.gz", Zstd, 0, true)
	f("gzip:9", "a", Gzip, 9, true)
	f("zstd:19", "a.gz", Zstd, 19, true)
	for _, bad := range []string{"lz4", "none:1", ":3", "gzip:", "gzip:0", "gzip:10", "gzip:-1", "zstd:20", "zstd:x", "zstd:3:1"} {
		f(bad, "a.gz", Plain, 0, false)
	}
}

func TestNoAllocs(t *testing.T) {
	text := bytes.Repeat(readFile(t, "testdata/access.log"), 20)
	for _, format := range []Format{Gzip, Zstd} {
		pack, err := NewPack(format, 0)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, 0, 2*len(text))
		pack(dst, text)
		if n := testing.AllocsPerRun(10, func() { pack(dst, text) }); n > 0 {
			t.Errorf("%v: %v allocations for a block", format, n)
		}
		many := bytes.Repeat(pack(nil, text), 200)
		r := NewReader(bytes.NewReader(many), Options{})
		buf := make([]byte, 64<<10)
		if _, err := r.Read(buf); err != nil {
			t.Fatal(err)
		}
		// Zstd allocates for each frame, with the race detector twice as often, but
		// not for every block.
		if n := testing.AllocsPerRun(100, func() { _, _ = r.Read(buf) }); n > 2 || format == Gzip && n > 0 {
			t.Errorf("%v: %v allocations for a Read", format, n)
		}
		r.Close()
	}
}

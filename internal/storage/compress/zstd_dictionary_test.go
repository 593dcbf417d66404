package compress

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// dictionaryFile returns a web archive of 30 records, each a frame that the zstd
// program wrote (1.5.4, zstd -19 -D warc.dict --check --content-size), after a frame
// with user data. Where the frames begin is in starts.
func dictionaryFile(t testing.TB, user []byte) (packed, text []byte, starts []int) {
	t.Helper()
	packed = binary.LittleEndian.AppendUint32([]byte(dictionaryFrame), uint32(len(user)))
	packed = append(packed, user...)
	frames := readFile(t, "testdata/warc.frames.zst")
	for at := 0; ; at += 4 {
		i := bytes.Index(frames[at:], []byte(magicOf[Zstd]))
		if i < 0 {
			return append(packed, frames...), readFile(t, "testdata/warc.txt"), starts
		}
		at += i
		starts = append(starts, len(packed)+at)
	}
}

// TestZstdDictionary reads web archives with a dictionary, plain or compressed, in
// every way in which a file is read.
func TestZstdDictionary(t *testing.T) {
	dictionary := readFile(t, "testdata/warc.dict")
	for name, user := range map[string][]byte{"plain": dictionary, "compressed": zst(t, dictionary)} {
		packed, text, starts := dictionaryFile(t, user)
		if len(starts) != 30 {
			t.Fatalf("%d frames", len(starts))
		}
		for _, opt := range []Options{{}, {Concurrency: 3}, {Name: "a.warc.zst", RestartEvery: 1}} {
			got, v := read(t, packed, opt)
			if !bytes.Equal(got, text) || v.Kind != OK {
				t.Errorf("%s, %+v: %d bytes of %d, %v", name, opt, len(got), len(text), v)
			}
		}
		// A file is read again from any frame.
		r := NewReader(bytes.NewReader(packed), Options{RestartEvery: 1})
		var points []RestartPoint
		for {
			n, err := r.Read(make([]byte, 300))
			if p, ok := r.RestartPoint(); ok && n > 0 {
				points = append(points, p)
			}
			if err == io.EOF {
				break
			}
		}
		for _, p := range points {
			for _, goroutines := range []int{1, 3} {
				r, err := NewReaderAt(bytes.NewReader(packed), p, Options{Concurrency: goroutines})
				if err != nil {
					t.Fatal(err)
				}
				if got, v := drainFrom(t, r); !bytes.Equal(got, text[p.offset:]) || v.Kind != OK {
					t.Errorf("%s, from %d: %d bytes, %v", name, p.offset, len(got), v)
				}
			}
		}
		if len(points) < 20 {
			t.Errorf("%d restart points", len(points))
		}
		// Damage has the offset of its frame, and the text before it is kept.
		for _, goroutines := range []int{1, 3} {
			bad := slices.Clone(packed)
			bad[starts[20]-2] ^= 1 // in the checksum of frame 19
			got, v := read(t, bad, Options{Concurrency: goroutines})
			if v.Kind != BadCRC || v.Offset != int64(starts[20]-4) || !bytes.HasPrefix(text, got) || len(got) < 19*len(text)/31 {
				t.Errorf("%s, bad checksum: %d bytes, %v, want offset %d", name, len(got), v, starts[20]-4)
			}
			got, v = read(t, packed[:starts[20]+9], Options{Concurrency: goroutines})
			if v.Kind != Truncated || !bytes.HasPrefix(text, got) || len(got) < 20*len(text)/31 {
				t.Errorf("%s, truncated: %d bytes, %v", name, len(got), v)
			}
			bad = slices.Clone(packed)
			copy(bad[starts[20]+8:], "\xff\xff\xff\xff\xff\xff\xff\xff")
			if got, v = read(t, bad, Options{Concurrency: goroutines}); !v.Damage() || !bytes.HasPrefix(text, got) || v.Offset < int64(starts[20]) || v.Offset > int64(starts[21]) {
				t.Errorf("%s, corrupt: %d bytes, %v", name, len(got), v)
			}
		}
		if v := Verify(bytes.NewReader(packed), Options{}); v.Verdict.Kind != OK {
			t.Errorf("%s: Verify: %v", name, v)
		}
		for cut := 1; cut < starts[0]; cut += 101 {
			if got, v := read(t, packed[:cut], Options{Name: "a.zst"}); len(got) > 0 || v.Kind != Truncated {
				t.Errorf("%s, cut at %d: %d bytes, %v", name, cut, len(got), v)
			}
		}
	}
}

// drainFrom is drain for a Reader that does not begin at the start.
func drainFrom(t testing.TB, r *Reader) ([]byte, Verdict) {
	t.Helper()
	defer r.Close()
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out, r.Verdict()
}

// TestZstdDictionaryInvalid: a dictionary that is damaged, missing, another one or too
// long is reported, and a skippable frame with other data is skipped.
func TestZstdDictionaryInvalid(t *testing.T) {
	dictionary := readFile(t, "testdata/warc.dict")
	check := func(name string, user []byte, kind Kind, offset int64, detail string) {
		t.Helper()
		packed, _, _ := dictionaryFile(t, user)
		got, v := read(t, packed, Options{})
		if len(got) > 0 || v.Kind != kind || v.Offset != offset || !strings.Contains(v.Detail, detail) {
			t.Errorf("%s: %d bytes, %v", name, len(got), v)
		}
	}
	another := slices.Clone(dictionary)
	another[4]++
	id := binary.LittleEndian.Uint32(dictionary[4:])
	first := int64(8 + len(dictionary))
	check("another dictionary", another, UnsupportedFormat, first, fmt.Sprintf("needs the dictionary %d", id))
	check("damaged tables", append(slices.Clone(dictionary[:8]), bytes.Repeat([]byte{0xFF}, 100)...), Corrupt, 0, "is damaged")
	packedDictionary := zst(t, dictionary)
	packedDictionary[len(packedDictionary)-1] ^= 1
	check("damaged compressed dictionary", packedDictionary, Corrupt, 0, "is damaged")
	check("compressed text", zst(t, []byte("not a dictionary")), Corrupt, 0, "magic number")
	check("too long", append(slices.Clone(dictionary[:8]), make([]byte, maxDictionary)...), Limit, 0, "longer than 8388608 bytes")
	check("too long when decompressed", zst(t, append(slices.Clone(dictionary[:8]), make([]byte, maxDictionary)...)), Limit, 0, "longer than 8388608 bytes")
	check("other data", []byte("any text in a skippable frame"), UnsupportedFormat, int64(8+29), "zstd -dc -D DICTIONARY FILE")

	// Frames without a dictionary may follow.
	plain := append(binary.LittleEndian.AppendUint32([]byte(dictionaryFrame), uint32(len(dictionary))), dictionary...)
	plain = append(plain, zst(t, []byte("text\n"))...)
	if got, v := read(t, plain, Options{}); string(got) != "text\n" || v.Kind != OK {
		t.Errorf("%q, %v", got, v)
	}
	other := append(binary.LittleEndian.AppendUint32([]byte(dictionaryFrame), 4), "\x28\xb5\x2f"...)
	other = append(append(other, 0), zst(t, []byte("text\n"))...)
	if got, v := read(t, other, Options{}); string(got) != "text\n" || v.Kind != OK {
		t.Errorf("a frame with other data: %q, %v", got, v)
	}
}

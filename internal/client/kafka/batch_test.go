package kafka

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"
)

var codecs = []string{"none", "gzip", "snappy", "lz4", "zstd"}

// encode returns a batch of records with offsets from base on.
func encode(t testing.TB, base int64, codec string, records ...Record) []byte {
	t.Helper()
	c, err := CodecByName(codec)
	if err != nil {
		t.Fatal(err)
	}
	var e Encoder
	for i := range records {
		e.Append(&records[i])
	}
	b, err := e.Finish(Producer{7, 1}, 5, c)
	if err != nil {
		t.Fatal(err)
	}
	if n := binary.BigEndian.Uint32(b); int(n) != len(b)-sizeLen {
		t.Fatalf("batch has the length field %d, but %d bytes", n, len(b)-sizeLen)
	}
	b = b[sizeLen:]
	binary.BigEndian.PutUint64(b, uint64(base))
	return b
}

// change returns b with a modified header and a valid checksum.
func change(b []byte, f func(head []byte)) []byte {
	b = slices.Clone(b)
	f(b[:headerLen])
	binary.BigEndian.PutUint32(b[crcAt:], crc32.Checksum(b[attributesAt:], castagnoli))
	return b
}

func attributes(bits uint16) func([]byte) {
	return func(h []byte) {
		binary.BigEndian.PutUint16(h[attributesAt:], binary.BigEndian.Uint16(h[attributesAt:])|bits)
	}
}

func producer(id int64) func([]byte) {
	return func(h []byte) { binary.BigEndian.PutUint64(h[43:], uint64(id)) }
}

// show returns the records of f from offset on as text, and the offset at which
// reading continues.
func show(f *Fetched, offset int64, d *Decoder) (all []string, next int64, err error) {
	if d.MaxBytes == 0 {
		d.MaxBytes = 1 << 20
	}
	d.Reset(f, offset)
	var r Record
	for d.Next(&r) {
		all = append(all, fmt.Sprintf("%d %d %q %q %q", r.Offset, r.Millis, r.Key, r.Value, r.Headers))
	}
	return all, d.Offset(), d.Err()
}

func values(from, to int) (all []Record) {
	for n := from; n < to; n++ {
		all = append(all, Record{Millis: 100, Value: fmt.Appendf(nil, "v%d", n)})
	}
	return all
}

func TestBatchRoundtrip(t *testing.T) {
	records := []Record{
		{Millis: 1000, Key: []byte("k"), Value: []byte("v")},
		{Millis: 990, Key: []byte{}, Value: []byte{}},
		{Millis: 5000, Headers: []Header{{[]byte("a"), []byte("b")}, {[]byte(""), nil}}},
		{Millis: 1 << 40, Value: bytes.Repeat([]byte("x"), 100_000)},
	}
	for _, codec := range codecs {
		set := encode(t, 50, codec, records...)
		f := &Fetched{Set: append(set, set[:70]...)} // brokers truncate the last batch
		var d Decoder
		d.MaxBytes = 1 << 20
		d.Reset(f, 51)
		var r Record
		for i := 1; d.Next(&r); i++ {
			want := records[i]
			if r.Offset != int64(50+i) || r.Millis != want.Millis || !same(r.Key, want.Key) || !same(r.Value, want.Value) || len(r.Headers) != len(want.Headers) {
				t.Errorf("%s: record %d: %d %d", codec, i, r.Offset, r.Millis)
			}
			for k, h := range r.Headers {
				if !same(h.Name, want.Headers[k].Name) || !same(h.Value, want.Headers[k].Value) {
					t.Errorf("%s: header %q, want %q", codec, h, want.Headers[k])
				}
			}
		}
		if d.Err() != nil || d.Offset() != 54 || f.Next(50) != 54 {
			t.Errorf("%s: %v, next offsets %d and %d, want 54", codec, d.Err(), d.Offset(), f.Next(50))
		}
	}
}

// same compares byte slices and distinguishes nil from empty.
func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// TestCompactedBatches checks that the offset advances over records removed by
// compaction: at the end of a batch, a whole batch, and between batches.
func TestCompactedBatches(t *testing.T) {
	thin := change(encode(t, 10, "none", values(0, 2)...), func(h []byte) { binary.BigEndian.PutUint32(h[23:], 9) })
	empty := change(encode(t, 20, "none"), func(h []byte) { binary.BigEndian.PutUint32(h[23:], 4) })
	after := encode(t, 40, "none", values(40, 42)...)
	f := func(set []byte, offset, next int64, want ...string) {
		t.Helper()
		got, end, err := show(&Fetched{Set: set}, offset, new(Decoder))
		for i := range got {
			got[i] = strings.Fields(got[i])[0]
		}
		if err != nil || !slices.Equal(got, want) || end != next || (&Fetched{Set: set}).Next(offset) != next {
			t.Errorf("from %d: %v %q, next offsets %d and %d, want %q and %d", offset, err, got, end, (&Fetched{Set: set}).Next(offset), want, next)
		}
	}
	f(thin, 10, 20, "10", "11")
	f(thin, 15, 20)
	f(empty, 20, 25)
	f(empty, 22, 25)
	f(slices.Concat(thin, empty, after), 11, 42, "11", "40", "41")
	f(nil, 7, 7)
}

// TestTransactionBatches checks that control batches are skipped, and aborted
// ones if requested.
func TestTransactionBatches(t *testing.T) {
	txn := func(base, id int64) []byte {
		return change(change(encode(t, base, "none", values(int(base), int(base)+2)...), attributes(attrTxn)), producer(id))
	}
	end := func(base, id int64) []byte {
		return change(change(encode(t, base, "none", values(0, 1)...), attributes(attrTxn|attrControl)), producer(id))
	}
	set := slices.Concat(
		txn(0, 1), txn(2, 2), txn(4, 1), end(6, 1), // 1 aborts its transaction from 0
		txn(7, 1), end(9, 2), end(10, 1), // 2 and 1 commit
		encode(t, 11, "none", values(11, 12)...),
		txn(12, 2), end(14, 2), // 2 aborts its transaction from 12
	)
	f := &Fetched{Set: set, Aborted: []Aborted{{1, 0}, {2, 12}}}
	for committed, want := range map[bool]string{true: "[2 3 7 8 11]", false: "[0 1 2 3 4 5 7 8 11 12 13]"} {
		got, next, err := show(f, 0, &Decoder{Committed: committed})
		for i := range got {
			got[i] = strings.Fields(got[i])[0]
		}
		if err != nil || fmt.Sprint(got) != want || next != 15 {
			t.Errorf("committed %t: %v %v, next offset %d, want %s", committed, err, got, next, want)
		}
	}
}

// TestLogTime checks that the broker's time is used if the topic is configured
// so.
func TestLogTime(t *testing.T) {
	set := change(encode(t, 0, "none", Record{Millis: 5}, Record{Millis: 9}), func(h []byte) {
		attributes(attrLogTime)(h)
		binary.BigEndian.PutUint64(h[35:], 77)
	})
	got, _, err := show(&Fetched{Set: set}, 0, new(Decoder))
	if err != nil || len(got) != 2 || !strings.HasPrefix(got[0], "0 77 ") || !strings.HasPrefix(got[1], "1 77 ") {
		t.Errorf("%v %q", err, got)
	}
}

// TestDamaged checks the error for each kind of damage, after the intact
// batches.
func TestDamaged(t *testing.T) {
	good := encode(t, 0, "none", values(0, 2)...)
	f := func(what string, bad []byte, want error) {
		t.Helper()
		got, next, err := show(&Fetched{Set: slices.Concat(good, bad)}, 0, new(Decoder))
		if len(got) != 2 || next != 2 || !errors.Is(err, want) {
			t.Errorf("%s: %d records, next offset %d, %v, want %v", what, len(got), next, err, want)
		}
	}
	flip := func(codec string) []byte {
		b := encode(t, 2, codec, values(2, 9)...)
		b[len(b)-1] ^= 1
		return b
	}
	f("a flipped bit", flip("none"), ErrCorrupt)
	f("a flipped bit in zstd", flip("zstd"), ErrCorrupt)
	next := encode(t, 2, "none", values(2, 9)...)
	f("a negative number of records", change(next, func(h []byte) { binary.BigEndian.PutUint32(h[57:], 1<<31) }), ErrCorrupt)
	f("an unknown compression", change(next, attributes(6)), ErrCorrupt)
	f("not gzip", change(next, attributes(1)), ErrCorrupt)
	f("not snappy", change(next, attributes(2)), ErrCorrupt)
	f("not lz4", change(next, attributes(3)), ErrCorrupt)
	f("not zstd", change(next, attributes(4)), ErrCorrupt)
	f("version 1", change(next, func(h []byte) { h[versionAt] = 1 }), ErrOldFormat)
	f("version 3", change(next, func(h []byte) { h[versionAt] = 3 }), ErrCorrupt)
	f("a length of 3", change(next, func(h []byte) { binary.BigEndian.PutUint32(h[8:], 3) }), ErrCorrupt)
	f("a cut batch", next[:len(next)-1], nil)
	f("a cut head", next[:16], nil)

	more := change(next, func(h []byte) { binary.BigEndian.PutUint32(h[57:], 1000) })
	short := change(next, func(h []byte) { binary.BigEndian.PutUint32(h[23:], 1) }) // as if it ended after two records
	if got, _, err := show(&Fetched{Set: short}, 0, new(Decoder)); len(got) != 2 || !errors.Is(err, ErrCorrupt) {
		t.Errorf("an offset after the last of the batch: %d records, %v", len(got), err)
	}
	if got, _, err := show(&Fetched{Set: more}, 0, new(Decoder)); len(got) != 7 || !errors.Is(err, ErrCorrupt) {
		t.Errorf("record count too high: %d, %v", len(got), err)
	}
}

// TestBomb checks that decompression stops at the limit for every codec.
func TestBomb(t *testing.T) {
	const size = 1 << 20
	for _, codec := range codecs[1:] {
		set := encode(t, 0, codec, Record{Value: make([]byte, size)})
		if _, next, err := show(&Fetched{Set: set}, 0, &Decoder{MaxBytes: size / 2}); !errors.Is(err, ErrTooLong) || next != 0 {
			t.Errorf("%s: %v, next offset %d", codec, err, next)
		}
		if got, _, err := show(&Fetched{Set: set}, 0, &Decoder{MaxBytes: size + 100}); err != nil || len(got) != 1 {
			t.Errorf("%s below the limit: %v", codec, err)
		}
	}
	window := []byte{0x28, 0xB5, 0x2F, 0xFD, 0, 0xF8, 0, 0, 0, 0, 0, 0, 0, 0} // 2 TiB: RFC 8878, section 3.1.1.1.2
	if n := zstdWindow(window); n != 1<<41 {
		t.Errorf("a window of %d", n)
	}
	if err := checkFrame(4, window, 1<<20); !errors.Is(err, ErrTooLong) {
		t.Errorf("a large window: %v", err)
	}
	block := append([]byte(xerialMagic), make([]byte, 8)...)
	block = append(block, 0xff, 0xff, 0xff, 0xff, 0)
	if err := checkFrame(2, block, 1<<20); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a block of 4 GiB: %v", err)
	}
}

// TestMurmur2 uses the vectors of Kafka's own tests (UtilsTest.java,
// testMurmur2).
func TestMurmur2(t *testing.T) {
	for text, want := range map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		if got := int32(murmur2([]byte(text))); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if p := Partition([]byte("foobar"), 7); p != int(uint32(0xffffffff-790332482+1)&0x7fffffff)%7 {
		t.Errorf("partition %d", p)
	}
}

func TestNoAllocs(t *testing.T) {
	records := values(0, 100)
	for i := range records {
		records[i].Key = []byte("key")
		records[i].Headers = []Header{{[]byte("h"), []byte("v")}}
	}
	f := &Fetched{Set: encode(t, 0, "none", records...)}
	var e Encoder
	d := Decoder{MaxBytes: 1 << 20}
	var r Record
	for name, run := range map[string]func(){
		"Encoder": func() {
			e.Reset()
			for i := range records {
				e.Append(&records[i])
			}
			if _, err := e.Finish(NoProducer, 0, 0); err != nil {
				t.Error(err)
			}
		},
		"Decoder": func() {
			d.Reset(f, 0)
			for d.Next(&r) {
			}
		},
	} {
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// FuzzDecoder checks that there is no panic, that offsets increase, and that
// decoding can resume at the final offset.
func FuzzDecoder(f *testing.F) {
	for _, codec := range codecs {
		f.Add(encode(f, 3, codec, values(0, 5)...), true)
	}
	f.Add(change(encode(f, 0, "none", values(0, 1)...), attributes(attrTxn|attrControl)), true)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, set []byte, fix bool) {
		if n := len(set); fix && n >= headerLen { // so that more than the checksum is tested
			set = slices.Clone(set)
			binary.BigEndian.PutUint32(set[8:], uint32(n-prefixLen))
			set = change(set, func([]byte) {})
		}
		d := Decoder{MaxBytes: 1 << 16, Committed: true}
		d.Reset(&Fetched{Set: set, Aborted: []Aborted{{7, 0}}}, 0)
		var r Record
		last := int64(-1)
		for n := 0; d.Next(&r); n++ {
			if r.Offset <= last && n > 0 || d.Offset() <= r.Offset && r.Offset != math.MaxInt64 {
				t.Fatalf("offset %d after %d, next offset %d", r.Offset, last, d.Offset())
			}
			last = r.Offset
		}
	})
}

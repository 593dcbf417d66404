package compress

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
	"testing"
)

var (
	_ encoding.BinaryAppender    = RestartPoint{}
	_ encoding.BinaryMarshaler   = RestartPoint{}
	_ encoding.BinaryUnmarshaler = (*RestartPoint)(nil)
)

// points returns valid points of every kind.
func points() []RestartPoint {
	window := strings.Repeat("window..", maxWindow/8)
	bad := Verdict{Kind: BadCRC, Format: Gzip, Offset: 77, Cut: true, Detail: "the CRC is 00000000, the trailer says 00000001"}
	return []RestartPoint{
		{},
		{offset: 1 << 40, compressed: 1 << 40},
		{format: Gzip, offset: 5, compressed: 25, members: 1},
		{format: Gzip, offset: 5, compressed: 25, members: 1, verified: 5},
		{format: Zstd, offset: 7, compressed: 25, members: 2, verified: 6, unsummed: true},
		{format: Gzip, compressed: 20, members: 1}, // after an empty member
		{format: Zstd, offset: 1, compressed: 1 << 62, members: 1 << 31},
		{format: XZ, offset: 1, compressed: 100, members: 1},
		{format: S2, offset: 4096, compressed: 100},
		{format: Gzip, offset: 5, compressed: 30, members: 1, verdict: bad},
		{format: Gzip, offset: 9, compressed: 12, inside: true, bit: 7, deflate: 10, size: 9, crc: 0xdeadbeef, window: "ten bytes"[:9]},
		{format: Gzip, offset: 1 << 33, compressed: 1 << 30, members: 3, verdict: bad, inside: true, deflate: 80, size: 1 << 32, crc: 1, window: window},
	}
}

func marshal(t testing.TB, p RestartPoint) []byte {
	t.Helper()
	b, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRestartPointBinary(t *testing.T) {
	for i, p := range points() {
		b := marshal(t, p)
		var q RestartPoint
		if err := q.UnmarshalBinary(b); err != nil || q != p {
			t.Errorf("point %d: %v", i, err)
		}
		if out, err := p.AppendBinary([]byte("before")); err != nil || string(out) != "before"+string(b) {
			t.Errorf("point %d: AppendBinary does not keep the prefix", i)
		}
		for n := range len(b) {
			if len(b) > 1000 && n > 100 && n < len(b)-100 {
				continue
			}
			if err := q.UnmarshalBinary(b[:n]); !errors.Is(err, errPoint) {
				t.Errorf("point %d cut at %d: %v", i, n, err)
			}
			bad := bytes.Clone(b)
			bad[n] ^= 1
			if err := q.UnmarshalBinary(bad); !errors.Is(err, errPoint) {
				t.Errorf("point %d with byte %d changed: %v", i, n, err)
			}
		}
		if q != p {
			t.Errorf("point %d was changed although an error was returned", i)
		}
		if err := q.UnmarshalBinary(append(b, 0)); !errors.Is(err, errPoint) {
			t.Errorf("point %d with an additional byte: %v", i, err)
		}
	}
}

// TestRestartPointStrict checks that a matching checksum is not sufficient for
// a valid point.
func TestRestartPointStrict(t *testing.T) {
	f := func(name, body string, ok bool) {
		t.Helper()
		b := binary.LittleEndian.AppendUint32([]byte(body), crc32.ChecksumIEEE([]byte(body)))
		var p RestartPoint
		if err := p.UnmarshalBinary(b); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	const head = pointMagic
	f("zero", head+"\x00\x00\x08\x00\x00\x00\x00", true)
	f("gzip, behind a member", head+"\x01\x00\x08\x05\x19\x01\x00", true)
	f("gzip, inside", head+"\x01\x00\x07\x03\x0c\x00\x00\x0a\x03CRC_abc", true)
	f("verified", head+"\x01\x00\x08\x05\x19\x01\x05", true)
	f("not all has a checksum", head+"\x82\x00\x08\x05\x19\x01\x04", true)
	f("more verified than there is", head+"\x01\x00\x08\x05\x19\x01\x06", false)
	f("verified inside of the member", head+"\x01\x00\x07\x03\x0c\x00\x01\x0a\x03CRC_abc", false)
	f("version 1", "ufrp\x01\x00\x00\x08\x00\x00\x00", false)
	f("version 3", "ufrp\x03\x00\x00\x08\x00\x00\x00\x00", false)
	f("nothing", "", false)
	f("only a head", head, false)
	f("more", head+"\x01\x00\x08\x05\x19\x01\x00\x00", false)
	f("an integer that could be shorter", head+"\x01\x00\x08\x85\x00\x19\x01\x00", false)
	f("an integer above 2^62", head+"\x01\x00\x08\x81\x80\x80\x80\x80\x80\x80\x80\x40\x19\x01\x00", false)
	f("an integer above 64 bits", head+"\x01\x00\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x19\x01\x00", false)
	f("unsupported format", head+"\x0a\x00\x08\x05\x19\x01\x00", false)
	f("unknown verdict", head+"\x01\x20\x08\x05\x19\x01\x00\x00\x00\x00", false)
	f("compressed 0 and not the start", head+"\x01\x00\x08\x05\x00\x01\x00", false)
	f("plain, offsets differ", head+"\x00\x00\x08\x05\x06\x00\x00", false)
	f("zstd, inside", head+"\x02\x00\x07\x03\x0c\x00\x00\x0a\x03CRC_abc", false)
	f("bit 9", head+"\x01\x00\x09\x03\x0c\x00\x00\x0a\x03CRC_abc", false)
	f("window too short", head+"\x01\x00\x07\x03\x0c\x00\x00\x0a\x03CRC_ab", false)
	f("window too long", head+"\x01\x00\x07\x03\x0c\x00\x00\x0a\x03CRC_abcd", false)
	f("deflate data behind the point", head+"\x01\x00\x07\x03\x0c\x00\x00\x0d\x03CRC_abc", false)
	f("more of the member than of the file", head+"\x01\x00\x07\x02\x0c\x00\x00\x0a\x03CRC_abc", false)
	f("cut is 2", head+"\x01\x03\x08\x05\x19\x01\x00\x00\x02\x00", false)
	f("detail too short", head+"\x01\x03\x08\x05\x19\x01\x00\x00\x01\x02a", false)
	f("damage", head+"\x01\x03\x08\x05\x19\x01\x00\x00\x01\x01a", true)
}

func FuzzRestartPoint(f *testing.F) {
	for _, p := range points() {
		f.Add(marshal(f, p))
	}
	packed := gz(f, bytes.Repeat(readFile(f, "testdata/access.log"), 3))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p RestartPoint
		// Fix the checksum, because the fuzzer cannot.
		if n := len(data) - 4; n >= 0 {
			binary.LittleEndian.PutUint32(data[n:], crc32.ChecksumIEEE(data[:n]))
		}
		if err := p.UnmarshalBinary(data); err != nil {
			return
		}
		again := marshal(t, p)
		if data[len(pointMagic)-1] == pointMagic[len(pointMagic)-1] && !bytes.Equal(again, data) {
			t.Fatalf("%x is written as %x", data, again)
		}
		var q RestartPoint
		if err := q.UnmarshalBinary(again); err != nil || q != p {
			t.Fatalf("%x is written as %x, which is %+v, not %+v: %v", data, again, q, p, err)
		}
		// A valid point of another file may give anything except a panic.
		r, err := NewReaderAt(bytes.NewReader(packed), p, Options{RestartEvery: 1000})
		if err != nil {
			return
		}
		defer r.Close()
		buf := make([]byte, 4096)
		for err == nil && r.Bytes()-p.offset < 1<<20 {
			_, err = r.Read(buf)
			if q, ok := r.RestartPoint(); !ok || !q.sound() {
				t.Fatalf("%+v is inconsistent", q)
			}
		}
	})
}

// TestStoredNumbers: restart points in checkpoints hold the numbers of formats.
func TestStoredNumbers(t *testing.T) {
	for number, format := range []Format{Plain, Gzip, Zstd, Bzip2, XZ, LZ4, Snappy, S2, Xerial, Zlib} {
		if int(format) != number {
			t.Errorf("%s has the number %d, want %d as in stored restart points", format, format, number)
		}
	}
}

package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// Encodings.
const (
	encPlain           = 0
	encPlainDictionary = 2
	encRLE             = 3
	encBitPacked       = 4
	encDelta           = 5
	encDeltaLength     = 6
	encDeltaBytes      = 7
	encDictionary      = 8
	encByteSplit       = 9
)

func isDictionary(enc int64) bool { return enc == encDictionary || enc == encPlainDictionary }

// This file decodes values one after the other, so that memory does not depend
// on what a page announces.

var errShort = fmt.Errorf("fewer values than announced: %w", errDamaged)

var errMore = fmt.Errorf("more rows than the row group: %w", errDamaged)

var errDamaged = errors.New("damaged page")

// A hybrid reads levels, indexes or booleans. They are encoded as runs and as
// packed bits.
type hybrid struct {
	b     []byte
	width int
	value uint32 // value of the run
	left  int    // number of values left in the run
	at    int    // position in b of the next packed value, in bits
	end   int    // number of bytes of b with packed values; 0: the run repeats value
	swap  bool   // the deprecated BIT_PACKED: no runs, bits from the highest
}

// next returns the next value and how often it occurs in a row.
func (h *hybrid) next() (v uint32, n int, err error) {
	for h.left == 0 {
		if err := h.run(); err != nil {
			return 0, 0, err
		}
	}
	if h.end == 0 {
		n, h.left = h.left, 0
		return h.value, n, nil
	}
	h.left--
	if h.swap {
		for range h.width {
			v = v<<1 | uint32(h.b[h.at/8]>>(7-h.at%8)&1)
			h.at++
		}
		return v, 1, nil
	}
	var x uint64
	if i := h.at / 8; i+8 <= h.end {
		x = binary.LittleEndian.Uint64(h.b[i:])
	} else {
		for k := 0; i+k < h.end; k++ {
			x |= uint64(h.b[i+k]) << (8 * k)
		}
	}
	v = uint32(x >> (h.at % 8) & (1<<h.width - 1))
	h.at += h.width
	return v, 1, nil
}

// one returns the next value.
func (h *hybrid) one() (uint32, error) {
	v, n, err := h.next()
	if n > 1 {
		h.left = n - 1
	}
	return v, err
}

// run begins a run.
func (h *hybrid) run() error {
	if h.swap && h.at == 0 {
		h.end, h.left = len(h.b), len(h.b)*8/h.width
	}
	if h.swap && h.left == 0 {
		return errShort
	} else if h.swap {
		return nil
	}
	h.b, h.at, h.end = h.b[h.end:], 0, 0
	head, n, err := uvarint(h.b)
	if err != nil || head>>1 > 1<<31 {
		return errShort
	}
	h.b = h.b[n:]
	if head&1 == 0 {
		size := (h.width + 7) / 8
		if size > len(h.b) {
			return errShort
		}
		h.value = 0
		for i := range size {
			h.value |= uint32(h.b[i]) << (8 * i)
		}
		h.b, h.left = h.b[size:], int(head>>1)
		return nil
	}
	groups := int(head >> 1)
	if h.width == 0 {
		h.value, h.left = 0, groups*8
		return nil
	}
	// Some writers leave out the padding of the last group.
	h.end = min(groups*h.width, len(h.b))
	h.left = min(groups*8, h.end*8/h.width)
	if h.left <= (groups-1)*8 {
		return errShort
	}
	return nil
}

// A deltas reads DELTA_BINARY_PACKED integers.
type deltas struct {
	b           []byte
	perBlock    int // number of miniblocks in a block
	perMini     int // number of values in a miniblock
	total, left int
	value, min  int64
	widths      []byte // widths of the unread miniblocks of the block
	inMini, at  int    // number of values left, and position of the next bit, in the miniblock
	width       int    // width of the values in the miniblock
}

func newDeltas(b []byte) (*deltas, error) {
	var head [4]uint64
	for i := range head {
		v, n, err := uvarint(b)
		if err != nil {
			return nil, errShort
		}
		head[i], b = v, b[n:]
	}
	if head[0] == 0 || head[0]%128 != 0 || head[0] > 1<<20 || head[1] == 0 || head[1] > head[0]/32 || head[0]/head[1]%32 != 0 || head[2] > 1<<31 {
		return nil, fmt.Errorf("malformed header of a delta block: %w", errDamaged)
	}
	return &deltas{b: b, perBlock: int(head[1]), perMini: int(head[0] / head[1]), total: int(head[2]), left: int(head[2]), value: zigzag(head[3])}, nil
}

func (d *deltas) next() (int64, error) {
	if d.left == 0 {
		return 0, errShort
	}
	if d.left--; d.left == d.total-1 {
		return d.value, nil
	}
	if d.inMini == 0 {
		if err := d.miniblock(); err != nil {
			return 0, err
		}
	}
	var x uint64
	for i := 0; i < d.width; {
		at := d.at + i
		k := min(8-at%8, d.width-i)
		x |= uint64(d.b[at/8]>>(at%8)&(1<<k-1)) << i
		i += k
	}
	d.at += d.width
	d.inMini--
	d.value += d.min + int64(x)
	return d.value, nil
}

// miniblock begins the next miniblock.
func (d *deltas) miniblock() error {
	d.b = d.rest()
	if len(d.widths) == 0 {
		u, n, err := uvarint(d.b)
		if err != nil || len(d.b)-n < d.perBlock {
			return errShort
		}
		d.min, d.widths, d.b = zigzag(u), d.b[n:n+d.perBlock], d.b[n+d.perBlock:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	d.inMini, d.at = d.perMini, 0
	if d.width > 64 || d.width*d.perMini/8 > len(d.b) {
		return errShort
	}
	return nil
}

// rest returns the bytes after the current miniblock.
func (d *deltas) rest() []byte {
	return d.b[d.width*d.perMini/8:] // width is 0 before the first miniblock
}

// skipDeltas returns the bytes after n deltas in b.
func skipDeltas(b []byte, n int) ([]byte, error) {
	d, err := newDeltas(b)
	if err != nil {
		return nil, err
	}
	if d.total != n {
		return nil, fmt.Errorf("%d lengths of %d values: %w", d.total, n, errDamaged)
	}
	for range n {
		if _, err := d.next(); err != nil {
			return nil, err
		}
	}
	return d.rest(), nil
}

// A dictionary holds byte strings: entry i is text[at[i]:at[i+1]].
type dictionary struct {
	text []byte
	at   []uint32
}

// A source returns the values of a page that are not null. Byte strings and
// values of a fixed length are returned as they are; booleans, indexes and
// deltas are eight bytes. A value is valid until the next call.
type source interface{ next() ([]byte, error) }

// newSource returns the n values of a page that are not null. If dict is not
// nil, the source returns the entries of dict in place of indexes. Each index
// must be less than entries, also without a dict.
func newSource(l *leaf, enc int64, b []byte, n int, dict *dictionary, entries int) (source, error) {
	isInt := l.typ == typeInt32 || l.typ == typeInt64
	isBytes := l.typ == typeBytes || l.typ == typeFixedLen
	switch {
	case n == 0:
		return &bytesSource{}, nil
	case enc == encPlain && l.typ == typeBoolean:
		return &bitSource{b: b}, nil
	case enc == encPlain && l.typ == typeBytes:
		return &bytesSource{b}, nil
	case enc == encPlain:
		return &fixedSource{b, l.width}, nil
	case enc == encByteSplit && l.width > 0 && l.typ != typeInt96:
		if len(b) < n*l.width {
			return nil, errShort
		}
		return &splitSource{b: b, n: n, v: make([]byte, l.width)}, nil
	case isDictionary(enc):
		if len(b) == 0 || b[0] > 32 {
			return nil, fmt.Errorf("malformed indexes: %w", errDamaged)
		}
		return &indexSource{h: hybrid{b: b[1:], width: int(b[0])}, dict: dict, entries: uint32(entries)}, nil
	case enc == encRLE && l.typ == typeBoolean:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errShort
		}
		return &indexSource{h: hybrid{b: b[4 : 4+binary.LittleEndian.Uint32(b)], width: 1}, entries: 2}, nil
	case enc == encDelta && isInt:
		d, err := newDeltas(b)
		if err == nil && d.total != n {
			err = fmt.Errorf("the delta encoding has %d values, but the page has %d: %w", d.total, n, errDamaged)
		}
		return &deltaSource{d: d, narrow: l.typ == typeInt32}, err
	case enc == encDeltaLength && l.typ == typeBytes, enc == encDeltaBytes && isBytes:
		return newTextSource(b, enc == encDeltaBytes, n, l.width)
	}
	return nil, fmt.Errorf("encoding %d of type %d is not supported", enc, l.typ)
}

// A bytesSource reads PLAIN byte strings.
type bytesSource struct{ b []byte }

func (s *bytesSource) next() ([]byte, error) {
	if len(s.b) < 4 {
		return nil, errShort
	}
	n := binary.LittleEndian.Uint32(s.b)
	if uint64(n) > uint64(len(s.b)-4) {
		return nil, fmt.Errorf("a value of %d bytes exceeds its page: %w", n, errDamaged)
	}
	v := s.b[4 : 4+n]
	s.b = s.b[4+n:]
	return v, nil
}

// A fixedSource reads PLAIN values of a fixed length.
type fixedSource struct {
	b     []byte
	width int
}

func (s *fixedSource) next() ([]byte, error) {
	if len(s.b) < s.width {
		return nil, errShort
	}
	v := s.b[:s.width]
	s.b = s.b[s.width:]
	return v, nil
}

// A bitSource reads PLAIN booleans.
type bitSource struct {
	b  []byte
	at int
	v  [8]byte
}

func (s *bitSource) next() ([]byte, error) {
	if s.at == len(s.b)*8 {
		return nil, errShort
	}
	s.v[0] = s.b[s.at/8] >> (s.at % 8) & 1
	s.at++
	return s.v[:], nil
}

// A splitSource reads BYTE_STREAM_SPLIT.
type splitSource struct {
	b     []byte
	n, at int
	v     []byte
}

func (s *splitSource) next() ([]byte, error) {
	for k := range s.v {
		s.v[k] = s.b[k*s.n+s.at]
	}
	s.at++
	return s.v, nil
}

// An indexSource reads indexes of a dictionary, or booleans.
type indexSource struct {
	h       hybrid
	dict    *dictionary // nil: return the indexes
	entries uint32
	v       [8]byte
}

// run returns the next index and how often it occurs in a row.
func (s *indexSource) run() (uint32, int, error) {
	v, n, err := s.h.next()
	if err == nil && v >= s.entries {
		err = fmt.Errorf("index %d in a dictionary of %d values: %w", v, s.entries, errDamaged)
	}
	return v, n, err
}

func (s *indexSource) next() ([]byte, error) {
	v, n, err := s.run()
	if err != nil {
		return nil, err
	}
	if n > 1 {
		s.h.left = n - 1
	}
	if s.dict != nil {
		return s.dict.text[s.dict.at[v]:s.dict.at[v+1]], nil
	}
	binary.LittleEndian.PutUint32(s.v[:], v)
	return s.v[:], nil
}

// A deltaSource reads DELTA_BINARY_PACKED integers.
type deltaSource struct {
	d      *deltas
	narrow bool // INT32, whose deltas wrap
	v      [8]byte
}

func (s *deltaSource) next() ([]byte, error) {
	v, err := s.d.next()
	if s.narrow {
		v = int64(int32(v)) //nolint:gosec // wraps
	}
	binary.LittleEndian.PutUint64(s.v[:], uint64(v))
	return s.v[:], err
}

// A textSource reads DELTA_LENGTH_BYTE_ARRAY or, if it has prefixes,
// DELTA_BYTE_ARRAY.
type textSource struct {
	prefix, suffix *deltas
	text, last     []byte
	width          int // width of each value; 0: it varies
	left           int // bytes that prefixes may still add
}

func newTextSource(b []byte, prefixes bool, n, width int) (_ source, err error) {
	s := &textSource{width: width, left: limitGrace + compress.DefaultMaxRatio*len(b)}
	if prefixes {
		if s.prefix, err = newDeltas(b); err != nil {
			return nil, err
		}
		if b, err = skipDeltas(b, n); err != nil {
			return nil, err
		}
	}
	if s.suffix, err = newDeltas(b); err != nil {
		return nil, err
	}
	s.text, err = skipDeltas(b, n)
	return s, err
}

// maxPrefixed is the maximum length in bytes of a value that is made of a
// prefix and a suffix. Without a limit, a page of a megabyte could hold a
// million values of a megabyte.
const maxPrefixed = 16 << 20

func (s *textSource) next() ([]byte, error) {
	n, err := s.suffix.next()
	if err != nil {
		return nil, err
	}
	if n < 0 || n > int64(len(s.text)) {
		return nil, fmt.Errorf("a value of %d bytes exceeds its page: %w", n, errDamaged)
	}
	v := s.text[:n]
	s.text = s.text[n:]
	if s.prefix != nil {
		p, err := s.prefix.next()
		if err != nil {
			return nil, err
		}
		if p < 0 || p > int64(len(s.last)) || p+n > maxPrefixed {
			return nil, fmt.Errorf("malformed prefix: %w", errDamaged)
		}
		if s.left -= int(p); s.left < 0 {
			return nil, &compress.LimitError{Detail: "values with common prefixes expand more than 1000 times"}
		}
		s.last = append(s.last[:p], v...)
		v = s.last
	}
	if s.width > 0 && len(v) != s.width {
		return nil, fmt.Errorf("a value of %d bytes instead of %d: %w", len(v), s.width, errDamaged)
	}
	return v, nil
}

// eof returns err, but reports the end of the data as damage.
func eof(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the column chunk ends early: %w", errDamaged)
	}
	return err
}

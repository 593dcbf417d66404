package lzma2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrCorrupt is wrapped by the errors about data that no encoder writes.
var ErrCorrupt = errors.New("corrupt LZMA2 data")

// MinDictionary is the smallest dictionary size in bytes.
const MinDictionary = 4 << 10

// A Reader decodes one LZMA2 stream.
type Reader struct {
	src  io.Reader
	dict dictionary
	lzma lzma
	err  error

	in     []byte // compressed data of a chunk
	left   int    // remaining decompressed bytes of the chunk
	stored bool   // the chunk is not compressed
	short  bool   // the file ends inside the compressed data of the chunk
	match  int    // remaining bytes of the last match

	begun      bool // a chunk has reset the dictionary
	properties bool // the LZMA properties are known
}

// NewReader returns a Reader of src with a dictionary of the given size in
// bytes. The dictionary takes as much memory as there is decoded data, up to
// that size. The Reader reads no byte after the stream.
func NewReader(src io.Reader, dictionarySize int) *Reader {
	return &Reader{src: src, dict: dictionary{size: max(dictionarySize, MinDictionary)}}
}

// Read decodes into p. It returns io.EOF at the end of the stream,
// io.ErrUnexpectedEOF if src ends before, an error that wraps ErrCorrupt, or an
// error of src. It first returns every byte that can be decoded, then the
// error.
func (r *Reader) Read(p []byte) (n int, err error) {
	for n < len(p) && r.err == nil {
		switch {
		case r.left == 0:
			r.err = r.chunk()
		case r.stored:
			n += r.copy(p[n:])
		default:
			n += r.decode(p[n:])
		}
	}
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, r.err
}

// Control bytes. From controlLZMA on, each is the first of a range.
const (
	controlEnd         = 0x00
	controlStoredReset = 0x01 // stored, and the dictionary is reset
	controlStored      = 0x02
	controlLZMA        = 0x80
	controlState       = 0xa0 // also resets the state
	controlProperties  = 0xc0 // also sets new properties
	controlReset       = 0xe0 // also resets the dictionary
)

// chunk reads the header of the next chunk and, if it is compressed, its data.
func (r *Reader) chunk() error {
	var head [6]byte
	if err := r.full(head[:1]); err != nil {
		return err
	}
	control := head[0]
	if control == controlEnd {
		return io.EOF
	}
	if control >= controlReset || control == controlStoredReset {
		r.begun, r.properties = true, false
		r.dict.reset()
	}
	switch {
	case !r.begun:
		return corrupt("the first chunk does not reset the dictionary")
	case control >= controlLZMA:
		return r.compressed(control, head[1:])
	case control > controlStored:
		return corrupt("unknown chunk type %#02x", control)
	}
	if err := r.full(head[1:3]); err != nil {
		return err
	}
	r.stored, r.left = true, int(binary.BigEndian.Uint16(head[1:]))+1
	return nil
}

// compressed reads the rest of the header and the data of an LZMA chunk.
func (r *Reader) compressed(control byte, head []byte) error {
	if control < controlProperties {
		head = head[:4]
	}
	if err := r.full(head); err != nil {
		return err
	}
	switch {
	case control >= controlProperties:
		if !r.lzma.properties(head[4]) {
			return corrupt("invalid properties %#02x", head[4])
		}
		r.properties = true
		r.lzma.reset()
	case !r.properties:
		return corrupt("LZMA chunk without properties")
	case control >= controlState:
		r.lzma.reset()
	}
	size := int(binary.BigEndian.Uint16(head[2:])) + 1
	if cap(r.in) < size {
		r.in = make([]byte, 1<<16)
	}
	n, err := io.ReadFull(r.src, r.in[:size])
	r.short = err == io.EOF || err == io.ErrUnexpectedEOF
	if err != nil && !r.short {
		return err
	}
	if !r.lzma.rc.start(r.in[:n]) {
		return corrupt("LZMA chunk does not start with 0")
	}
	r.stored, r.left, r.match = false, int(control&0x1f)<<16+int(binary.BigEndian.Uint16(head))+1, 0
	return nil
}

// full fills p from src.
func (r *Reader) full(p []byte) error {
	_, err := io.ReadFull(r.src, p)
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// copy delivers bytes of a stored chunk.
func (r *Reader) copy(p []byte) int {
	room := r.dict.room(min(len(p), r.left))
	n, err := io.ReadFull(r.src, room)
	copy(p, room[:n])
	r.dict.pos += n
	r.left -= n
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	r.err = err
	return n
}

// decode delivers bytes of an LZMA chunk.
func (r *Reader) decode(p []byte) int {
	from := r.dict.pos
	room := r.dict.room(min(len(p), r.left))
	if len(room) > 0 && r.dict.pos == 0 {
		from = 0 // the ring has wrapped
	}
	r.err = r.symbols(r.dict.pos + len(room))
	n := copy(p, r.dict.buf[from:r.dict.pos])
	r.left -= n
	if r.left == 0 && r.err == nil {
		r.err = r.end()
	}
	return n
}

// symbols decodes symbols until the dictionary reaches position limit.
func (r *Reader) symbols(limit int) error {
	d, z := &r.dict, &r.lzma
	for d.pos < limit {
		if r.match > 0 {
			n := min(r.match, limit-d.pos)
			d.repeat(z.rep[0], n)
			r.match -= n
			continue
		}
		length, literal := z.symbol(d)
		if z.rc.over {
			return r.usedUp()
		}
		if length == 0 {
			d.buf[d.pos] = literal
			d.pos++
			continue
		}
		if uint64(z.rep[0]) >= uint64(d.full()) {
			return corrupt("match before the start of the dictionary")
		}
		r.match = int(length)
	}
	return nil
}

// end checks that an LZMA chunk ends where its sizes say.
func (r *Reader) end() error {
	switch {
	case r.lzma.rc.finished() && r.match == 0 && !r.short:
		return nil
	case r.short:
		return io.ErrUnexpectedEOF
	}
	return corrupt("LZMA chunk does not end where its sizes say")
}

// usedUp returns the error for an LZMA chunk with too few bytes.
func (r *Reader) usedUp() error {
	if r.short {
		return io.ErrUnexpectedEOF
	}
	return corrupt("LZMA chunk is too short")
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

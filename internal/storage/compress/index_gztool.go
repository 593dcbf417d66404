package compress

import (
	"encoding/binary"
	"io"
)

// The index format of gztool. Integers are big-endian.
//
//	0, "gzipindx" or, with line numbers, "gzipindX"   8 bytes each
//	with line numbers: format of line ends (0: LF)    4
//	number of places, twice                           8 each; different while the index is incomplete
//	each place: offset in the text                    8
//	            first complete byte in the file       8
//	            bits before that byte                 4
//	            length of the window                  4
//	            window, as zlib data
//	            with line numbers: the line           8; 1 for the first
//	size of the text                                  8
//	with line numbers: number of lines                8
const gztoolMagic = "\x00\x00\x00\x00\x00\x00\x00\x00gzipind"

// gztoolPlace is the length of a place without its window.
const gztoolPlace = 24

func (p *indexParser) gztool(lines bool) {
	p.take(16)
	if lines {
		p.take(4)
	}
	n := p.take(16)
	have, size := binary.BigEndian.Uint64(n), binary.BigEndian.Uint64(n[8:])
	switch {
	case have != size:
		p.fail("incomplete: the program that wrote it was stopped")
	case have > uint64(p.size)/gztoolPlace:
		p.fail("too short for %d access points", have)
	}
	for i := uint64(0); i < have && p.err == nil; i++ {
		b := p.take(gztoolPlace)
		out, in := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
		bits, length := binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])
		if length > 2*maxWindow {
			p.fail("access point %d has a window of %d bytes (maximum: %d)", i, length, 2*maxWindow)
			return
		}
		p.add(place{at: p.pos, length: int(length), packed: true}, in, out, bits)
		p.skip(int(length))
		if lines {
			p.take(8)
		}
	}
	p.take(8)
}

// writeGztool writes an index with line numbers.
func (w *IndexWriter) writeGztool(dst io.Writer) error {
	b := append([]byte(gztoolMagic), 'X')
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(len(w.places)))
	b = binary.BigEndian.AppendUint64(b, uint64(len(w.places)))
	for i := range w.places {
		p := &w.places[i]
		b = binary.BigEndian.AppendUint64(b, uint64(p.out))
		b = binary.BigEndian.AppendUint64(b, uint64((p.bit+7)/8))
		b = binary.BigEndian.AppendUint32(b, uint32(-p.bit&7))
		b = binary.BigEndian.AppendUint32(b, uint32(len(p.window)))
		b = append(b, p.window...)
		b = binary.BigEndian.AppendUint64(b, uint64(p.lines+1))
		if _, err := dst.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	b = binary.BigEndian.AppendUint64(b, uint64(w.size))
	b = binary.BigEndian.AppendUint64(b, uint64(w.lines))
	_, err := dst.Write(b)
	return err
}

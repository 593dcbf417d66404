package compress

import (
	"bytes"
	"encoding/binary"
	"io"
)

// The index format of indexed_gzip, which rapidgzip reads and writes, too.
// Integers are little-endian.
//
//	"GZIDX", version 0 or 1, 0            7 bytes
//	sizes of the gzip file and the text   8 each
//	distance of places                    4
//	size of a window                      4
//	number of places                      4
//	each place: first complete byte       8
//	            offset in the text        8
//	            bits before that byte     1
//	            version 1: has a window   1; in version 0 all but the first have
//	the windows, one after the other
const (
	indexedMagic  = "GZIDX"
	indexedHeader = 35
	indexedPlace  = 18
)

func (p *indexParser) indexed() {
	h := p.take(indexedHeader)
	version := h[5]
	p.index.compressed = int64(binary.LittleEndian.Uint64(h[7:]))
	text, window, n := binary.LittleEndian.Uint64(h[15:]), binary.LittleEndian.Uint32(h[27:]), binary.LittleEndian.Uint32(h[31:])
	switch {
	case p.err != nil:
		return
	case version > 1 || h[6] != 0:
		p.fail("version %d of the format of indexed_gzip is not supported", version)
	case window != maxWindow:
		p.fail("windows of %d bytes instead of %d", window, maxWindow)
	case int64(n) > p.size/(indexedPlace-1):
		p.fail("too short for %d access points", n)
	}
	size := indexedPlace - 1 + int(version)
	at := indexedHeader + int64(n)*int64(size)
	for i := uint32(0); i < n && p.err == nil; i++ {
		b := p.take(size)
		in, out := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		pl := place{at: at}
		if version == 0 && i > 0 || version == 1 && b[17] != 0 {
			pl.length = maxWindow
			at += maxWindow
		}
		if out < text { // the last place may be the end of the file
			p.add(pl, in, out, uint32(b[16]))
		}
	}
	if at > p.size {
		p.fail("the file is truncated")
	}
}

// writeIndexed writes version 1. Windows shorter than 32 KiB begin with zeros.
func (w *IndexWriter) writeIndexed(dst io.Writer, compressed int64) error {
	b := append([]byte(indexedMagic), 1, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(compressed))
	b = binary.LittleEndian.AppendUint64(b, uint64(w.size))
	b = binary.LittleEndian.AppendUint32(b, uint32(min(w.every, 1<<31)))
	b = binary.LittleEndian.AppendUint32(b, maxWindow)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(w.places)))
	for i := range w.places {
		p := &w.places[i]
		b = binary.LittleEndian.AppendUint64(b, uint64((p.bit+7)/8))
		b = binary.LittleEndian.AppendUint64(b, uint64(p.out))
		b = append(b, byte(-p.bit&7), boolByte(len(p.window) > 0))
	}
	if _, err := dst.Write(b); err != nil {
		return err
	}
	var zlib windowReader
	for i := range w.places {
		if len(w.places[i].window) == 0 {
			continue
		}
		window, err := zlib.read(bytes.NewReader(w.places[i].window))
		if err != nil {
			return err
		}
		full := make([]byte, maxWindow)
		copy(full[maxWindow-len(window):], window)
		if _, err := dst.Write(full); err != nil {
			return err
		}
	}
	return nil
}

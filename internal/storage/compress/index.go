package compress

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"math"

	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// An Index lists places inside a gzip file at which decoding can start. A
// Reader with an index inflates the file on several cores, even if it is one
// member: see Options.Index. The reader compares each place with what it has
// decoded itself, so an index that belongs to another file, or is damaged, can
// make reading slower, but not wrong.
//
// It is read from files of gztool (with or without line numbers) and of
// indexed_gzip, which rapidgzip writes, too. The windows stay in the file.
type Index struct {
	src        io.ReaderAt
	places     []place
	compressed int64  // size of the gzip file, or 0 if the index does not tell
	stamp      *Stamp // stamp of the gzip file, or nil
	reason     string // why the index does not match the file
	zlib       windowReader
}

// A place is a block of deflate data.
type place struct {
	bit    int64 // position of the place in the gzip file, in bits
	out    int64 // offset in the text
	at     int64 // offset of the window, in the index
	length int   // length of the window, in the index; 0: no window
	packed bool  // the window is zlib data
	lines  int64 // line feeds before the place; only in a writer
	window []byte
}

// errIndex is wrapped by the errors of OpenIndex about the content of the file.
var errIndex = errors.New("not a usable index")

// OpenIndex reads an index of size bytes. The Index reads src for as long as
// the Index is in use. An error about the content states what is wrong.
func OpenIndex(src io.ReaderAt, size int64) (*Index, error) {
	x := &Index{src: src}
	var err error
	if x.stamp, err = readStamp(src, size); err != nil {
		return nil, err
	}
	if x.stamp != nil {
		size -= int64(stampSize)
	}
	p := &indexParser{src: bufio.NewReader(io.NewSectionReader(src, 0, size)), index: x, size: size}
	head, _ := p.src.Peek(16)
	switch {
	case len(head) == 16 && string(head[:15]) == gztoolMagic && (head[15] == 'x' || head[15] == 'X'):
		p.gztool(head[15] == 'X')
	case len(head) >= 7 && string(head[:5]) == indexedMagic:
		p.indexed()
	default:
		return nil, fmt.Errorf("%w: unknown format, neither gztool nor indexed_gzip", errIndex)
	}
	if p.err == io.EOF || p.err == io.ErrUnexpectedEOF {
		p.err = fmt.Errorf("%w: the file is truncated", errIndex)
	}
	if p.err != nil {
		return nil, p.err
	}
	return x, nil
}

// Mismatch returns why the index does not belong to the file that a Reader has
// read with it, or an empty string if no contradiction was found.
func (x *Index) Mismatch() string { return x.reason }

// Check compares what the index says about its gzip file with the stamp of
// that file. The error states the first difference. An index of another
// program states at most the size.
func (x *Index) Check(file Stamp) error {
	last := int64(0)
	if n := len(x.places); n > 0 {
		last = x.places[n-1].bit / 8
	}
	switch s := x.stamp; {
	case x.compressed != 0 && x.compressed != file.Size, s != nil && s.Size != file.Size:
		return fmt.Errorf("stale index: the file has %d bytes, but had another size when the index was written", file.Size)
	case last > file.Size:
		return fmt.Errorf("stale index: the file has only %d bytes", file.Size)
	case s != nil && s.ModTime != file.ModTime:
		return errors.New("stale index: the file was modified after the index was written")
	case s != nil && *s != file:
		return errors.New("stale index: the content of the file is different")
	}
	return nil
}

// window returns the window of a place.
func (x *Index) window(p *place) ([]byte, error) {
	if p.length == 0 {
		return nil, nil
	}
	src := io.NewSectionReader(x.src, p.at, int64(p.length))
	if p.packed {
		return x.zlib.read(src)
	}
	raw := make([]byte, p.length)
	if _, err := io.ReadFull(src, raw); err != nil {
		return nil, fmt.Errorf("read a window: %w", noEOF(err))
	}
	return raw, nil
}

// An indexParser reads an index. After the first error, err stays set.
type indexParser struct {
	src   *bufio.Reader
	pos   int64
	size  int64
	index *Index
	err   error
}

// take returns the next n bytes, which are valid until the next call.
func (p *indexParser) take(n int) []byte {
	b, err := p.src.Peek(n)
	if p.err == nil && err != nil {
		p.err = err
	}
	if p.err != nil {
		return make([]byte, n)
	}
	_, _ = p.src.Discard(n) // buffered, so this cannot fail
	p.pos += int64(n)
	return b
}

// skip skips n bytes, such as a window.
func (p *indexParser) skip(n int) {
	if p.err == nil {
		_, p.err = p.src.Discard(n)
		p.pos += int64(n)
	}
}

// fail records that the content is wrong.
func (p *indexParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("%w: %s", errIndex, fmt.Sprintf(format, args...))
	}
}

// add appends a place. Its first complete byte is at offset in of the file,
// after the given number of bits of the previous byte.
func (p *indexParser) add(pl place, in, out uint64, bits uint32) {
	pl.bit, pl.out = int64(in)*8-int64(bits), int64(out)
	places := p.index.places
	switch n := len(places); {
	case in > math.MaxInt64/8 || out > math.MaxInt64 || bits > 7 || pl.bit < 0:
		p.fail("access point %d is out of range", n)
	case n > 0 && (pl.bit <= places[n-1].bit || pl.out < places[n-1].out):
		p.fail("access point %d is not after the previous access point", n)
	}
	if p.err == nil {
		p.index.places = append(places, pl)
	}
}

// A windowReader decodes windows that are zlib data. The zero value is ready to
// use.
type windowReader struct {
	br      *bufio.Reader
	inflate *inflate.Reader
}

// read returns the window in src, which has at most 32 KiB.
func (w *windowReader) read(src io.Reader) ([]byte, error) {
	if w.br == nil {
		w.br = bufio.NewReader(src)
		w.inflate = inflate.NewReader(w.br, nil, 0)
	}
	w.br.Reset(src)
	var head [2]byte
	if _, err := io.ReadFull(w.br, head[:]); err != nil {
		return nil, fmt.Errorf("read a window: %w", noEOF(err))
	}
	if head[0]&15 != 8 || head[0]>>4 > 7 || head[1]&zlibDictionary != 0 || binary.BigEndian.Uint16(head[:])%31 != 0 {
		return nil, errors.New("damaged window: no zlib header")
	}
	w.inflate.Reset(w.br, nil, 0)
	window := make([]byte, 0, maxWindow+1)
	var err error
	for err == nil {
		var n int
		n, err = w.inflate.Read(window[len(window):cap(window)])
		if window = window[:len(window)+n]; len(window) > maxWindow {
			err = errors.New("more than 32 KiB")
		}
	}
	var sum [zlibTrailer]byte
	if err == io.EOF {
		_, err = io.ReadFull(w.br, sum[:])
	}
	if err == nil && binary.BigEndian.Uint32(sum[:]) != adler32.Checksum(window) {
		err = errors.New("checksum mismatch")
	}
	if err != nil {
		return nil, fmt.Errorf("damaged window: %w", err)
	}
	return window, nil
}

package compress

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// This file reads plain text that is not in UTF-8, or whose lines do not end
// in LF, as if the text had been converted. Only a run that lists URLs can
// do so, because other runs copy the bytes of their inputs.

// Encodings says what becomes of plain text in another encoding. UTF-16 in a compressed
// file, and UTF-32, are not supported.
type Encodings uint8

// The values of Encodings.
const (
	EncodingsAsIs    Encodings = iota // UTF-16 is not supported, CR alone ends no line
	EncodingsRefuse                   // UTF-16 and CR are not supported
	EncodingsConvert                  // UTF-16 and CR are converted to UTF-8 with LF
)

// A coding is how the text of a plain file is written.
type coding uint8

const (
	utf8Text coding = iota // UTF-8 or another superset of ASCII, with LF at line ends
	utf16LE
	utf16BE
	utf32 // little-endian
	crEnds
)

var codingNames = [...]string{utf16LE: "UTF-16LE", utf16BE: "UTF-16BE", crEnds: "CR line ends"}

// codingOf returns how a text that begins with head is written, by its byte order mark
// (Unicode 23.8) and the line ends in head.
func codingOf(head []byte) coding {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return utf32
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return utf16LE
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return utf16BE
	case bytes.Count(head, []byte("\r")) > 1 && bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, 0) < 0:
		return crEnds
	}
	return utf8Text
}

// transcoder returns a decoder of a text that begins with head and continues in rest: nil
// for an encoding that is not read.
func transcoder(e coding, head []byte, rest io.Reader) decoder {
	src := func(mark int) io.Reader { return io.MultiReader(bytes.NewReader(bytes.Clone(head[mark:])), rest) }
	switch e {
	case utf16LE:
		return &utf16Decoder{src: src(2), order: binary.LittleEndian}
	case utf16BE:
		return &utf16Decoder{src: src(2), order: binary.BigEndian}
	case crEnds:
		return crDecoder{src(0)}
	}
	return nil
}

// A utf16Decoder returns UTF-16 as UTF-8. A surrogate without its other half becomes
// U+FFFD.
type utf16Decoder struct {
	src   io.Reader
	order binary.ByteOrder
	raw   [32 << 10]byte
	left  int    // bytes in raw that are not decoded yet: less than two units
	text  []byte // decoded text in buf
	buf   []byte
	err   error // error of src
}

// Read implements decoder.
func (d *utf16Decoder) Read(p []byte) (int, error) {
	for len(d.text) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		n, err := d.src.Read(d.raw[d.left:])
		d.left += n
		if d.err = err; err == io.EOF && d.left%2 > 0 {
			d.err = io.ErrUnexpectedEOF // within a unit
		}
		d.decode()
	}
	n := copy(p, d.text)
	d.text = d.text[n:]
	return n, nil
}

// decode decodes the units in raw. The first half of a pair waits for its other half.
func (d *utf16Decoder) decode() {
	raw := d.raw[:d.left]
	d.buf = d.buf[:0]
	for len(raw) >= 2 {
		r, size := rune(d.order.Uint16(raw)), 2
		if utf16.IsSurrogate(r) {
			if len(raw) < 4 && d.err == nil {
				break
			}
			next := rune(utf8.RuneError)
			if len(raw) >= 4 {
				next = rune(d.order.Uint16(raw[2:]))
			}
			if r = utf16.DecodeRune(r, next); r != utf8.RuneError {
				size = 4
			}
		}
		d.buf = utf8.AppendRune(d.buf, r)
		raw = raw[size:]
	}
	d.left = copy(d.raw[:], raw)
	d.text = d.buf
}

func (*utf16Decoder) Close() {}

// A crDecoder returns each CR as a LF.
type crDecoder struct{ src io.Reader }

// Read implements decoder.
func (d crDecoder) Read(p []byte) (int, error) {
	n, err := d.src.Read(p)
	for rest := p[:n]; ; {
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			return n, err
		}
		rest[i] = '\n'
		rest = rest[i+1:]
	}
}

func (crDecoder) Close() {}

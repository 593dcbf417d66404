package main

import (
	"encoding/binary"
	"encoding/json"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
)

// absent is the length of a value that is missing: of null, or of the answer to a URL
// that cannot be parsed.
const absent = ^uint32(0)

// A converter answers packed blocks of URLs.
//
// A block has count lengths of 32 bits, little endian, and then the values as UTF-8, with
// nothing between them. A length counts UTF-16 code units, which are the characters of
// JavaScript, so that JavaScript encodes and decodes a block as one string.
type converter struct {
	n     *codec.Normalizer
	level codec.Level
	r     codec.Result
	norm  []byte // normal form of one URL
	text  []byte // values of the answer
}

// newConverter returns a converter for a request in JSON, of which it needs only the
// profile and the level.
func newConverter(in []byte) (*converter, error) {
	var r request
	if err := json.Unmarshal(in, &r); err != nil {
		return nil, err
	}
	n, level, err := r.normalizer()
	return &converter{n: n, level: level}, err
}

// answer appends to dst the answers to a block. The first value of the block is the base
// of the others, or absent. The answer is a block with the normal forms or, if keys is
// set, the keys of the others.
func (c *converter) answer(dst, in []byte, count int, keys bool) []byte {
	lengths, text := in[:4*count], in[4*count:]
	ascii := isASCII(text)
	c.text = c.text[:0]
	var base []byte
	for i := range count {
		units := binary.LittleEndian.Uint32(lengths[4*i:])
		if units == absent {
			if i > 0 {
				dst = binary.LittleEndian.AppendUint32(dst, absent)
			}
			continue
		}
		size := int(units)
		if !ascii {
			size = sizeOf(text, size)
		}
		url := text[:size:size]
		text = text[size:]
		if i == 0 {
			base = url
			continue
		}
		dst = binary.LittleEndian.AppendUint32(dst, c.append(base, url, keys))
	}
	return append(dst, c.text...)
}

// append appends the answer to one URL to c.text, and returns its length.
func (c *converter) append(base, url []byte, keys bool) uint32 {
	var err error
	if base == nil {
		c.norm, err = c.n.Append(c.norm[:0], url, &c.r)
	} else {
		c.norm, err = c.n.AppendRef(c.norm[:0], base, url, &c.r)
	}
	if err != nil || keys && !c.r.HasKey(c.level) {
		return absent
	}
	if !keys {
		c.text = append(c.text, c.norm...)
		return units(c.norm)
	}
	start := len(c.text)
	c.text = c.r.Key(c.level).AppendTo(c.text)
	return uint32(len(c.text) - start)
}

// isASCII reports whether text is ASCII, so that a byte is a UTF-16 code unit.
func isASCII(text []byte) bool {
	for len(text) >= 8 {
		if binary.LittleEndian.Uint64(text)&0x8080808080808080 != 0 {
			return false
		}
		text = text[8:]
	}
	for _, b := range text {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// sizeOf returns the size in bytes of the first n UTF-16 code units of valid UTF-8.
func sizeOf(text []byte, n int) int {
	size := 0
	for n > 0 {
		r, k := utf8.DecodeRune(text[size:])
		size += k
		n -= width(r)
	}
	return size
}

// units returns the number of UTF-16 code units of valid UTF-8.
func units(text []byte) uint32 {
	if isASCII(text) {
		return uint32(len(text))
	}
	n := 0
	for _, r := range string(text) {
		n += width(r)
	}
	return uint32(n)
}

// width returns the number of UTF-16 code units of a rune.
func width(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

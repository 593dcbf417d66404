package urlcanon

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// A set is a set of bytes.
type set [256]bool

// setOf returns the set of controls up to space or, without space, of those
// below, of the bytes from 0x7F, and of more.
func setOf(space bool, more string) *set {
	s := new(set)
	for c := range s {
		s[c] = c < ' ' || c == ' ' && space || c >= 0x7F
	}
	for _, c := range []byte(more) {
		s[c] = true
	}
	return s
}

// The sets of bytes that steps escape.
var (
	c0Set           = setOf(false, "")
	hostSet         = setOf(true, "")
	pathSet         = setOf(true, "\"#<>?`{}")
	querySet        = setOf(true, "\"#<>")
	userinfoSet     = setOf(true, "\"#<>?`{}/:;=@[\\]^|")
	googleSet       = setOf(true, "#%")
	lessUserinfoSet = setOf(true, "#%:@")
	lessPathSet     = setOf(true, "#%?")
	lessQuerySet    = setOf(true, "#%&=")
)

// encode escapes the bytes of part that are in s.
func (c *canonicalizer) encode(part *[]byte, s *set) {
	if !bytes.ContainsFunc(*part, func(r rune) bool { return r >= 0x7F || s[byte(r)] }) {
		return
	}
	start := len(c.arena)
	c.arena = appendEncoded(c.arena, *part, s)
	*part = c.since(start)
}

func appendEncoded(dst, text []byte, s *set) []byte {
	const hex = "0123456789ABCDEF"
	for _, b := range text {
		if s[b] {
			dst = append(dst, '%', hex[b>>4], hex[b&15])
			continue
		}
		dst = append(dst, b)
	}
	return dst
}

// decode decodes the escapes of part once, or until nothing changes.
func (c *canonicalizer) decode(part *[]byte, repeatedly bool) {
	if bytes.IndexByte(*part, '%') < 0 {
		return
	}
	start := len(c.arena)
	c.arena = append(c.arena, *part...)
	for {
		n := len(c.arena)
		c.arena = c.arena[:start+decodeInPlace(c.arena[start:])]
		if !repeatedly || len(c.arena) == n {
			break
		}
	}
	*part = c.since(start)
}

// decodeInPlace decodes escapes once and returns the new length.
func decodeInPlace(text []byte) int {
	out := text[:0]
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if high, low := python.Unhex(text[i+1]), python.Unhex(text[i+2]); high|low != 255 {
				out = append(out, high<<4|low)
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return len(out)
}

// lowerPart writes part in lower case.
func (c *canonicalizer) lowerPart(part *[]byte) {
	if !bytes.ContainsFunc(*part, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return
	}
	start := len(c.arena)
	for _, b := range *part {
		c.arena = append(c.arena, ascii.Lower(b))
	}
	*part = c.since(start)
}

// drop removes the bytes of part for which is returns true. It is also given
// the byte before each byte of the result, or 0.
func (c *canonicalizer) drop(part *[]byte, is func(before, b byte) bool) {
	start := len(c.arena)
	before := byte(0)
	for _, b := range *part {
		if !is(before, b) {
			c.arena = append(c.arena, b)
			before = b
		}
	}
	if len(c.arena)-start == len(*part) {
		c.arena = c.arena[:start]
		return
	}
	*part = c.since(start)
}

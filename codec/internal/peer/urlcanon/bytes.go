package urlcanon

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// The sets of bytes that steps do not escape.
var (
	c0Set           = ascii.AllBut("")
	hostSet         = ascii.AllBut(" ")
	pathSet         = ascii.AllBut(" \"#<>?`{}")
	querySet        = ascii.AllBut(" \"#<>")
	userinfoSet     = ascii.AllBut(" \"#<>?`{}/:;=@[\\]^|")
	lessUserinfoSet = ascii.AllBut(" #%:@")
	lessPathSet     = ascii.AllBut(" #%?")
	lessQuerySet    = ascii.AllBut(" #%&=")
)

// encode escapes the bytes of part that are not in plain.
func (c *canonicalizer) encode(part *[]byte, plain *ascii.Set) {
	if !bytes.ContainsFunc(*part, func(r rune) bool { return r >= 0x7F || !plain[byte(r)] }) {
		return
	}
	start := len(c.arena)
	c.arena = ascii.AppendEscaped(c.arena, *part, plain)
	*part = c.since(start)
}

// decode decodes the escapes of part once, or until nothing changes.
func (c *canonicalizer) decode(part *[]byte, repeatedly bool) {
	if bytes.IndexByte(*part, '%') < 0 {
		return
	}
	start, decode := len(c.arena), ascii.AppendUnescaped
	if repeatedly {
		decode = ascii.AppendAllUnescaped
	}
	c.arena = decode(c.arena, *part)
	*part = c.since(start)
}

// lowerPart writes part in lower case.
func (c *canonicalizer) lowerPart(part *[]byte) {
	if !bytes.ContainsFunc(*part, func(r rune) bool { return 'A' <= r && r <= 'Z' }) {
		return
	}
	start := len(c.arena)
	c.arena = ascii.AppendLower(c.arena, *part)
	*part = c.since(start)
}

// drop removes the bytes of part that satisfy is. The argument before is the last
// byte of the result so far, or 0.
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

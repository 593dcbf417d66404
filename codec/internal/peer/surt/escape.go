package surt

import (
	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// unescape decodes the escapes of text until nothing changes. The result is
// valid until the next call.
//
// One pass is enough: escapes do not overlap, so their order does not matter, and
// an escape that decoding creates ends with the byte that was written last.
func (c *canonicalizer) unescape(text []byte) []byte {
	out := c.spare[:0]
	for _, b := range text {
		out = append(out, b)
		for n := len(out) - 3; n >= 0 && out[n] == '%'; n = len(out) - 3 {
			high, low := python.Unhex(out[n+1]), python.Unhex(out[n+2])
			if high|low == 255 {
				break
			}
			out[n] = high<<4 | low
			out = out[:n+1]
		}
	}
	c.spare = out
	return out
}

// appendEscaped appends text with controls, spaces, '#', '%', DEL and bytes
// from 0x80 escaped.
func appendEscaped(dst, text []byte) []byte {
	const hex = "0123456789ABCDEF"
	for _, b := range text {
		if b <= ' ' || b >= 0x7f || b == '#' || b == '%' {
			dst = append(dst, '%', hex[b>>4], hex[b&15])
			continue
		}
		dst = append(dst, b)
	}
	return dst
}

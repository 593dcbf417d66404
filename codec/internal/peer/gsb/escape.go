package gsb

import "github.com/urlfold/urlfold/codec/internal/ascii"

// maxRounds is the number of rounds of decoding from which a URL is rejected.
// The last round changes nothing.
const maxRounds = 1024

// unescape sets c.text to text without tabs and line ends, decoded until no
// escape remains. It returns false if that takes more than maxRounds rounds.
//
// It decodes all rounds in one pass: escapes do not overlap, so the result does
// not depend on the order, and an escape is decoded in the round after that in
// which its last character appeared.
func (c *canonicalizer) unescape(text []byte) bool {
	c.text, c.round = c.text[:0], c.round[:0]
	for _, b := range text {
		if b == '\t' || b == '\n' || b == '\r' {
			continue
		}
		c.text, c.round = append(c.text, b), append(c.round, 0)
		for c.endsInEscape() {
			n := len(c.text) - 3
			c.text[n] = ascii.Unhex(c.text[n+1])<<4 | ascii.Unhex(c.text[n+2])
			c.round[n] = max(c.round[n], c.round[n+1], c.round[n+2]) + 1
			if c.round[n] >= maxRounds {
				return false
			}
			c.text, c.round = c.text[:n+1], c.round[:n+1]
		}
	}
	return true
}

func (c *canonicalizer) endsInEscape() bool {
	n := len(c.text) - 3
	return n >= 0 && c.text[n] == '%' && ascii.IsHex(c.text[n+1]) && ascii.IsHex(c.text[n+2])
}

// appendEscaped appends text with the bytes escaped that a canonical URL must
// not contain.
func appendEscaped(dst, text []byte) []byte {
	const digits = "0123456789ABCDEF"
	for _, b := range text {
		if b <= ' ' || b >= 0x7f || b == '#' || b == '%' {
			dst = append(dst, '%', digits[b>>4], digits[b&15])
		} else {
			dst = append(dst, b)
		}
	}
	return dst
}

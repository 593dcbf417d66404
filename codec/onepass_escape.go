package codec

import (
	"encoding/binary"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file is the part of onePass for escapes. Most of them need a single
// lookup in a table. For the others, the next bytes decide whether the escape is
// defective: it may be part of a double escape, of a dot segment, or of invalid
// UTF-8.

// character treats the escapes of a non-ASCII character, or of text that is not
// well-formed UTF-8, that begin at i in component Path+c; v is the value of the first
// escape. It returns the offset of the next byte to examine.
func (p *pass) character(i, c int, v byte) int {
	n := characterEscapes(p.src[i:p.in.spans[Path+Component(c)].End], v)
	if n == 0 {
		n = p.oddCharacter(i, c)
	}
	for end := i + 3*n; i < end; i += 3 {
		p.escape(i, c, escapeAnywhere)
	}
	return i
}

// oddCharacter is character for escapes that may be defective. It records their defect,
// and returns their number.
func (p *pass) oddCharacter(i, c int) int {
	p.enter(Path + Component(c))
	n, k := percent.Sequence(p.src[:p.end], i)
	if k != percent.WellFormed {
		p.mark(i, Flag(k), p.action(Flag(k)))
	}
	return n
}

// escape takes the step for the escape at i in component Path+c. class is the
// class of the encoded byte in the table escapes.
func (p *pass) escape(i, c int, class uint8) {
	high, low := digits[p.padded[i+1]], digits[p.padded[i+2]]
	p.step(i, &p.steps[c][2*class+(high|low)&digitLower/digitLower], high<<4|low&15)
}

// escapedDot treats the escape of a '.' at i in component Path+c. It returns the
// offset of the next byte to examine.
func (p *pass) escapedDot(i, c int) int {
	p.enter(Path + Component(c))
	if p.c == Path {
		if n := p.dotSegment(i); n > 0 {
			return p.cutDots(i, n)
		}
		p.traversal(i)
	}
	p.escape(i, c, escapeUnreserved)
	return i + 3
}

// escapedPercent treats the escape of a '%' at i in component Path+c. It returns the
// offset of the next byte to examine.
func (p *pass) escapedPercent(i, c int) int {
	p.enter(Path + Component(c))
	if d, ok := p.doubles.Defect(p.src[:p.end], i); ok {
		p.mark(i, FlagDoubleEncoded, p.action(FlagDoubleEncoded))
		p.marks[p.marked-1].Info = escapeInfo(d)
	}
	return i + 3
}

// markNeedless records diagnostics for the escape of an unreserved byte at i.
func (p *pass) markNeedless(i int) {
	if hasLowerHex(p.src[i:p.end]) {
		p.mark(i, FlagLowerHex, p.action(FlagLowerHex))
	}
	p.mark(i, FlagNeedlessEscape, p.action(FlagNeedlessEscape))
}

// tripletValue decodes the escape at the start of b.
func tripletValue(b []byte) byte { return percent.Unhex(b[1])<<4 | percent.Unhex(b[2]) }

// action returns what onEscape returns, from a table.
func (p *pass) action(f Flag) Action { return p.actions[f%numFlags] }

// hasLowerHex reports whether the escape at the start of b contains a
// lower-case digit.
func hasLowerHex(b []byte) bool { return b[1] >= 'a' || b[2] >= 'a' }

// malformedPercent treats a '%' at i in component Path+c that starts no escape.
func (p *pass) malformedPercent(i, c int) int {
	if p.profile.Malformed == percent.MalformedKeep {
		p.malformed |= 1 << c
	}
	f := malformedFlag(p.padded[i:], int(p.in.spans[Path+Component(c)].End)-i-1)
	p.step(i, &p.steps[c][stepMalformed+f], '%')
	return i + 1
}

// malformedFlag returns the Flag of a '%' that starts no escape. The '%' is at
// the start of text, and n bytes of its component follow. text has at least
// eight bytes, and the byte after the component is not a hex digit. Any of the
// flags is frequent in some URLs, so branches would be mispredicted. Package
// percent has the readable twin, malformedKind.
func malformedFlag(text []byte, n int) uint8 {
	x := binary.LittleEndian.Uint64(text)
	first := digits[byte(x>>8)]
	truncated := b2i(n == 0) | b2i(n == 1)&b2i(first != digitNone)
	others := digits[byte(x>>16)] | digits[byte(x>>24)] | digits[byte(x>>32)] | digits[byte(x>>40)]
	u := b2i(byte(x>>8)|0x20 == 'u') & b2i(others&digitNone == 0)
	return uint8(FlagNonHex) - uint8(truncated)*uint8(FlagNonHex-FlagTruncated) + uint8(u)*uint8(FlagPercentU-FlagNonHex)
}

package codec

import (
	"encoding/binary"
	"math/bits"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file is the part of onePass for dots in a path. The survey marks a '.'
// only if it may begin a dot segment.

// dot treats a '.' in the path. It returns the offset of the next byte to
// examine.
func (p *pass) dot(i int) int {
	p.enter(Path)
	src, end := p.padded, p.end
	one := b2i(src[i+1] == '/') | b2i(i+1 == end)
	two := b2i(src[i+1] == '.') & (b2i(src[i+2] == '/') | b2i(i+2 == end))
	if src[i-1] != '/' || one|two == 0 || p.table == verbatimWalk {
		return p.oddDot(i)
	}
	if !p.dots {
		p.dots = true
		p.mark(i, FlagDotSegments, ActionRemoved)
	}
	p.note(RuleRemoveDots)
	p.flush(i, i)
	if two != 0 {
		p.cutSegment()
	}
	i += 1 + two
	i += b2i(i < end) // dst already ends in a '/'
	p.from = i
	return i
}

// oddDot is dot for a dot segment with an escape, and for other dots.
func (p *pass) oddDot(i int) int {
	if n := p.dotSegment(i); n > 0 {
		return p.cutDots(i, n)
	}
	p.traversal(i)
	return i + 1
}

// traversal records the encoded traversal that may begin with the '.' at i.
func (p *pass) traversal(i int) {
	if percent.IsEncodedTraversal(p.src[p.start:p.end], i-p.start) {
		p.mark(i, FlagEncodedTraversal, p.action(FlagEncodedTraversal))
	}
}

// dotSegment returns the length of the dot segment that begins at i, or 0.
func (p *pass) dotSegment(i int) int {
	if p.src[i-1] != '/' { // i > 0, because a path starts with '/'
		return 0
	}
	return dotSegment(p.src[i:p.end])
}

// cutDots removes the dot segment src[i:i+n] and, if it is "..", the preceding
// segment. It returns the offset after the dot segment and its '/'.
func (p *pass) cutDots(i, n int) int {
	if p.table == verbatimWalk {
		p.markDots(i, n, ActionKept)
		return i + n
	}
	p.markDots(i, n, ActionRemoved)
	p.note(RuleRemoveDots)
	p.noteDotEscapes(p.src[i : i+n])
	p.flush(i, i)
	if dotLen(p.src[i:p.end]) < n { // ".."
		p.cutSegment()
	}
	i += n
	if i < p.end {
		i++ // dst already ends in a '/'
	}
	p.from = i
	return i
}

// noteDotEscapes records the rules for the escapes in a removed dot segment:
// RFC 3986 decodes them first, then removes the segment.
func (p *pass) noteDotEscapes(seg []byte) {
	if p.profile.Standard == WHATWG {
		return
	}
	for i, c := range seg {
		if c == '%' {
			p.applied |= 1 << RuleDecodeUnreserved
			p.applied.set(RuleUpperEscapes, hasLowerHex(seg[i:]))
		}
	}
}

// markDots records a diagnostic for the dot segment src[i:i+n] if it is the
// first one of the path, and diagnostics for its escapes.
func (p *pass) markDots(i, n int, a Action) {
	if !p.dots {
		p.dots = true
		p.mark(i, FlagDotSegments, a)
	}
	for end := i + n; i < end; i += dotLen(p.src[i:p.end]) {
		if p.src[i] == '%' {
			p.markNeedless(i)
		}
	}
}

// cutSegment removes the last segment from dst, but not the preceding '/'.
func (p *pass) cutSegment() {
	end := p.at - 1
	// Read eight bytes at a time, because the CPU cannot predict the length of
	// a segment. There are always eight bytes, because a scheme and a host
	// precede the path.
	for end > p.pathAt {
		slashes := equalBytes(binary.LittleEndian.Uint64(p.dst[end-8:]), '/')
		end -= bits.LeadingZeros64(slashes) / 8
		if slashes != 0 {
			break
		}
	}
	p.at = max(end, p.pathAt+1)
	for p.keeps > 0 && int(p.kept[p.keeps-1]) >= p.at-p.base {
		p.keeps--
	}
}

// equalBytes returns 0x80 in the place of each byte of x that equals b, and 0
// in the place of every other byte.
func equalBytes(x uint64, b byte) uint64 {
	const each = 0x01_01_01_01_01_01_01_01
	x ^= uint64(b) * each
	return ^(x&(0x7F*each) + 0x7F*each | x | 0x7F*each)
}

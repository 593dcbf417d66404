package codec

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file holds the states that parse paths, and the definition of a Windows
// drive letter.

func (p *parser) pathStart() state {
	p.path = len(p.dst)
	c := p.c()
	switch {
	case p.special():
		p.reverseSolidus(p.i)
		if p.isSlash(c) {
			p.i++
		}
		return statePath
	case c == '?' || c == '#' || c == eof:
		p.note(Path, p.path)
		p.u.set(Path, p.i, p.i)
		return p.delimiter()
	}
	if c == '/' {
		p.i++
	}
	return statePath
}

// pathState writes the segments of a path. The '/' before the first segment, if
// any, has already been read.
func (p *parser) pathState() state {
	start := p.i
	if p.i > 0 && p.isSlash(int(p.in[p.i-1])) && p.u.Span(Scheme).End < uint32(p.i-1) || p.i == 1 && p.isSlash(int(p.in[0])) {
		start--
	}
	end, d := p.pathEnd()
	p.pathFront(start, end)
	if p.onePiece(p.in[p.i:end], d) {
		p.dst = append(p.dst, '/')
		p.write(Path, end, d, p.esc[setPath])
	} else {
		p.segments(end)
	}
	p.u.set(Path, start, p.i)
	p.note(Path, p.path)
	return p.delimiter()
}

// pathFront records the rule that changes the start of the path in[start:end]:
// the path may get segments of a base or a '/', or its '/' was a '\\'. A '/'
// that belongs to the host of a file URL does not count.
func (p *parser) pathFront(start, end int) {
	text := p.in[p.i:end]
	var before []byte
	if start < p.i && (!p.u.Has(Host) || start >= int(p.u.Span(Host).End)) {
		before = root
		if p.in[start] == '\\' {
			p.applied |= 1 << ruleBackslash
			p.rec.changeText(ruleBackslash, p.in[start:end], root, text)
		}
	}
	r := ruleResolve
	switch {
	case len(p.dst) > p.path || p.out.Has(Path):
	case before != nil:
		return
	case len(text) == 0:
		r = RuleEmptyPath
	default:
		r = rulePathRoot
	}
	p.applied |= 1 << r
	if p.rec != nil {
		p.rec.changeText(r, slices.Concat(before, text), p.dst[p.path:], root, text)
	}
}

// pathEnd returns the end of the path, and the dirt bits of its bytes from the
// pointer on.
func (p *parser) pathEnd() (end int, d uint8) {
	for end = p.i; end < len(p.in) && p.in[end] != '?' && p.in[end] != '#'; end++ {
		d |= dirt[p.in[end]]
	}
	return end, d
}

// onePiece reports whether the segments of path, whose bytes have the dirt bits
// d, can be written in one piece: none is a dot segment or a drive letter, and
// every '/' stays.
func (p *parser) onePiece(path []byte, d uint8) bool {
	if p.known == schemeFile || d&dirtPath != 0 && bytes.IndexByte(path, '\\') >= 0 {
		return false
	}
	if d&(dirtDot|dirtPercent) == 0 {
		return true
	}
	for {
		slash := bytes.IndexByte(path, '/')
		if slash < 0 {
			return dotSegmentLen(path) == 0
		}
		if dotSegmentLen(path[:slash]) != 0 {
			return false
		}
		path = path[slash+1:]
	}
}

// write writes in[i:end], whose bytes have the dirt bits d, as a piece of
// component c, and moves the pointer to end.
func (p *parser) write(c Component, end int, d uint8, esc percent.EscapeRules) {
	p.escaped(c, p.in[p.i:end], esc)
	if d&(dirtRaw[c]|dirtPercent) != 0 { // every byte that RFC 3986 allows is a URL unit
		p.urlUnits(c, p.i, end)
	}
	p.i = end
}

// segments writes the path up to end, segment by segment.
func (p *parser) segments(end int) {
	for {
		from := p.i
		for c := p.c(); c != eof && c != '?' && c != '#' && !p.isSlash(c); c = p.c() {
			p.i++
		}
		slash := p.isSlash(p.c())
		if slash {
			p.pathSlash(from, end)
		}
		if p.rec == nil {
			p.segment(p.in[from:p.i], slash, nil)
		} else {
			p.recordSegment(p.in[from:p.i], slash, end)
		}
		p.urlUnits(Path, max(from, p.checked), p.i)
		if !slash {
			return
		}
		p.i++
	}
}

// pathSlash treats the '/' or '\\' after the segment that begins at from.
func (p *parser) pathSlash(from, end int) {
	if p.in[p.i] == '/' {
		return
	}
	p.reverseSolidus(p.i)
	p.applied |= 1 << ruleBackslash
	if p.rec != nil {
		seg, rest := p.in[from:p.i], p.in[p.i+1:end]
		p.rec.changeText(ruleBackslash, slices.Concat(p.dst[p.path:], root, seg, p.in[p.i:end]), p.dst[p.path:], root, seg, root, rest)
	}
}

// segment writes one segment of the path; slash reports whether another segment follows.
// before is the whole path, for recorded steps.
func (p *parser) segment(seg []byte, slash bool, before []byte) {
	n := dotSegmentLen(seg)
	if n == 0 {
		p.plainSegment(seg, before)
		return
	}
	if n == 2 {
		p.shorten()
	}
	if !slash {
		p.dst = append(p.dst, '/')
	}
	p.rewrotePath(RuleRemoveDots, before)
}

// plainSegment writes a segment that is not a dot segment.
func (p *parser) plainSegment(seg, before []byte) {
	p.dst = append(p.dst, '/')
	at := len(p.dst)
	esc := p.esc[setPath]
	if p.known == schemeFile && at == p.path+1 {
		if len(seg) == 2 && startsWithDriveLetter(seg) {
			p.dst = append(p.dst, seg[0], ':')
			if seg[1] != ':' {
				p.rewrotePath(ruleDriveLetter, before)
			}
			return
		}
		esc.Unreserved = esc.Unreserved && (!decodesToDriveLetter(seg) || p.noPipe && seg[3] == '|')
	}
	p.escaped(Path, seg, esc)
}

// recordSegment is segment when steps are recorded: the steps show the path up
// to end, including the part after the segment.
func (p *parser) recordSegment(seg []byte, slash bool, end int) {
	if slash {
		p.rec.rest = slices.Concat(root, p.in[p.i+1:end])
	}
	p.segment(seg, slash, p.rec.whole(p.dst[p.path:], slices.Concat(root, seg)))
	p.rec.rest = nil
}

// rewrotePath records that r changed the path from before.
func (p *parser) rewrotePath(r Rule, before []byte) {
	p.applied |= 1 << r
	if p.rec != nil {
		p.rec.change(r, Path, before, p.rec.whole(p.dst[p.path:], nil))
	}
}

// shorten removes the last segment of the path, except the drive letter of a
// file URL (https://url.spec.whatwg.org/#shorten-a-urls-path).
func (p *parser) shorten() {
	path := p.dst[p.path:]
	if p.known == schemeFile && len(path) > 0 && driveSegment(path) == len(path) {
		return
	}
	p.dst = p.dst[:p.path+len(cutSegment(path))]
}

func (p *parser) opaquePath() state {
	p.opaque = true
	p.path = len(p.dst)
	start := p.i
	for c := p.c(); c != eof && c != '?' && c != '#'; c = p.c() {
		p.i++
	}
	text := p.in[start:p.i]
	p.u.set(Path, start, p.i)
	p.urlUnits(Path, start, p.i)
	space := p.c() != eof && len(text) > 0 && text[len(text)-1] == ' '
	if space {
		text = text[:len(text)-1]
	}
	if !space {
		p.escaped(Path, text, p.esc[setOpaque])
	} else {
		p.opaqueBeforeSpace(text)
	}
	p.note(Path, p.path)
	return p.delimiter()
}

// opaqueBeforeSpace writes an opaque path and the space that follows, as an
// escape.
func (p *parser) opaqueBeforeSpace(text []byte) {
	var before []byte
	if p.rec != nil {
		p.rec.rest = []byte{' '}
	}
	p.escaped(Path, text, p.esc[setOpaque])
	if p.rec != nil {
		before = p.rec.whole(p.dst[p.path:], nil)
		p.rec.rest = nil
	}
	p.dst = append(p.dst, "%20"...)
	p.rewrotePath(RuleEncodeIllegal, before)
}

// dotSegmentLen returns 1 for a single-dot URL path segment, 2 for a double-dot
// one, and 0 for any other. Each dot may be raw or escaped.
func dotSegmentLen(seg []byte) int {
	if len(seg) == 0 || len(seg) > 6 || dotSegment(seg) != len(seg) {
		return 0
	}
	if dotLen(seg) == len(seg) {
		return 1
	}
	return 2
}

// startsWithDriveLetter reports whether b starts with a Windows drive letter
// that is followed by a delimiter or nothing
// (https://url.spec.whatwg.org/#start-with-a-windows-drive-letter).
func startsWithDriveLetter(b []byte) bool {
	if len(b) < 2 || !isAlpha(b[0]) || b[1] != ':' && b[1] != '|' {
		return false
	}
	if len(b) == 2 {
		return true
	}
	c := b[2]
	return c == '/' || c == '\\' || c == '?' || c == '#'
}

// driveSegment returns the length of the normalized drive letter at the start
// of path, including the preceding '/', or 0.
func driveSegment(path []byte) int {
	if len(path) >= 3 && isAlpha(path[1]) && path[2] == ':' && (len(path) == 3 || path[3] == '/') {
		return 3
	}
	return 0
}

// decodesToDriveLetter reports whether decoding the unreserved escapes of seg
// would produce a Windows drive letter: "%43|".
func decodesToDriveLetter(seg []byte) bool {
	if len(seg) != 4 || !isTriplet(seg) || seg[3] != ':' && seg[3] != '|' {
		return false
	}
	return isAlpha(tripletValue(seg))
}

package codec

import (
	"bytes"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
)

// A walkTable says of each byte what a pass has to do about it where it stands raw
// in path, query or fragment. For most bytes that is nothing.
type walkTable [Fragment - Path + 1][256]uint8

const (
	walkEscape    = 1 << iota // the byte becomes an escape
	walkFlag                  // RFC 3986 does not allow it
	walkUnit                  // it is no URL unit, or it may not be one
	walkPercent               // '%'
	walkDot                   // '.' in a path
	walkEntity                // ';' in a query, which may end "&amp;"
	walkBackslash             // '\\' in a path, for browsers a '/'
	walkGiveUp                // browsers take the byte out
)

// makeWalkTable makes the table of profiles that escape the sets, of path, query
// and fragment.
func makeWalkTable(rd Standard, sets ...percent.Set) *walkTable {
	t := new(walkTable)
	for i, set := range sets {
		c := Path + Component(i)
		for b := range 256 {
			b := byte(b)
			t[i][b] = uint8(b2i(set.Has(b))*walkEscape | b2i(dirt[b]&dirtRaw[c] != 0)*walkFlag |
				b2i(rd == WHATWG && notUnit[b])*walkUnit | b2i(rd == WHATWG && isTab(b))*walkGiveUp)
		}
		t[i]['%'] = walkPercent
	}
	t[0]['.'] = walkDot
	if rd == WHATWG {
		t[0]['\\'] = walkBackslash
	}
	t[Query-Path][';'] = walkEntity
	return t
}

// The tables of all profiles.
var (
	rfcWalk      = makeWalkTable(RFC, percent.RFC3986Path, percent.RFC3986Query, percent.RFC3986Fragment)
	whatwgWalk   = makeWalkTable(WHATWG, percent.WHATWGPath, percent.WHATWGSpecialQuery, percent.WHATWGFragment)
	verbatimWalk = makeWalkTable(RFC, percent.None, percent.None, percent.None)
)

// walkTable returns the table of a profile, or nil if onePass cannot do what it
// asks for: it gives up on rules that are not listed here.
func (p *Profile) walkTable() *walkTable {
	switch {
	case p.Standard == WHATWG && p.Rules&^(escapeRules|lossyRules|1<<FallbackRFC) == 0:
		return whatwgWalk
	case p.Standard == RFC && p.Rules.HasAll(syntaxRules) && p.Rules&^(syntaxRules|schemeRules) == 0 && p.Malformed == percent.MalformedEncode:
		return rfcWalk
	case p.Standard == RFC && p.Rules == 0 && p.Malformed == percent.MalformedKeep:
		return verbatimWalk
	}
	return nil
}

// A walker is the part of a pass that is about the component in hand.
type walker struct {
	c         Component
	start     int    // where it begins in src
	text      []byte // its bytes
	from      int    // text[from:i] stays as it is and is yet to be copied
	malformed bool   // it has a '%' that starts no escape
	pathAt    int    // where the path begins in dst
	dots      bool   // it has a dot segment
	entity    bool   // it has "&amp;"
	raw       Flag   // of the raw bytes that end at rawEnd
	rawEnd    int
	defects   percent.Scanner
	scanning  bool // defects is ready
}

// component reads and writes component c, src[start:end], but does not note where
// it is.
func (p *pass) component(c Component, start, end int) {
	text := p.src[start:end]
	p.c, p.start, p.text, p.from, p.malformed, p.scanning, p.rawEnd = c, start, text, 0, false, false, -1
	t := &p.table[c-Path]
	for i := min(max(p.clean-start, 0), len(text)); i < len(text); {
		need := t[text[i]]
		if need == 0 {
			i++
			continue
		}
		if i = p.byte(i, need); p.giveUp {
			return
		}
	}
	p.dst = append(p.dst, text[p.from:]...)
}

// byte does what is to do about text[i], and returns the offset of the next byte
// to look at.
func (p *pass) byte(i int, need uint8) int {
	switch need {
	case walkDot:
		return p.dot(i)
	case walkPercent:
		return p.escape(i)
	case walkEntity:
		p.semicolon(i)
		return i + 1
	case walkBackslash:
		p.backslash(i)
		return i + 1
	}
	p.giveUp = p.giveUp || need&walkGiveUp != 0
	return p.rawByte(i, need)
}

// flush writes what is yet to be copied in front of i; next is where the next run
// begins.
func (p *pass) flush(i, next int) {
	p.dst = append(p.dst, p.text[p.from:i]...)
	p.from = next
}

// mark notes a flag at text[at].
func (p *pass) mark(at int, f Flag, a Action, info uint8) {
	if p.r == nil {
		return
	}
	p.flags = p.flags.With(f)
	n := len(p.marks)
	if n == p.maxDiagnostics {
		p.flags = p.flags.With(DiagnosticsDropped)
		return
	}
	p.marks = append(p.marks, Diagnostic{})
	m := &p.marks[n] // field by field: built elsewhere and copied it would cost more than all else here
	m.At, m.Flag, m.Component, m.Action, m.Info = uint32(p.start+at), f, p.c, a, info
}

// rawByte is for bytes that may not stand raw where they do by at least one of the
// standards.
func (p *pass) rawByte(i int, need uint8) int {
	action, r, n := Kept, rune(0), 1
	if need&walkEscape != 0 {
		action = Encoded
	}
	if need&walkUnit != 0 {
		r, n = utf8.DecodeRune(p.text[i:])
	}
	if need&walkFlag != 0 {
		p.illegal(i, i+n, action)
	}
	if need&walkUnit != 0 && !isURLCodePoint(r, n) {
		p.mark(i, InvalidURLUnit, action, 0)
	}
	switch {
	case need&walkEscape != 0:
		p.note(EncodeIllegal)
		p.flush(i, i+n)
		for _, c := range p.text[i : i+n] {
			p.dst = percent.AppendEscape(p.dst, c)
		}
	case need&walkFlag != 0:
		p.keep(i)
	}
	return i + n
}

// keep notes that the byte at i, which RFC 3986 does not allow there, stays.
func (p *pass) keep(i int) { p.keepAt(len(p.dst) - p.base + i - p.from) }

// keepAt notes it by its offset in the normal form.
func (p *pass) keepAt(at int) {
	if p.r != nil {
		s := &p.r.scratch
		s.kept = append(s.kept, uint32(at))
	}
}

// illegal marks the run of bytes of one kind that text[i:end] begins or goes on
// with.
func (p *pass) illegal(i, end int, a Action) {
	f := rawFlag(p.text[i])
	if p.rawEnd != i || p.raw != f {
		p.mark(i, f, a, 0)
	}
	p.raw, p.rawEnd = f, end
}

// backslash is for a '\\' in the path of the whatwg reading.
func (p *pass) backslash(i int) {
	if dotLen(p.text[i+1:]) > 0 || p.text[i-1] == '.' || i > 3 && dotLen(p.text[i-3:]) > 0 {
		p.giveUp = true // a dot segment for browsers, but not for RFC 3986
		return
	}
	p.illegal(i, i+1, Replaced)
	p.mark(i, InvalidReverseSolidus, Replaced, 0)
	p.note(ruleBackslash)
	p.flush(i, i+1)
	p.dst = append(p.dst, '/')
}

// dot is for a '.' in the path. It returns the offset of the next byte to look at.
func (p *pass) dot(i int) int {
	if n := p.dotSegment(i); n > 0 {
		return p.cutDots(i, n)
	}
	p.traversal(i)
	return i + 1
}

// traversal marks the encoded traversal that may begin with the '.' at i.
func (p *pass) traversal(i int) {
	if next := i + 1; next < len(p.text) && (p.text[next] == '.' || p.text[next] == '%') {
		p.scan(i)
	}
}

// dotSegment returns the length of the dot segment that begins at i, or 0.
func (p *pass) dotSegment(i int) int {
	if p.text[i-1] != '/' { // i is not 0: a path begins with '/'
		return 0
	}
	return dotSegment(p.text[i:])
}

// cutDots leaves out the dot segment text[i:i+n] and, if it is "..", the segment in
// front of it. It returns the offset behind it and its '/'.
func (p *pass) cutDots(i, n int) int {
	if p.table == verbatimWalk {
		p.markDots(i, n, Kept)
		return i + n
	}
	p.markDots(i, n, Removed)
	p.note(RemoveDots)
	p.noteDotEscapes(p.text[i : i+n])
	p.flush(i, i)
	if dotLen(p.text[i:]) < n { // ".."
		p.cutSegment()
	}
	i += n
	if i < len(p.text) {
		i++ // dst ends in a '/' already
	}
	p.from = i
	return i
}

// noteDotEscapes notes the rules on the escapes of a dot segment that is left out:
// RFC 3986 has them decoded before.
func (p *pass) noteDotEscapes(seg []byte) {
	if p.profile.Standard == WHATWG {
		return
	}
	for i, c := range seg {
		if c == '%' {
			p.applied |= 1 << DecodeUnreserved
			p.applied.set(UpperEscapes, hasLowerHex(seg[i:]))
		}
	}
}

// markDots marks the dot segment text[i:i+n] if it is the first one of the path, and
// the escapes in it.
func (p *pass) markDots(i, n int, a Action) {
	if !p.dots {
		p.dots = true
		p.mark(i, DotSegments, a, 0)
	}
	for end := i + n; i < end; i += dotLen(p.text[i:]) {
		if p.text[i] == '%' {
			p.scan(i)
		} else {
			p.traversal(i)
		}
	}
}

// cutSegment takes back the last segment that was written. The '/' in front of it
// stays.
func (p *pass) cutSegment() {
	end := len(p.dst) - 1
	for end > p.pathAt && p.dst[end-1] != '/' {
		end--
	}
	p.dst = p.dst[:max(end, p.pathAt+1)]
	if p.r == nil {
		return
	}
	s := &p.r.scratch
	for len(s.kept) > 0 && int(s.kept[len(s.kept)-1]) >= len(p.dst)-p.base {
		s.kept = s.kept[:len(s.kept)-1]
	}
}

// semicolon is for a ';' in the query.
func (p *pass) semicolon(i int) {
	if at := i + 1 - len(htmlAmp); !p.entity && bytes.HasSuffix(p.text[:i+1], htmlAmp) {
		p.entity = true
		p.mark(at, HTMLEntity, Kept, 0)
	}
}

// escape is for a '%', and for the escapes of one character that begin with it.
func (p *pass) escape(i int) int {
	if n := cleanEscape(p.text[i:], escapeOutsidePath); n > 0 {
		return i + n
	}
	if !isTriplet(p.text[i:]) {
		p.malformedPercent(i)
		return i + 1
	}
	v := tripletValue(p.text[i:])
	n := 1
	if v >= 0x80 {
		n = characterEscapes(p.text[i:], v)
	}
	if n > 0 && ' ' < v && v != 0x7F && v != '%' && v != '.' {
		for end := i + 3*n; i < end; i += 3 {
			p.plainEscape(i, tripletValue(p.text[i:]))
		}
		return i
	}
	if p.c == Path {
		if n := p.dotSegment(i); n > 0 {
			return p.cutDots(i, n)
		}
	}
	next := p.scan(i)
	for ; i < next; i += 3 {
		p.triplet(i, tripletValue(p.text[i:]))
	}
	return next
}

// plainEscape is for the escape at i of v, of which there is little to say.
func (p *pass) plainEscape(i int, v byte) {
	if hasLowerHex(p.text[i:]) {
		p.mark(i, LowerHex, p.onEscape(LowerHex), 0)
	}
	if percent.IsUnreserved(v) {
		p.mark(i, NeedlessEscape, p.onEscape(NeedlessEscape), 0)
	}
	p.triplet(i, v)
}

// tripletValue returns the byte that the escape at the beginning of b stands for.
func tripletValue(b []byte) byte { return percent.Unhex(b[1])<<4 | percent.Unhex(b[2]) }

// hasLowerHex reports whether the escape at the beginning of b has a lower-case
// digit.
func hasLowerHex(b []byte) bool { return b[1] >= 'a' || b[2] >= 'a' }

// triplet writes the escape at i, of v.
func (p *pass) triplet(i int, v byte) {
	lower := hasLowerHex(p.text[i:]) && p.rules.Has(UpperEscapes)
	p.applied.set(UpperEscapes, lower)
	switch {
	case percent.IsUnreserved(v) && p.rules.Has(DecodeUnreserved):
		p.applied |= 1 << DecodeUnreserved
		if p.malformed && percent.IsHex(v) { // it might complete an escape: AppendNormal knows
			p.giveUp = true
		}
		p.flush(i, i+3)
		p.dst = append(p.dst, v)
	case lower:
		p.flush(i, i+3)
		p.dst = percent.AppendEscape(p.dst, v)
	}
}

// malformedPercent is for a '%' that starts no escape.
func (p *pass) malformedPercent(i int) {
	p.scan(i)
	if p.profile.Malformed == percent.MalformedEncode {
		p.applied |= 1 << ruleMalformed
		p.flush(i, i+1)
		p.dst = append(p.dst, "%25"...)
		return
	}
	p.malformed = true
	if p.profile.Standard == WHATWG {
		p.keep(i)
		p.mark(i, InvalidURLUnit, Kept, 0)
	}
}

// scan marks the defects that begin at i, and returns where the next can begin.
func (p *pass) scan(i int) int {
	if p.r == nil {
		return i + 3
	}
	if !p.scanning {
		p.defects.Reset(p.text)
		p.scanning = true
	}
	s := &p.r.scratch
	var next int
	s.defects, next = p.defects.Step(s.defects[:0], i)
	for _, d := range s.defects {
		if d.Kind != percent.EncodedTraversal || p.c == Path {
			p.mark(int(d.At), Flag(d.Kind), p.onEscape(Flag(d.Kind)), escapeInfo(d))
		}
	}
	return next
}

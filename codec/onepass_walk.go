package codec

import (
	"bytes"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
)

// A walkTable gives, for each raw byte of a path, query or fragment, the work
// that a pass has to do. For most bytes there is none.
type walkTable [Fragment - Path + 1][256]uint8

const (
	walkEscape    = 1 << iota // the byte is escaped
	walkFlag                  // RFC 3986 does not allow it
	walkUnit                  // it is not, or may not be, a URL unit
	walkPercent               // '%'
	walkDot                   // '.' in a path
	walkEntity                // ';' in a query, which may end "&amp;"
	walkBackslash             // '\\' in a path, which browsers read as '/'
	walkGiveUp                // browsers remove the byte
)

// makeWalkTable returns the table for profiles that escape the given sets in
// path, query and fragment.
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

// The tables of all profiles that onePass supports.
var (
	rfcWalk      = makeWalkTable(RFC, percent.RFC3986Path, percent.RFC3986Query, percent.RFC3986Fragment)
	whatwgWalk   = makeWalkTable(WHATWG, percent.WHATWGPath, percent.WHATWGSpecialQuery, percent.WHATWGFragment)
	verbatimWalk = makeWalkTable(RFC, percent.None, percent.None, percent.None)
)

// walkTable returns the table for a profile, or nil if onePass does not support
// the profile: it knows only the rules listed here.
func (p *Profile) walkTable() *walkTable {
	switch {
	case p.Standard == WHATWG && p.Rules&^(escapeRules|lossyRules|1<<FallbackRFC) == 0:
		return whatwgWalk
	case p.Standard == RFC && p.Rules.hasAll(syntaxRules) && p.Rules&^(syntaxRules|schemeRules) == 0 && p.Malformed == percent.MalformedEncode:
		return rfcWalk
	case p.Standard == RFC && p.Rules == 0 && p.Malformed == percent.MalformedKeep:
		return verbatimWalk
	}
	return nil
}

// A walker is the part of a pass that concerns the current component.
type walker struct {
	c         Component
	start     int    // its start in src
	text      []byte // its bytes
	from      int    // text[from:i] is unchanged and not yet copied
	malformed bool   // it contains a '%' that starts no escape
	pathAt    int    // start of the path in dst
	dots      bool   // it contains a dot segment
	entity    bool   // it contains "&amp;"
	raw       Flag   // flag of the raw bytes that end at rawEnd
	rawEnd    int
	defects   percent.Scanner
	scanning  bool // defects is set up for text
}

// component parses and writes component c, src[start:end], but does not set its
// span.
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

// byte does the work for text[i], and returns the offset of the next byte to
// examine.
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

// flush copies the pending bytes before i; next is the start of the next run.
func (p *pass) flush(i, next int) {
	p.dst = append(p.dst, p.text[p.from:i]...)
	p.from = next
}

// mark records a diagnostic at text[at].
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
	// Assign field by field: copying a composite literal would cost more than
	// the rest of the function.
	m := &p.marks[n]
	m.At, m.Flag, m.Component, m.Action, m.Info = uint32(p.start+at), f, p.c, a, info
}

// rawByte treats a byte that at least one of the standards does not allow raw.
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

// keep records that the byte at i, which RFC 3986 does not allow, is kept.
func (p *pass) keep(i int) { p.keepAt(len(p.dst) - p.base + i - p.from) }

// keepAt is keep by the byte's offset in the normal form.
func (p *pass) keepAt(at int) {
	if p.r != nil {
		s := &p.r.scratch
		s.kept = append(s.kept, uint32(at))
	}
}

// illegal records a diagnostic for text[i:end], bytes of one kind. If they
// continue the run of the previous call, that diagnostic covers them.
func (p *pass) illegal(i, end int, a Action) {
	f := rawFlag(p.text[i])
	if p.rawEnd != i || p.raw != f {
		p.mark(i, f, a, 0)
	}
	p.raw, p.rawEnd = f, end
}

// backslash treats a '\\' in the path, in WHATWG.
func (p *pass) backslash(i int) {
	if dotLen(p.text[i+1:]) > 0 || p.text[i-1] == '.' || i > 3 && dotLen(p.text[i-3:]) > 0 {
		p.giveUp = true // a dot segment by WHATWG, but not by RFC 3986
		return
	}
	p.illegal(i, i+1, Replaced)
	p.mark(i, InvalidReverseSolidus, Replaced, 0)
	p.note(ruleBackslash)
	p.flush(i, i+1)
	p.dst = append(p.dst, '/')
}

// dot treats a '.' in the path. It returns the offset of the next byte to
// examine.
func (p *pass) dot(i int) int {
	if n := p.dotSegment(i); n > 0 {
		return p.cutDots(i, n)
	}
	p.traversal(i)
	return i + 1
}

// traversal records the encoded traversal that may begin with the '.' at i.
func (p *pass) traversal(i int) {
	if next := i + 1; next < len(p.text) && (p.text[next] == '.' || p.text[next] == '%') {
		p.scan(i)
	}
}

// dotSegment returns the length of the dot segment that begins at i, or 0.
func (p *pass) dotSegment(i int) int {
	if p.text[i-1] != '/' { // i > 0, because a path begins with '/'
		return 0
	}
	return dotSegment(p.text[i:])
}

// cutDots removes the dot segment text[i:i+n] and, if it is "..", the segment
// before it. It returns the offset after it and its '/'.
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
		i++ // dst already ends in a '/'
	}
	p.from = i
	return i
}

// noteDotEscapes records the rules for the escapes in a removed dot segment:
// RFC 3986 decodes them before it removes the segment.
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

// markDots records a diagnostic for the dot segment text[i:i+n] if it is the
// first one of the path, and diagnostics for its escapes.
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

// cutSegment removes the last segment from dst, but not the '/' before it.
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

// semicolon treats a ';' in the query.
func (p *pass) semicolon(i int) {
	if at := i + 1 - len(htmlAmp); !p.entity && bytes.HasSuffix(p.text[:i+1], htmlAmp) {
		p.entity = true
		p.mark(at, HTMLEntity, Kept, 0)
	}
}

// escape treats a '%', and the escapes of one character that begin with it.
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

// plainEscape treats the escape of v at i, which has no defect beyond its
// spelling.
func (p *pass) plainEscape(i int, v byte) {
	if hasLowerHex(p.text[i:]) {
		p.mark(i, LowerHex, p.onEscape(LowerHex), 0)
	}
	if percent.IsUnreserved(v) {
		p.mark(i, NeedlessEscape, p.onEscape(NeedlessEscape), 0)
	}
	p.triplet(i, v)
}

// tripletValue decodes the escape at the start of b.
func tripletValue(b []byte) byte { return percent.Unhex(b[1])<<4 | percent.Unhex(b[2]) }

// hasLowerHex reports whether the escape at the start of b contains a
// lower-case digit.
func hasLowerHex(b []byte) bool { return b[1] >= 'a' || b[2] >= 'a' }

// triplet writes the escape of v at i.
func (p *pass) triplet(i int, v byte) {
	lower := hasLowerHex(p.text[i:]) && p.rules.Has(UpperEscapes)
	p.applied.set(UpperEscapes, lower)
	switch {
	case percent.IsUnreserved(v) && p.rules.Has(DecodeUnreserved):
		p.applied |= 1 << DecodeUnreserved
		// It might complete an escape: leave it to AppendNormal.
		if p.malformed && percent.IsHex(v) {
			p.giveUp = true
		}
		p.flush(i, i+3)
		p.dst = append(p.dst, v)
	case lower:
		p.flush(i, i+3)
		p.dst = percent.AppendEscape(p.dst, v)
	}
}

// malformedPercent treats a '%' that starts no escape.
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

// scan records the defects that begin at i, and returns the offset at which the
// next one can begin.
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

package codec

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
)

// A walkTable gives, for each byte of a path, query or fragment, the work that a
// pass has to do. For most bytes there is none.
type walkTable [Fragment - Path + 1][256]uint8

// Kinds of work. They are consecutive numbers, so that one jump leads to the
// work: the kinds follow each other in no order that a processor could predict.
const (
	walkEscape    = 1 << iota // the byte is escaped
	walkFlag                  // RFC 3986 does not allow it
	walkUnit                  // it is not, or may not be, a URL unit
	walkDot                   // '.' in a path
	walkEntity    = iota + 5  // ';' in a query, which may end "&amp;"
	walkBackslash             // '\\' in a path, which browsers read as '/'
	walkGiveUp                // browsers remove the byte
	walkPercent               // '%' that starts no escape
	walkTriplet               // '%' that starts an escape: the class of its value in escapes is added
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
				b2i(rd == WHATWG && notUnit[b])*walkUnit)
			if rd == WHATWG && isTab(b) {
				t[i][b] = walkGiveUp
			}
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

// A walker is the part of a pass that concerns the current component. Offsets
// are those of src.
type walker struct {
	c         Component
	start     int    // its start
	text      []byte // src up to its end
	malformed bool   // it contains a '%' that starts no escape
	scanning  bool   // the scanner of the scratch is set up for it
	dots      bool   // the path contains a dot segment
	entity    bool   // the query contains "&amp;"
	pathAt    int    // start of the path in dst
	raw       Flag   // flag of the raw bytes that end at rawEnd
	rawEnd    int
}

// component parses and writes component c, which p.in describes.
func (p *pass) component(c Component) {
	span := p.in.spans[c]
	start, end := int(span.Start), int(span.End)
	at := p.outAt(start)
	p.c, p.start, p.text, p.malformed, p.scanning, p.rawEnd = c, start, p.src[:end], false, false, -1
	if c == Path {
		p.pathAt = p.base + at
	}
	i, t, special := max(start, p.clean), &p.table[c-Path], p.survey.Special
	if c == Fragment && p.survey.Delims.Next(i) < end {
		p.delimited(i, end, t)
	} else {
		for i = special.Next(i); i < end; i = special.Next(i) {
			i = p.byte(i, t)
		}
	}
	p.out.set(c, at, p.outAt(end))
}

// delimited walks from i to end, in a fragment with a '#' or '?', which the survey
// does not mark as special. The '#' needs work here.
func (p *pass) delimited(i, end int, t *[256]uint8) {
	for i < end {
		if i = min(p.survey.Special.Next(i), p.survey.Delims.Next(i)); i < end {
			i = p.byte(i, t)
		}
	}
}

// byte does the work for the byte at i, and returns the offset of the next byte to
// examine.
func (p *pass) byte(i int, t *[256]uint8) int {
	text := p.text[i:]
	need, v := t[text[0]], byte(0)
	if need == walkPercent && len(text) >= 3 {
		high, low := digits[text[1]], digits[text[2]]
		if v = high<<4 | low&15; (high|low)&digitNone == 0 {
			need = walkTriplet + escapes[v]
		}
	}
	switch need {
	case 0:
	case walkDot:
		return p.dot(i)
	case walkEntity:
		p.semicolon(i)
	case walkBackslash:
		p.backslash(i)
	case walkGiveUp:
		p.giveUp = true
	case walkPercent:
		p.malformedPercent(i)
	case walkTriplet + escapeOther:
		return p.oddEscape(i, v)
	case walkTriplet + escapeControl:
		p.control(i, v)
		return i + 3
	case walkTriplet + escapeUnreserved:
		p.needlessEscape(i, v)
		return i + 3
	case walkTriplet + escapeOutsidePath:
		p.plainEscape(i, v, hasLowerHex(text))
		p.afterSeparator(i + 3)
		return i + 3
	case walkTriplet + escapeAnywhere:
		p.plainEscape(i, v, hasLowerHex(text))
		return i + 3
	case walkTriplet + escapeLead2, walkTriplet + escapeLead3:
		return p.character(i, v)
	default:
		return p.rawByte(i, need)
	}
	return i + 1
}

// mark records a diagnostic at src[at].
func (p *pass) mark(at int, f Flag, a Action, info uint8) {
	p.flags = p.flags.With(f)
	n := p.marked
	if n >= len(p.marks) && !p.moreMarks() {
		return
	}
	p.marked = n + 1
	// Assign field by field: copying a composite literal would cost more than
	// the rest of the function.
	m := &p.marks[n]
	m.At, m.Flag, m.Component, m.Action, m.Info = uint32(at), f, p.c, a, info
}

// moreMarks makes room for another diagnostic, unless none is wanted.
func (p *pass) moreMarks() bool {
	switch {
	case p.r == nil:
		return false
	case p.marked == p.maxDiagnostics:
		p.flags = p.flags.With(DiagnosticsDropped)
		return false
	}
	p.marks = slices.Grow(p.marks, 1)
	p.marks = p.marks[:min(cap(p.marks), p.maxDiagnostics)]
	return true
}

// rawByte treats a byte that at least one of the standards does not allow raw.
func (p *pass) rawByte(i int, need uint8) int {
	n := 1
	if p.text[i] >= utf8.RuneSelf && need&walkUnit != 0 {
		r, size := utf8.DecodeRune(p.text[i:])
		if n = size; isURLCodePoint(r, n) {
			need &^= walkUnit
		}
	}
	action := Kept
	if need&walkEscape != 0 {
		action = Encoded
	}
	if need&walkFlag != 0 {
		p.illegal(i, i+n, action)
	}
	if need&walkUnit != 0 {
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
func (p *pass) keep(i int) { p.keepAt(p.outAt(i)) }

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
	if dotLen(p.text[i+1:]) > 0 || p.text[i-1] == '.' || i-p.start > 3 && dotLen(p.text[i-3:]) > 0 {
		p.giveUp = true // a dot segment by WHATWG, but not by RFC 3986
		return
	}
	p.illegal(i, i+1, Replaced)
	p.mark(i, InvalidReverseSolidus, Replaced, 0)
	p.note(ruleBackslash)
	p.flush(i, i+1)
	p.dst = append(p.dst, '/')
}

// semicolon treats a ';' in the query.
func (p *pass) semicolon(i int) {
	if at := i + 1 - len(htmlAmp); !p.entity && bytes.HasSuffix(p.text[p.start:i+1], htmlAmp) {
		p.entity = true
		p.mark(at, HTMLEntity, Kept, 0)
	}
}

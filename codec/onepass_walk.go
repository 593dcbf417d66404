package codec

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/percent"
)

// A walker is the part of a pass that concerns the current component. Only work beyond
// plain steps needs it. Offsets point into src.
type walker struct {
	c         Component
	start     int             // start of the component
	end       int             // end of the component
	malformed uint            // bit n: component Path+n contains a '%' that starts no escape
	dots      bool            // the path contains a dot segment
	entity    bool            // the query contains "&amp;"
	pathAt    int             // start of the path in dst
	last      int             // runAt of the raw bytes before the current byte
	doubles   percent.Doubles // double escapes of all components
}

// runAt identifies a run of raw bytes with a flag that ends before offset i.
func runAt(i int, flag uint8) int { return i<<8 | int(flag) }

// walk writes path, query and fragment. It goes from one byte that the survey
// marks to the next; i is the first such byte. The path begins at start in src,
// and at outStart in the normal form.
func (p *pass) walk(i, start, outStart int) {
	// shift[n] is how far the end of component Path+n moves from src to the
	// normal form. The last two elements are not read.
	var shift [5]uint32
	moved := uint32(p.at - p.base - p.from)
	shift[0], shift[1], shift[2] = moved, moved, moved
	src, end, survey := p.padded, len(p.src), &p.s.survey
	path, query := p.ends()
	for i < end {
		c := b2i(i >= path) + b2i(i >= query)
		// The step of an escape is the step of the byte that it encodes.
		b := src[i]
		high, low := digits[src[i+1]], digits[src[i+2]]
		value, number := high<<4|low&15, p.table[c][b]
		escape := 2*escapes[value] + (high|low)&digitLower/digitLower
		pick := -(uint8(b2i(b == '%')) &^ ((high | low) / digitNone)) // all bits, or none
		b ^= (b ^ value) & pick
		number ^= (number ^ escape) & pick
		s := &p.steps[c][number]
		switch s.work {
		case workNone:
			p.step(i, s, b)
			p.spoilt |= p.malformed >> c & uint(s.hex)
			if int(s.separator)&b2i(src[i+3] == '.') != 0 {
				p.enter(Path)
				p.traversal(i + 3)
			}
			i++ // digits of an escape are not marked
		case workDot:
			i = p.dot(i)
		case workPercent:
			i = p.malformedPercent(i, c)
		case workNonASCII:
			i = p.nonASCII(i, c, s)
		case workEscapedPercent:
			i = p.escapedPercent(i, c)
		case workEscapedDot:
			i = p.escapedDot(i, c)
		case workCharacter:
			i = p.character(i, c, b)
		case workEntity:
			i = p.semicolon(i)
		case workBackslash:
			i = p.backslash(i)
		case workGiveUp:
			p.spoilt = 1
			i++
		}
		moved = uint32(p.at - p.base - p.from)
		shift[c], shift[c+1], shift[c+2] = moved, moved, moved
		marks := survey.MarksAt(i)
		if i += bits.TrailingZeros64(marks); marks == 0 {
			i = survey.Next(i - 64)
		}
	}
	p.flush(end, end)
	p.out.spans[Path] = Span{uint32(outStart), uint32(path) + shift[0]}
	p.move(Query, shift[0], shift[1])
	p.move(Fragment, shift[1], shift[2])
}

// ends returns the ends of the path and of the query. Without a query both are
// the end of the path.
func (p *pass) ends() (path, query int) {
	path = int(p.in.spans[Path].End)
	return path, max(path, int(p.in.spans[Query].End))
}

// move sets the span of component c in the normal form, if c is present: its
// span in src, with the ends moved by start and end.
func (p *pass) move(c Component, start, end uint32) {
	s, has := p.in.spans[c], -uint32(p.in.present>>c&1)
	p.out.spans[c] = Span{(s.Start + start) & has, (s.End + end) & has}
}

// step takes the plain step s at i, where src has the byte b or an escape of b.
func (p *pass) step(i int, s *walkStep, b byte) {
	if len(p.marks)-p.marked < 2 || p.keeps == len(p.kept) {
		p.makeRoom()
	}
	// The next diagnostic overwrites one that is not wanted.
	first := int(s.has[0])
	if p.last == runAt(i, s.run) {
		first = 0
	}
	m := &p.marks[p.marked]
	*m = s.marks[0]
	m.At = uint32(i)
	p.marked += first
	m = &p.marks[p.marked]
	*m = s.marks[1]
	m.At = uint32(i)
	p.marked += int(s.has[1])
	p.last = runAt(i+int(s.runs), s.run)
	p.flags = p.flags.Union(s.flags)
	p.applied |= s.applied

	p.flush(i, i+int(s.drop))
	at := p.at
	p.kept[p.keeps] = uint32(at - p.base)
	p.keeps += int(s.kept)
	text := uint32(b) ^ (uint32(b)^triplets[b])&s.escape
	binary.LittleEndian.PutUint32(p.dst[at:], text)
	p.at = at + int(s.write)
}

// triplets holds the escape of each byte, as a little-endian integer.
var triplets = func() (t [256]uint32) {
	for i := range t {
		e := percent.AppendEscape(nil, byte(i))
		t[i] = uint32(e[0]) | uint32(e[1])<<8 | uint32(e[2])<<16
	}
	return t
}()

// makeRoom makes room for the diagnostics of a step and for the offset of a byte
// that is kept.
func (p *pass) makeRoom() {
	if p.marked > p.maxDiagnostics {
		p.marked = p.maxDiagnostics
		p.flags = p.flags.With(FlagDiagnosticsDropped)
	}
	if len(p.marks)-p.marked < 2 {
		p.marks = slices.Grow(p.marks[:p.marked], 2+p.marked)
		p.marks = p.marks[:min(cap(p.marks), p.maxDiagnostics+2)]
	}
	if p.keeps == len(p.kept) {
		p.kept = slices.Grow(p.kept, 1+p.keeps)
		p.kept = p.kept[:cap(p.kept)]
	}
}

// enter makes c the current component.
//
//go:noinline
func (p *pass) enter(c Component) {
	span := p.in.spans[c]
	p.c, p.start, p.end = c, int(span.Start), int(span.End)
}

// mark records a diagnostic at src[at].
func (p *pass) mark(at int, f Flag, a Action) {
	p.flags = p.flags.With(f)
	if p.marked == len(p.marks) {
		p.makeRoom()
	}
	// Assign field by field: copying a composite literal would cost more than
	// the rest of the function.
	m := &p.marks[p.marked]
	m.At, m.Flag, m.Component, m.Action, m.Info = uint32(at), f, p.c, a, 0
	p.marked++
}

// nonASCII treats the character at i, whose first byte is not ASCII, in
// component Path+c.
func (p *pass) nonASCII(i, c int, s *walkStep) int {
	p.enter(Path + Component(c))
	r, n := utf8.DecodeRune(p.src[i:p.end])
	unit := s.has[1] != 0 && !isURLCodePoint(r, n)
	action := Action(s.drop) * ActionEncoded
	if s.has[0] != 0 {
		p.illegal(i, i+n, action)
	}
	if unit {
		p.mark(i, FlagInvalidURLUnit, action)
	}
	switch {
	case s.drop != 0:
		p.note(RuleEncodeIllegal)
		p.flush(i, i+n)
		for _, c := range p.src[i : i+n] {
			p.writeEscape(c)
		}
	case s.has[0] != 0:
		p.keep(i)
	}
	return i + n
}

// keep records that the byte at i, which RFC 3986 does not allow, is kept.
func (p *pass) keep(i int) { p.keepAt(p.outAt(i)) }

// keepAt is keep for the byte at offset at of the normal form.
func (p *pass) keepAt(at int) {
	if p.keeps == len(p.kept) {
		p.makeRoom()
	}
	p.kept[p.keeps] = uint32(at)
	p.keeps++
}

// illegal records a diagnostic for src[i:end], bytes of one kind. If the bytes
// continue the run of the previous call, the diagnostic of that call covers
// them.
func (p *pass) illegal(i, end int, a Action) {
	f := rawFlag(p.src[i])
	if p.last != runAt(i, uint8(f)) {
		p.mark(i, f, a)
	}
	p.last = runAt(end, uint8(f))
}

// backslash treats a '\\' in the path, in WHATWG.
func (p *pass) backslash(i int) int {
	p.enter(Path)
	if dotLen(p.src[i+1:p.end]) > 0 || p.src[i-1] == '.' || i-p.start > 3 && dotLen(p.src[i-3:p.end]) > 0 {
		p.spoilt = 1 // a dot segment by WHATWG, but not by RFC 3986
		return i + 1
	}
	p.illegal(i, i+1, ActionReplaced)
	p.mark(i, FlagInvalidReverseSolidus, ActionReplaced)
	p.note(ruleBackslash)
	p.flush(i, i+1)
	p.write('/')
	return i + 1
}

// semicolon treats a ';' in the query.
func (p *pass) semicolon(i int) int {
	p.enter(Query)
	if at := i + 1 - len(htmlAmp); !p.entity && bytes.HasSuffix(p.src[p.start:i+1], htmlAmp) {
		p.entity = true
		p.mark(at, FlagHTMLEntity, ActionKept)
	}
	return i + 1
}

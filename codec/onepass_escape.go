package codec

import "github.com/urlfold/urlfold/codec/percent"

// This file is the part of onePass for escapes. Most of them need a single
// lookup in a table. For the others, the next bytes decide whether the escape is
// defective: it may be part of a double escape or of invalid UTF-8. They are
// left to the scanner of package percent.

// character treats the escapes of a non-ASCII character that begin at i in component
// Path+c; v is the value of the first one. It returns the offset of the next byte to
// examine.
func (p *pass) character(i, c int, v byte) int {
	n := characterEscapes(p.src[i:p.in.spans[Path+Component(c)].End], v)
	if n == 0 {
		return p.oddEscape(i, c, v)
	}
	for end := i + 3*n; i < end; i += 3 {
		high, low := digits[p.padded[i+1]], digits[p.padded[i+2]]
		p.step(i, &p.steps[c][2*escapeAnywhere+(high|low)&digitLower/digitLower], high<<4|low&15)
	}
	return i
}

// oddEscape treats the escape of v at i in component Path+c, and those that continue
// its character: a dot, '%', or text that is not well-formed UTF-8 or not checked
// here. It returns the offset of the next byte to examine.
func (p *pass) oddEscape(i, c int, v byte) int {
	p.enter(Path + Component(c))
	if p.c == Path {
		if n := p.dotSegment(i); n > 0 {
			return p.cutDots(i, n)
		}
	}
	next := p.scan(i)
	for ; i < next; i += 3 {
		p.triplet(i, tripletValue(p.src[i:p.end]))
	}
	return next
}

// markNeedless records diagnostics for the escape of an unreserved byte at i.
func (p *pass) markNeedless(i int) {
	if hasLowerHex(p.src[i:p.end]) {
		p.mark(i, LowerHex, p.action(LowerHex))
	}
	p.mark(i, NeedlessEscape, p.action(NeedlessEscape))
}

// tripletValue decodes the escape at the start of b.
func tripletValue(b []byte) byte { return percent.Unhex(b[1])<<4 | percent.Unhex(b[2]) }

// action is onEscape, looked up.
func (p *pass) action(f Flag) Action { return p.actions[f%numFlags] }

// hasLowerHex reports whether the escape at the start of b contains a
// lower-case digit.
func hasLowerHex(b []byte) bool { return b[1] >= 'a' || b[2] >= 'a' }

// triplet writes the escape of v at i.
func (p *pass) triplet(i int, v byte) {
	lower := hasLowerHex(p.src[i:p.end]) && p.rules.Has(UpperEscapes)
	p.applied.set(UpperEscapes, lower)
	switch {
	case percent.IsUnreserved(v) && p.rules.Has(DecodeUnreserved):
		p.applied |= 1 << DecodeUnreserved
		// It might complete an escape: leave it to AppendNormal.
		if p.malformed>>(p.c-Path)&1 != 0 && percent.IsHex(v) {
			p.spoilt = 1
		}
		p.flush(i, i+3)
		p.write(v)
	case lower:
		p.flush(i, i+3)
		p.writeEscape(v)
	}
}

// malformedPercent treats a '%' at i in component Path+c that starts no escape.
func (p *pass) malformedPercent(i, c int) int {
	f := malformedFlag(p.src[i+1 : p.in.spans[Path+Component(c)].End])
	if p.profile.Malformed == percent.MalformedKeep {
		p.malformed |= 1 << c
	}
	p.step(i, &p.steps[c][stepMalformed+uint8(f)], '%')
	return i + 1
}

// malformedFlag returns the flag of a '%' that starts no escape. rest is what
// follows it in the component.
func malformedFlag(rest []byte) Flag {
	switch {
	case len(rest) == 0 || len(rest) == 1 && percent.IsHex(rest[0]):
		return Truncated
	case len(rest) >= 5 && rest[0]|0x20 == 'u' && (digits[rest[1]]|digits[rest[2]]|digits[rest[3]]|digits[rest[4]])&digitNone == 0:
		return PercentU
	}
	return NonHex
}

// scan records the defects that begin at i, and returns the offset at which the
// next one can begin.
func (p *pass) scan(i int) int {
	if p.plain {
		return i + 3
	}
	s := p.s
	if p.scanned != p.c {
		p.scanned = p.c
		s.scanner.Reset(p.src[p.start:p.end])
	}
	var next int
	s.defects, next = s.scanner.Step(s.defects[:0], i-p.start)
	for _, d := range s.defects {
		if d.Kind != percent.EncodedTraversal || p.c == Path {
			p.mark(p.start+int(d.At), Flag(d.Kind), p.action(Flag(d.Kind)))
			p.marks[p.marked-1].Info = escapeInfo(d)
		}
	}
	return p.start + next
}

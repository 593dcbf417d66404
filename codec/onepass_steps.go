package codec

import "github.com/urlfold/urlfold/codec/percent"

// A walkTable gives, for each byte of a path, query or fragment, the number of the
// step that a pass takes there.
type walkTable [Fragment - Path + 1][256]uint8

// walkSteps holds the steps in each component, by their numbers.
type walkSteps [Fragment - Path + 1][numSteps]walkStep

// Numbers of steps. The number of an escape is twice its class in escapes, plus
// one if it has lower-case digits. The number of a raw byte is the sum of
// stepRaw, eight times the distance of its flag from FlagRawControl, and the
// bits below.
const (
	stepRaw = 2 * numEscapeClasses

	rawEscape  = 1 << 0 // the byte is escaped
	rawFlagged = 1 << 1 // RFC 3986 does not allow it
	rawUnit    = 1 << 2 // the byte is not a URL unit, or only its whole character shows whether it is
)

// Numbers of the steps of single bytes.
const (
	stepDot       = stepRaw + 8*numRawFlags + iota // '.' in a path
	stepEntity                                     // ';' in a query, which may end "&amp;"
	stepBackslash                                  // '\\' in a path, which browsers read as '/'
	stepGiveUp                                     // browsers remove the byte
	stepPercent                                    // '%' that starts no escape
	stepMalformed                                  // the first of several steps: stepMalformed plus the flag FlagTruncated, FlagNonHex or FlagPercentU
	numSteps      = stepMalformed + uint8(FlagPercentU) + 1
)

// numRawFlags is the number of flags of raw bytes.
const numRawFlags = uint8(FlagRawIllegal-FlagRawControl) + 1

// makeWalkTable returns the table for profiles that escape the given sets in
// path, query and fragment.
func makeWalkTable(rd Standard, sets ...percent.ByteSet) *walkTable {
	t := new(walkTable)
	for i, set := range sets {
		c := Path + Component(i)
		for b := range 256 {
			b := byte(b)
			bits := b2i(set.Has(b))*rawEscape | b2i(dirt[b]&dirtRaw[c] != 0)*rawFlagged | b2i(rd == WHATWG && notUnit[b])*rawUnit
			t[i][b] = uint8(stepRaw + 8*int(rawFlag(b)-FlagRawControl) + bits)
			if bits == 0 {
				t[i][b] = stepRaw // one step for all plain bytes
			}
			if rd == WHATWG && isTab(b) {
				t[i][b] = stepGiveUp
			}
		}
		t[i]['%'] = stepPercent
	}
	t[0]['.'] = stepDot
	if rd == WHATWG {
		t[0]['\\'] = stepBackslash
	}
	t[Query-Path][';'] = stepEntity
	return t
}

// The tables of all profiles that onePass supports.
var (
	rfcWalk      = makeWalkTable(RFC3986, percent.RFC3986Path, percent.RFC3986Query, percent.RFC3986Fragment)
	whatwgWalk   = makeWalkTable(WHATWG, percent.WHATWGPath, percent.WHATWGSpecialQuery, percent.WHATWGFragment)
	verbatimWalk = makeWalkTable(RFC3986, percent.None, percent.None, percent.None)
)

// walkTable returns the table for a profile, or nil if onePass does not support the
// profile: it supports only the rules listed here.
func (p *Profile) walkTable() *walkTable {
	switch {
	case p.Standard == WHATWG && p.Rules.set&^(escapeRules|lossyRules|1<<RuleFallbackRFC) == 0:
		return whatwgWalk
	case p.Standard == RFC3986 && p.Rules.set.hasAll(syntaxRules) && p.Rules.set&^(syntaxRules|schemeRules) == 0 && p.Malformed == percent.MalformedEncode:
		return rfcWalk
	case p.Standard == RFC3986 && p.Rules.IsZero() && p.Malformed == percent.MalformedKeep:
		return verbatimWalk
	}
	return nil
}

// A walkStep says what a pass does at a byte. Most steps only add up to two
// diagnostics and replace the byte, or its escape, by an escape or a byte. They
// all run through the same instructions, without a branch that depends on the
// URL: the processor cannot predict which defect comes next, and a mispredicted
// branch costs more than a whole step.
type walkStep struct {
	marks   [2]Diagnostic // diagnostics without offsets
	flags   Flags         // flags of marks
	applied ruleSet
	escape  uint32   // all bits set if the step writes an escape, otherwise 0
	has     [2]uint8 // 1 for each element of marks that is used
	run     uint8    // flag of marks[0] if one diagnostic covers a run of such bytes, otherwise noRun
	runs    uint8    // 1 if run is a flag
	drop    uint8    // number of bytes to be replaced
	write   uint8    // number of bytes that replace them: 0, 1, or 3 for an escape
	kept    uint8    // 1 if RFC 3986 does not allow the byte, and it is kept
	hex     uint8    // 1 if a hex digit replaces its escape: the digit might complete another escape

	separator uint8 // 1 for an escaped '/' or '\\' in a path: with a following ".." it is an encoded traversal
	work      walkWork
	_         [7]byte // an element of 64 bytes is indexed faster than one of 56
}

const (
	noRun   = 0xFF
	allBits = 0xFFFFFFFF
)

// walkWork is work that a step does in addition to its table entry, or instead
// of the entry.
type walkWork uint8

// The work of a step.
const (
	workNone walkWork = iota
	workDot
	workEntity
	workBackslash
	workGiveUp
	workPercent
	workNonASCII
	workEscapedPercent
	workEscapedDot
	workCharacter
)

// walkSteps returns the steps of n.
func (n *Normalizer) walkSteps() *walkSteps {
	t := new(walkSteps)
	for i := range t {
		c, steps := Path+Component(i), &t[i]
		for class := range uint8(numEscapeClasses) {
			steps[2*class] = n.escapeStep(c, class, false)
			steps[2*class+1] = n.escapeStep(c, class, true)
		}
		for f := FlagRawControl; f <= FlagRawIllegal; f++ {
			for bits := range 8 {
				steps[stepRaw+8*int(f-FlagRawControl)+bits] = rawStep(c, f, bits)
			}
		}
		steps[stepDot].work = workDot
		steps[stepEntity].work = workEntity
		steps[stepBackslash].work = workBackslash
		steps[stepGiveUp].work = workGiveUp
		steps[stepPercent].work = workPercent
		for f := FlagTruncated; f <= FlagPercentU; f++ {
			steps[stepMalformed+uint8(f)] = n.malformedStep(c, f)
		}
	}
	return t
}

// rawStep returns the step at a raw byte with the flag f in component c.
func rawStep(c Component, f Flag, bits int) walkStep {
	s := walkStep{run: noRun}
	action := ActionKept
	if bits&rawEscape != 0 {
		action = ActionEncoded
		s.applied, s.drop, s.write, s.escape = 1<<RuleEncodeIllegal, 1, 3, allBits
	}
	if bits&rawFlagged != 0 {
		s.mark(0, c, f, action)
		s.run, s.runs, s.kept = uint8(f), 1, 1-s.drop
	}
	if bits&rawUnit != 0 {
		s.mark(1, c, FlagInvalidURLUnit, action)
	}
	if f == FlagRawNonASCII {
		s.work = workNonASCII
	}
	return s
}

// escapeStep returns the step at an escape in component c of a byte of a class in
// escapes, with lower-case digits or not.
func (n *Normalizer) escapeStep(c Component, class uint8, lower bool) walkStep {
	s := walkStep{run: noRun}
	i := 0
	switch class {
	case escapePercent:
		s.work = workEscapedPercent
		return s
	case escapeDot:
		s.work = workEscapedDot
		return s
	case escapeLead2, escapeLead3, escapeNonASCII:
		s.work = workCharacter
		return s
	case escapeNUL:
		s.mark(i, c, FlagNUL, ActionKept)
		i++
	case escapeControl:
		s.mark(i, c, FlagControl, ActionKept)
		i++
	case escapeOutsidePath:
		if c == Path {
			s.separator = 1
		}
	}
	if lower {
		s.mark(i, c, FlagLowerHex, n.onEscape(FlagLowerHex))
		i++
		if n.rules.Has(RuleUpperEscapes) {
			s.applied, s.drop, s.write, s.escape = 1<<RuleUpperEscapes, 3, 3, allBits
		}
	}
	if class == escapeUnreserved || class == escapeHexDigit {
		s.mark(i, c, FlagNeedlessEscape, n.onEscape(FlagNeedlessEscape))
		if n.rules.Has(RuleDecodeUnreserved) {
			s.applied |= 1 << RuleDecodeUnreserved
			s.drop, s.write, s.escape, s.hex = 3, 1, 0, class-escapeUnreserved
		}
	}
	return s
}

// malformedStep returns the step at a '%' in component c that starts no escape, with
// the flag f.
func (n *Normalizer) malformedStep(c Component, f Flag) walkStep {
	s := walkStep{run: noRun}
	s.mark(0, c, f, n.onEscape(f))
	switch {
	case n.profile.Malformed == percent.MalformedEncode:
		s.applied, s.drop, s.write, s.escape = 1<<ruleMalformed, 1, 3, allBits
	case n.profile.Standard == WHATWG:
		s.mark(1, c, FlagInvalidURLUnit, ActionKept)
		s.kept = 1
	}
	return s
}

// mark adds a diagnostic to s.
func (s *walkStep) mark(i int, c Component, f Flag, a Action) {
	s.marks[i], s.has[i] = Diagnostic{Flag: f, Component: c, Action: a}, 1
	s.flags = s.flags.With(f)
}

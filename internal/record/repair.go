package record

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Repair is a set of changes to normal forms that no standard defines, for logs whose
// URLs were damaged on their way. Each defect is flagged, even if it is repaired. The
// action of its diagnostic reports whether it was repaired.
type Repair uint8

// Repairs, in the order in which they are applied.
const (
	// RepairPercentU replaces %uXXXX, an escape that no standard defines, by
	// the percent-encoded UTF-8 of the character. An unpaired surrogate is
	// kept.
	RepairPercentU Repair = 1 << iota
	// RepairDouble removes one level of double encoding from a path, query or
	// fragment in which every '%' starts a %25XX: %2541 becomes %41. If an XX
	// is 25, the component has more than two levels and is kept.
	RepairDouble
	// RepairEntity decodes the character references of HTML that end with a
	// semicolon, such as "&amp;" and "&#38;", before the URL is parsed.
	RepairEntity

	allRepairs = RepairPercentU | RepairDouble | RepairEntity
)

// repairNames holds the names of the repairs. Each repair has the name of the
// flag for the defect that it removes.
var repairNames = []string{codec.FlagPercentU.String(), codec.FlagDoubleEncoded.String(), codec.FlagHTMLEntity.String()}

// ParseRepair returns the repair with the given name, such as "percent-u". The
// error for an unknown name suggests a similar one.
func ParseRepair(name string) (Repair, error) {
	i, err := suggest.Index("repair", repairNames, name)
	if err != nil {
		return 0, err
	}
	return 1 << i, nil
}

// maxRounds is the maximum number of rounds of repairs. Several rounds can be
// needed because one repair can produce the defect that another one removes, as
// in "&%2561mp;".
const maxRounds = 8

// repair applies the job's repairs and masks to the normal form in n.cur.
// Afterwards c.norm, n.res and the keys describe the repaired URL; flags and
// diagnostics still describe the input. A URL that needs more than maxRounds
// rounds stays unrepaired.
func (n *normalizer) repair() {
	c, j := &n.cur, n.job
	if c.why != 0 {
		return
	}
	n.repaired = n.appendRepaired(n.repaired[:0], c)
	if bytes.Equal(n.repaired, c.norm) {
		return
	}
	n.savedDiagnostics, c.mended = append(n.savedDiagnostics[:0], n.res.Diagnostics...), true
	n.savedIn = n.res.In
	c.applied = n.res.Applied()
	n.spare = append(n.spare[:0], c.norm...)
	for range maxRounds {
		var err error
		if n.norm, err = j.norm.Append(n.norm[:0], n.repaired, &n.res); err != nil {
			break
		}
		c.norm, c.text = n.norm, n.repaired
		n.other = n.appendRepaired(n.other[:0], c)
		if bytes.Equal(n.other, c.norm) {
			c.change = max(c.change, codec.ChangeRepaired)
			if c.masked {
				c.change = codec.ChangeLossy
			}
			return
		}
		n.repaired, n.other = n.other, n.repaired
	}
	n.norm, _ = j.norm.Append(n.norm[:0], n.spare, &n.res) // a normal form is its own normal form
	c.norm, c.text, c.repairs = n.norm, n.spare, [codec.Fragment + 1]Repair{}
}

// appendRepaired appends the normal form of c after one round of repairs.
func (n *normalizer) appendRepaired(dst []byte, c *reading) []byte {
	u, norm, at := &n.res.Out, c.norm, 0
	if u.Has(codec.Password) && len(n.job.secrets) > 0 {
		p := u.Span(codec.Password)
		c.masked = true
		dst = append(append(dst, norm[:p.Start]...), stars...)
		at = int(p.End)
	}
	for comp := codec.Path; comp <= codec.Fragment; comp++ {
		if !u.Has(comp) {
			continue
		}
		s := u.Span(comp)
		dst = append(dst, norm[at:s.Start]...)
		start := len(dst)
		dst = n.maskSecrets(n.appendMended(dst, s.In(norm), comp), start, comp)
		at = int(s.End)
	}
	return append(dst, norm[at:]...)
}

// maskSecrets replaces the values of secret parameters in dst[start:], a component,
// by stars.
func (n *normalizer) maskSecrets(dst []byte, start int, comp codec.Component) []byte {
	if len(n.secrets.names) == 0 || len(dst) == start {
		return dst
	}
	n.masked = append(n.masked[:0], dst[start:]...)
	dst = n.secrets.mask(dst[:start], n.masked, placeOf[comp])
	n.cur.masked = n.cur.masked || !bytes.Equal(dst[start:], n.masked)
	return dst
}

// appendMended appends a component after the job's repairs, and records the
// repairs made in n.cur.
func (n *normalizer) appendMended(dst, text []byte, comp codec.Component) []byte {
	done, want := &n.cur.repairs[comp], n.job.repairs
	if want&RepairPercentU != 0 && bytes.Contains(text, percentU) {
		n.mended = appendPercentU(n.mended[:0], text)
		if !bytes.Equal(n.mended, text) {
			*done |= RepairPercentU
			text = n.mended
		}
	}
	if want&RepairDouble != 0 && isDouble(text) {
		*done |= RepairDouble
		return appendSingle(dst, text)
	}
	if want&RepairEntity != 0 {
		start := len(dst)
		if dst = appendWithoutEntities(dst, text); len(dst)-start < len(text) {
			*done |= RepairEntity
		}
		return dst
	}
	return append(dst, text...)
}

var percentU = []byte("%u")

// appendPercentU appends text with each %uXXXX replaced by percent-encoded
// UTF-8.
func appendPercentU(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		r, n := percentURune(text[i:])
		if n == 0 {
			dst = append(dst, text[i])
			i++
			continue
		}
		var b [utf8.UTFMax]byte
		for _, c := range utf8.AppendRune(b[:0], r) {
			dst = percent.AppendEscape(dst, c)
		}
		i += n
	}
	return dst
}

// percentURune decodes the %uXXXX at the start of text, or two of them that
// form a surrogate pair. It returns the character and the number of bytes read,
// which is 0 if there is no such escape.
func percentURune(text []byte) (r rune, n int) {
	r, ok := percentUnit(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := percentUnit(text[6:])
	if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
}

// percentUnit decodes %uXXXX at the start of s.
func percentUnit(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '%' || s[1] != 'u' {
		return 0, false
	}
	return locate.HexUnit(s[2:6])
}

// isDouble reports whether text is double-encoded: it has a '%', and every '%'
// starts a %25XX where XX is not 25.
func isDouble(text []byte) bool {
	found := false
	for {
		i := bytes.IndexByte(text, '%')
		if i < 0 {
			return found
		}
		text = text[i:]
		if len(text) < 5 || text[1] != '2' || text[2] != '5' || locate.Unhex[text[3]] > 15 || locate.Unhex[text[4]] > 15 || text[3] == '2' && text[4] == '5' {
			return false
		}
		found, text = true, text[5:]
	}
}

// appendSingle appends a double-encoded text with each %25XX replaced by %XX.
func appendSingle(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '%')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i+1]...)
		text = text[i+len("%25"):]
	}
}

// decodeEntities decodes the character references of n.cur.url before the URL
// is parsed: otherwise the '#' of "&#38;" would begin a fragment.
func (n *normalizer) decodeEntities() {
	c, joint := &n.cur, n.joint
	text, runs, _ := locate.EntityDialect.Unescape(n.entityText, c.url, n.entityRuns)
	for i, r := range runs {
		if r.Step == 0 && runs[i+1].Raw > r.Raw+1 && c.entity == 0 {
			c.entity = r.Text + 1
		}
		if r.Raw <= joint {
			n.joint = r.Text + (joint-r.Raw)*r.Step
		}
	}
	if c.entity > 0 {
		c.url, n.entityText, n.entityRuns = text, text, runs
	}
}

// appendWithoutEntities appends text, a component, with its character
// references decoded. Other repairs can produce such references.
func appendWithoutEntities(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return append(dst, text...)
		}
		var n int
		dst, n = locate.EntityDialect.Decode(append(dst, text[:i]...), text[i:])
		text = text[i+n:]
	}
}

// noteEntity adds the flag for a decoded character reference, and its diagnostic.
func (n *normalizer) noteEntity() {
	c, u := &n.cur, &n.res.In
	if c.mended {
		u = &n.savedIn
	}
	d := codec.Diagnostic{At: uint32(c.entity - 1), Flag: codec.FlagHTMLEntity, Action: codec.ActionReplaced}
	for comp := codec.Scheme; comp <= codec.Fragment; comp++ {
		if u.Has(comp) && int(u.Span(comp).Start) <= c.prefix+c.entity-1 {
			d.Component = comp
		}
	}
	c.flags = c.flags.With(d.Flag)
	n.params.dirty, n.params.diagnostics = true, append(n.params.diagnostics, d)
}

// repairOf maps flags to the repairs for their defects.
var repairOf = [128]Repair{
	codec.FlagPercentU: RepairPercentU, codec.FlagDoubleEncoded: RepairDouble, codec.FlagHTMLEntity: RepairEntity,
}

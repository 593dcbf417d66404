package record

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/suggest"
)

// A Repair is a set of changes to normal forms that no standard asks for, for
// logs whose URLs were spoilt on their way. Each defect has its flag whether it
// is repaired or not; the marks of what was repaired say so.
type Repair uint8

// The repairs, in the order in which they are tried.
const (
	// RepairPercentU makes of %uXXXX, an escape in no standard, the escapes of its
	// character in UTF-8. Half of a surrogate pair stays.
	RepairPercentU Repair = 1 << iota
	// RepairDouble undoes one level of double encoding in a path, query or fragment
	// of which every '%' begins a %25XX: %2541 becomes %41. XX is not 25, so that
	// what is encoded more often stays.
	RepairDouble
	// RepairEntity makes of "&amp;" in a query "&".
	RepairEntity

	allRepairs = RepairPercentU | RepairDouble | RepairEntity
)

// repairNames holds the names of the flags that the repairs deal with.
var repairNames = []string{codec.PercentU.String(), codec.DoubleEncoded.String(), codec.HTMLEntity.String()}

// RepairNames returns the names of the repairs, in the order in which they are
// tried: each is that of the flag that it deals with. The result is the caller's.
func RepairNames() []string { return append([]string(nil), repairNames...) }

// ParseRepair returns the repair of that name: "percent-u". The error suggests a
// near name.
func ParseRepair(name string) (Repair, error) {
	i, err := suggest.Index("repair", repairNames, name)
	if err != nil {
		return 0, err
	}
	return 1 << i, nil
}

// maxRounds is how often a URL is repaired until nothing is left to repair. One
// round can bring to light what the next one repairs: "&%2561mp;".
const maxRounds = 8

// repair changes the normal form in n.cur as the job wants: c.norm and what n.res
// says of it and of its keys are of the repaired URL, flags and marks still of
// what was read. What takes more than maxRounds stays as it was.
func (n *normalizer) repair() {
	c, j := &n.cur, n.job
	if c.why != 0 || j.repairs == 0 && len(j.secrets) == 0 {
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
			c.change = max(c.change, codec.Repaired)
			if c.masked {
				c.change = codec.Lossy
			}
			return
		}
		n.repaired, n.other = n.other, n.repaired
	}
	n.norm, _ = j.norm.Append(n.norm[:0], n.spare, &n.res) // the normal form of itself
	c.norm, c.text, c.repairs = n.norm, n.spare, [codec.Fragment + 1]Repair{}
}

// appendRepaired appends the normal form of c with one round of repairs.
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
		dst = n.appendMended(dst, s.In(norm), comp)
		if comp != codec.Path {
			dst = n.maskSecrets(dst, start)
		}
		at = int(s.End)
	}
	return append(dst, norm[at:]...)
}

// appendMended appends a component with the repairs of the job, and notes in
// n.cur which there were.
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
	if want&RepairEntity != 0 && comp == codec.Query && bytes.Contains(text, entity) {
		*done |= RepairEntity
		return appendWithoutEntities(dst, text)
	}
	return append(dst, text...)
}

var (
	percentU = []byte("%u")
	entity   = []byte("&amp;")
)

// appendPercentU appends text with the UTF-8 escapes for each %uXXXX.
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
			dst = append(dst, '%', upperHex[c>>4], upperHex[c&15])
		}
		i += n
	}
	return dst
}

// percentURune returns the character whose %uXXXX text begins with, or whose two
// if it is one of UTF-16's pairs, and their length, or 0 if there is none.
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

// percentUnit reads a %uXXXX at the start of s.
func percentUnit(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '%' || s[1] != 'u' {
		return 0, false
	}
	return hexUnit(s[2:6])
}

// isDouble reports whether text has a '%', and every one begins a %25XX.
func isDouble(text []byte) bool {
	found := false
	for {
		i := bytes.IndexByte(text, '%')
		if i < 0 {
			return found
		}
		text = text[i:]
		if len(text) < 5 || text[1] != '2' || text[2] != '5' || unhex[text[3]] > 15 || unhex[text[4]] > 15 || text[3] == '2' && text[4] == '5' {
			return false
		}
		found, text = true, text[5:]
	}
}

// appendSingle appends text, which is double, with %XX for each %25XX.
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

// appendWithoutEntities appends text with "&" for each "&amp;".
func appendWithoutEntities(dst, text []byte) []byte {
	for {
		i := bytes.Index(text, entity)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i+1]...)
		text = text[i+len(entity):]
		for bytes.HasPrefix(text, entity[1:]) { // escaped more than once
			text = text[len(entity)-1:]
		}
	}
}

// repairOf holds the repair that deals with a flag.
var repairOf = [128]Repair{
	codec.PercentU: RepairPercentU, codec.DoubleEncoded: RepairDouble, codec.HTMLEntity: RepairEntity,
}

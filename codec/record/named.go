package record

import (
	"bytes"
	"errors"
)

// namedKind is what a named field of a record holds.
type namedKind uint8

const (
	namedNone    namedKind = iota
	namedTarget            // the URL: a request target or an absolute URL
	namedRequest           // a request line, or only its target
	namedQuery             // the query of a target that has none itself
	namedReferer
	namedMethod
	namedScheme
	namedTLS // "true" if the scheme is https
	namedPort
	namedHost
	namedAttr // an attribute
)

// namedUse says what a named field holds.
type namedUse struct {
	kind namedKind
	rank uint8  // of several targets or hosts, the one of the lowest rank counts; a referer with a rank may be another text
	attr attrID // if kind is namedAttr
	unit int8   // see attr.unit
}

// isRead reports whether take reads a field with this use.
func (u namedUse) isRead(f *Found) bool {
	return u.kind != namedNone && (u.kind != namedAttr || f.attrs.wanted)
}

// namedParts collects the named fields of a record. The zero value is ready for
// use.
type namedParts struct {
	target, query, referer attr // only span and dialect are used
	rank                   uint8
	isLine                 bool // target is a request line
}

// take stores the field s of rec, whose use is u.
func (p *namedParts) take(f *Found, rec []byte, u namedUse, s span, d *Dialect) {
	switch u.kind {
	case namedTarget, namedRequest:
		if p.target.end == 0 || u.rank < p.rank {
			p.target, p.rank = attr{span: s, dialect: d}, u.rank
			method, _, line := bytes.Cut(s.in(rec), []byte(" "))
			p.isLine = line && u.kind == namedRequest && isToken(method)
		}
	case namedQuery:
		p.query = attr{span: s, dialect: d}
	case namedReferer:
		if u.rank > 0 && !bytes.Contains(s.in(rec), []byte("://")) {
			return
		}
		p.referer = attr{span: s, dialect: d}
		if f.needs(attrReferer) {
			f.addAttr(attrReferer, p.referer)
		}
	case namedMethod:
		f.method = s
	case namedScheme:
		if isHTTP(s.in(rec)) { // the value may be a version of the protocol
			f.scheme = s
		}
	case namedTLS:
		f.tls = string(s.in(rec)) == "true"
	case namedPort:
		f.port = s
	case namedHost:
		f.hosts[u.rank] = s
	case namedAttr:
		if f.needs(u.attr) {
			f.addNamedAttr(rec, u, s, d)
		}
	}
}

// addNamedAttr adds the attribute s of rec, whose use is u.
func (f *Found) addNamedAttr(rec []byte, u namedUse, s span, d *Dialect) {
	a := attr{span: s, dialect: d, unit: u.unit}
	text := s.in(rec)
	switch u.attr {
	case attrTime:
		if len(text) == len("10:00:00") && text[2] == ':' { // its date is in another field
			return
		}
		if len(text) > 2 && text[0] == '[' && text[len(text)-1] == ']' {
			a.span = span{s.start + 1, s.end - 1}
		}
	case attrClient:
		if i := bytes.IndexByte(text, ','); i > 0 { // X-Forwarded-For begins with the client
			a.end = s.start + i
		}
	case attrDuration:
		if !a.trimUnit(text) {
			return
		}
	case attrStatus:
		if !allDigits(text) { // code=H12 is an error of Heroku
			return
		}
	default:
	}
	f.addAttr(u.attr, a)
}

// noUnit marks a duration that must state its unit.
const noUnit = -1

// mixedUnits marks a duration in hours, minutes and seconds, such as 1h2m3.5s, 5m or 1h.
const mixedUnits = -3

// trimUnit takes the unit of a duration, such as ms, from the end of text. It
// returns false if text has no unit and the field does not define one.
func (a *attr) trimUnit(text []byte) bool {
	if hasMixedUnits(text) {
		a.unit = mixedUnits
		return true
	}
	for _, u := range durationUnits {
		if n := len(text) - len(u.name); n > 0 && string(text[n:]) == u.name && isDigit(text[n-1]) {
			a.end, a.unit = a.start+n, u.unit
			return true
		}
	}
	return a.unit != noUnit
}

// hasMixedUnits reports whether text ends like a duration with mixedUnits.
func hasMixedUnits(text []byte) bool {
	n := len(text)
	if n < len("1h") {
		return false
	}
	switch text[n-1] {
	case 's':
		return bytes.ContainsAny(text[:n-2], "hm") // not that of ms
	case 'm', 'h':
		return isDigit(text[n-2])
	}
	return false
}

// durationUnits are the units that Go and others write after a duration.
var durationUnits = []struct {
	name string
	unit int8
}{{"ms", 3}, {"us", 6}, {"\u00B5s", 6}, {"\u03BCs", 6}, {"ns", 9}, {"s", 0}}

// add adds the URLs of the record for target. It returns false if the query
// precedes the target, because such a URL could not be read in one piece.
func (p *namedParts) add(f *Found, rec []byte, target Target) bool {
	wantsTarget, wantsReferer := p.target.end > 0 && target != TargetReferer, p.referer.end > 0 && target != TargetRequest
	if wantsReferer && p.referer.start < p.target.start {
		f.addReferer(rec, p.referer.span, p.referer.dialect)
		wantsReferer = false
	}
	if wantsTarget {
		if p.isLine {
			f.addRequest(rec, p.target.span, p.target.dialect)
		} else {
			f.addTarget(rec, p.target.span, p.target.dialect)
		}
	}
	if wantsReferer {
		f.addReferer(rec, p.referer.span, p.referer.dialect)
	}
	q := p.query.in(rec)
	if !wantsTarget || len(q) == 0 || string(q) == "-" || bytes.IndexByte(p.target.in(rec), '?') >= 0 {
		return true
	}
	if p.query.start < p.target.start {
		return false
	}
	f.addQuery(p.query.span, p.query.dialect)
	return true
}

// nameTable maps the names of fields to their uses. A hash of length, first and
// last byte finds a name faster than a map does.
type nameTable struct {
	slots [nameSlots]struct {
		name string // "" if the slot is empty
		use  namedUse
	}
}

// nameSlots is the number of slots, more than twice the number of names.
const nameSlots = 256

// newNameTable returns a table of the names in uses.
func newNameTable(uses map[string]namedUse) *nameTable {
	t := &nameTable{}
	for name, use := range uses {
		i := nameHash(name)
		for t.slots[i].name != "" {
			i = (i + 1) % nameSlots
		}
		t.slots[i].name, t.slots[i].use = name, use
	}
	return t
}

// find returns the use of the field called name, which must not be empty. The
// kind is namedNone if the field is not used.
func (t *nameTable) find(name []byte) namedUse {
	if i := t.index(name); i >= 0 {
		return t.slots[i].use
	}
	return namedUse{}
}

// index returns the number of the slot of the field called name, which must not be
// empty, or -1.
func (t *nameTable) index(name []byte) int {
	for i := nameHash(name); t.slots[i].name != ""; i = (i + 1) % nameSlots {
		if string(name) == t.slots[i].name {
			return int(i)
		}
	}
	return -1
}

func nameHash[T string | []byte](name T) uint {
	n := len(name)
	return (uint(n)*37 + uint(name[0])*5 + uint(name[n-1])) % nameSlots
}

// namedFields returns the table to find fields in: table, which has the names in
// uses, or, if c names the field with the URL, a table in which no other field
// has it. named reports whether c names it.
func (c *Config) namedFields(uses map[string]namedUse, table *nameTable) (_ *nameTable, named bool) {
	if c.URLField == "" {
		return table, false
	}
	own := map[string]namedUse{}
	for name, u := range uses {
		if u.kind != namedTarget && u.kind != namedRequest {
			own[name] = u
		}
	}
	own[c.URLField] = namedUse{kind: namedRequest}
	return newNameTable(own), true
}

// refuseBaseField returns an error if c names a field with the base, or fields
// with the parts of a URL.
func (c *Config) refuseBaseField() error {
	var errBase, errURL error
	if c.BaseField != "" {
		errBase = wrong("BaseField", "base fields apply only to the format jsonl and tables such as csv")
	}
	if !c.URL.IsZero() {
		errURL = wrong("URL", "a URL can be composed only of the fields of the format jsonl and of tables such as csv")
	}
	return errors.Join(errBase, errURL)
}

package textlog

import (
	"bytes"
	"maps"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// namedUse says what a named field holds. UseTarget is a request target or
// an absolute URL, UseRequest a request line or only its target, UseQuery
// the query of a target that is written without a query, and UseTLS "true"
// if the scheme is https.
type namedUse struct {
	use  locate.Use
	rank uint8 // of several targets or hosts, the one with the lowest rank counts; a referer with a rank above 0, and a request of rankText, may turn out to be other text
	unit int8  // see locate.Attr.Unit
}

// ownUses are the uses that only layouts and W3C logs have.
var ownUses = map[string]locate.Use{
	"is_args": useIsArgs, "protocol": useProtocol, "subsecond": useSubsecond, "headers": useHeaders, "date": w3cDate,
}

// byName returns the use of each name in a table for [locate.ParseNames].
func byName(table string) map[string]namedUse {
	uses := map[string]namedUse{}
	for _, n := range locate.ParseNames(table, ownUses) {
		for _, name := range n.Names {
			uses[name] = namedUse{n.Use, n.Rank, n.Unit}
		}
	}
	return uses
}

// rankText is the rank of fields that hold a message, which can be a request line. They
// have a rank after all others, so that no URL of another field depends on them.
const rankText = 9

// isURL reports whether the field can hold the URL.
func (u namedUse) isURL() bool { return u.use == locate.UseTarget || u.use == locate.UseRequest }

// holdsURL reports whether value, the value of the field, can be the URL.
func (u namedUse) holdsURL(value []byte) bool {
	return u.isURL() && (u.rank < rankText || locate.IsRequestLine(value))
}

// isRead reports whether take reads a field with this use.
func (u namedUse) isRead(f *locate.Found) bool {
	return u.use != locate.UseNone && (!u.use.IsAttr() || f.Attrs.Wanted)
}

// namedParts collects the named fields of a record. The zero value is ready for
// use.
type namedParts struct {
	target, query, referer locate.Attr // only span and dialect are used
	rank                   uint8
	isLine                 bool // target is a request line
}

// take stores the field s of rec, whose use is u.
func (p *namedParts) take(f *locate.Found, rec []byte, u namedUse, s locate.Span, d *locate.Dialect) {
	switch u.use {
	case locate.UseTarget, locate.UseRequest:
		if (p.target.End == 0 || u.rank < p.rank) && u.holdsURL(s.In(rec)) {
			p.target, p.rank = locate.Attr{Span: s, Dialect: d}, u.rank
			method, _, line := bytes.Cut(s.In(rec), []byte(" "))
			p.isLine = line && u.use == locate.UseRequest && locate.IsToken(method)
		}
	case locate.UseQuery:
		p.query = locate.Attr{Span: s, Dialect: d}
	case locate.UseReferer:
		if u.rank > 0 && !bytes.Contains(s.In(rec), []byte("://")) {
			return
		}
		p.referer = locate.Attr{Span: s, Dialect: d}
		if f.Needs(locate.AttrReferer) {
			f.AddAttr(locate.AttrReferer, p.referer)
		}
	case locate.UseMethod:
		f.Method = s
	case locate.UseScheme:
		if locate.IsHTTP(s.In(rec)) { // the value may be a version of the protocol
			f.Scheme = s
		}
	case locate.UseTLS:
		f.TLS = string(s.In(rec)) == "true"
	case locate.UsePort:
		f.Port = s
	case locate.UseHost:
		f.Hosts[u.rank] = s
	default:
		if u.use.IsAttr() && f.Needs(u.use.Attr()) {
			f.AddNamedAttr(rec, u.use.Attr(), u.unit, s, d)
		}
	}
}

// add adds the URLs of the record for target. It returns false if the query
// precedes the target, because the URL could not be read in one piece.
func (p *namedParts) add(f *locate.Found, rec []byte, target locate.Target) bool {
	wantsTarget, wantsReferer := p.target.End > 0 && target != locate.TargetReferer, p.referer.End > 0 && target != locate.TargetRequest
	if wantsReferer && p.referer.Start < p.target.Start {
		f.TakeReferer(rec, p.referer.Span, p.referer.Dialect)
		wantsReferer = false
	}
	if wantsTarget {
		if p.isLine {
			f.AddRequest(rec, p.target.Span, p.target.Dialect)
		} else {
			f.AddField(rec, p.target.Span, locate.RoleTarget, p.target.Dialect)
		}
	}
	if wantsReferer {
		f.TakeReferer(rec, p.referer.Span, p.referer.Dialect)
	}
	q := p.query.In(rec)
	if !wantsTarget || len(q) == 0 || string(q) == "-" || bytes.IndexByte(p.target.In(rec), '?') >= 0 {
		return true
	}
	if p.query.Start < p.target.Start {
		return false
	}
	f.AddQuery(p.query.Span, p.query.Dialect)
	return true
}

// namedReader is what the readers of lines with named fields have in common.
type namedReader struct {
	locate.LineFraming
	names  *nameTable
	named  bool // the job names the field with the URL
	target locate.Target
}

// openNamed returns a reader of the fields in table. If c names the field with the URL or
// an attribute, no other field has it.
func openNamed(c *locate.Settings, table *nameTable) namedReader {
	r := namedReader{names: table, named: c.URLField != "", target: c.Target}
	if !r.named && len(c.Map) == 0 {
		return r
	}
	own := maps.Clone(table.uses)
	for _, n := range c.NamedFields() {
		if n.Given {
			maps.DeleteFunc(own, func(_ string, u namedUse) bool { return u.use == n.LogUse() })
		}
	}
	for _, n := range c.NamedFields() {
		if n.Given {
			own[n.Name] = namedUse{use: n.LogUse(), unit: n.Unit}
		}
	}
	if r.named {
		maps.DeleteFunc(own, func(_ string, u namedUse) bool { return u.isURL() })
		own[c.URLField] = namedUse{use: locate.UseRequest}
	}
	r.names = newNameTable(own)
	return r
}

// add adds the URLs of the record. It returns NoField if they could not be read.
func (r *namedReader) add(f *locate.Found, rec []byte, p *namedParts) (locate.Reason, int) {
	if r.named && p.target.End == 0 || !p.add(f, rec, r.target) {
		return locate.NoField, 0
	}
	return 0, 0
}

// nameTable maps the names of fields to their uses. A hash of length, first and
// last byte finds a name faster than a map does.
type nameTable struct {
	slots [nameSlots]struct {
		name string // "" if the slot is empty
		use  namedUse
	}
	uses map[string]namedUse // the same uses by name, for openNamed
}

// nameSlots is the number of slots, more than twice the number of names.
const nameSlots = 256

// newNameTable returns a table of the names in uses.
func newNameTable(uses map[string]namedUse) *nameTable {
	t := &nameTable{uses: uses}
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
// use is UseNone if the field is not used.
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

package record

import (
	"bytes"
	"fmt"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// URLParts names the fields of a record that a URL is composed of: field paths
// in jsonl, columns in csv and tsv. The first field of a list that is not empty
// is used. An absent field, null, an empty text and "-" are empty.
//
// A URL in a field of Absolute is used as it is. Otherwise the URL is composed
// of the other parts. A path may include the query; the fields of Query are
// used only if it does not.
type URLParts struct {
	Absolute, Scheme, Host, Port, Path, Query []string
}

// partNames and urlParts hold the parts in the order of URLParts.
var (
	partNames = []string{"absolute", "scheme", "host", "port", "path", "query"}
	urlParts  = []part{partAbsolute, partScheme, partHost, partPort, partPath, partQuery}
)

// lists returns the lists in the order of partNames.
func (u *URLParts) lists() [6]*[]string {
	return [6]*[]string{&u.Absolute, &u.Scheme, &u.Host, &u.Port, &u.Path, &u.Query}
}

// Add adds a field as the last alternative for a part. The error for an unknown
// part suggests a similar one.
func (u *URLParts) Add(part, field string) error {
	i, err := suggest.Index("URL part", partNames, part)
	if err != nil {
		return err
	}
	list := u.lists()[i]
	*list = append(*list, field)
	return nil
}

// IsZero reports whether u names no field.
func (u *URLParts) IsZero() bool {
	for _, list := range u.lists() {
		if len(*list) > 0 {
			return false
		}
	}
	return true
}

// check returns an error for each mistake in c.URL that does not depend on the
// format.
func (u *URLParts) check(c *Config) (errs []error) {
	if c.URLField != "" {
		errs = append(errs, wrong("URL", "cannot be combined with the URL field, which holds the whole URL"))
	}
	if c.BaseField != "" {
		errs = append(errs, wrong("URL", "cannot be combined with a base field: a composed URL has its own host"))
	}
	if len(u.Absolute) == 0 && len(u.Path) == 0 {
		errs = append(errs, wrong("URL", "missing part: must name a field for absolute or for path"))
	}
	for i, list := range u.lists() {
		for _, field := range *list {
			if field == "" {
				errs = append(errs, in("URL", fmt.Errorf("empty name of a field for %s", partNames[i])))
			}
		}
	}
	return append(errs, c.checkRequestHost(len(u.Host) > 0))
}

// part identifies what a field of a record holds: a part of the URL, or
// something else about the request.
type part uint8

const (
	partAbsolute part = iota // an absolute URL
	partTarget               // a request target with its query
	partRequest              // a request line
	partPath                 // a request target whose query may be in another field
	partQuery
	partScheme
	partSecure // exists, and is not false, only if the scheme is https
	partHost
	partPort
	partMethod
	partReferer
	partAttr // and the attributes after it, in the order of attrID
	numParts = partAttr + part(numAttrs)
)

// valueKind says what a field of a record holds.
type valueKind uint8

const (
	valueMissing valueKind = iota
	valueEmpty             // null, false, or an empty text
	valueText              // a text or a number
	valueOther             // true, an object or an array
)

// fieldValue is the value of a field that a record may have.
type fieldValue struct {
	span
	kind    valueKind
	dialect *Dialect
}

// isText reports whether the value is a text other than "-".
func (v *fieldValue) isText(rec []byte) bool {
	return v.kind == valueText && (v.end-v.start != 1 || rec[v.start] != '-')
}

// source is a field that may hold a part.
type source struct {
	part  part
	unit  int8 // of a duration: 10^-unit seconds
	value int  // index of the value in the values of a record
}

// composer composes the URL of a record from the values of its fields.
type composer struct {
	sources  []source // alternatives for the same part in order
	target   Target
	optional bool   // a record without any of the URL's fields is not an error
	whole    role   // role of an absolute URL
	stop     byte   // see site
	plain    bool   // see found
	foreign  []byte // begins a parameter of a query that is not the client's; nil if there is none
}

// compose adds the URL, the referer and the attributes in values to f.
func (c *composer) compose(f *Found, rec []byte, values []fieldValue) (Reason, int) {
	var chosen [numParts]*fieldValue
	exists := false
	for i := range c.sources {
		s := &c.sources[i]
		v := &values[s.value]
		if v.kind == valueMissing { // most of them
			continue
		}
		exists = exists || v.kind != valueOther && s.part <= partPath
		switch {
		case s.part >= partAttr:
			if f.attrs.wanted && f.needs(attrID(s.part-partAttr)) && v.isText(rec) {
				c.addAttr(f, rec, s, v)
			}
		case chosen[s.part] != nil:
		case s.part == partSecure && (v.kind == valueOther || v.isText(rec) && isOn(v.in(rec))):
			chosen[partSecure] = v
		case v.isText(rec) && s.part != partSecure:
			chosen[s.part] = v
		}
	}
	if m := chosen[partMethod]; m != nil {
		f.method = m.span
	}
	f.tls, f.plain, f.blank = chosen[partSecure] != nil, c.plain, true
	c.addHost(f, &chosen)
	if c.target != TargetReferer {
		c.addURL(f, rec, &chosen)
	}
	if r := chosen[partReferer]; r != nil {
		if c.target != TargetRequest {
			f.place(site{span: r.span, role: roleReferer, dialect: r.dialect, stop: c.stop})
		}
		if f.attrs.wanted {
			f.addAttr(attrReferer, attr{span: r.span, dialect: r.dialect})
		}
	}
	if !exists && !c.optional {
		return NoField, 0
	}
	return 0, 0
}

// addAttr adds the attribute in v.
func (c *composer) addAttr(f *Found, rec []byte, s *source, v *fieldValue) {
	unit := s.unit
	if unit == msUnlessDecimal {
		if unit = 0; bytes.IndexByte(v.in(rec), '.') < 0 {
			unit = 3
		}
	}
	f.addNamedAttr(rec, namedUse{attr: attrID(s.part - partAttr), unit: unit}, v.span, v.dialect)
}

// isOn reports whether a text says that TLS is in use.
func isOn(text []byte) bool {
	switch string(text) {
	case "on", "true", "1", "https":
		return true
	}
	return false
}

// addHost sets the host, the scheme and the port of the request.
func (c *composer) addHost(f *Found, chosen *[numParts]*fieldValue) {
	f.nameDialect = nil
	if h := chosen[partHost]; h != nil {
		f.hosts[0], f.nameDialect = h.span, h.dialect
	}
	if s := chosen[partScheme]; s != nil {
		f.scheme = s.span
	}
	if p := chosen[partPort]; p != nil {
		f.port = p.span
	}
}

// addURL adds the URL of the request and the fields that hold its parts.
func (c *composer) addURL(f *Found, rec []byte, chosen *[numParts]*fieldValue) {
	if chosen[partRequest] != nil {
		splitRequest(f, rec, chosen)
	}
	absolute, target, request, path := chosen[partAbsolute], chosen[partTarget], chosen[partRequest], chosen[partPath]
	switch {
	case absolute != nil:
		f.add(absolute.span, c.whole, absolute.dialect)
		f.sites[0].stop = c.stop
		return
	case target != nil:
		f.addTarget(rec, target.span, target.dialect)
	case request != nil:
		f.addRequest(rec, request.span, request.dialect)
	case path != nil:
		f.addTarget(rec, path.span, path.dialect)
		if q := chosen[partQuery]; q != nil && bytes.IndexByte(path.in(rec), '?') < 0 && (c.foreign == nil || !bytes.Contains(q.in(rec), c.foreign)) {
			c.addPart(f, q, roleQuery)
		}
	}
	if s := chosen[partScheme]; s != nil && isScheme(s.in(rec)) {
		c.addPart(f, s, roleScheme)
	}
	if h := chosen[partHost]; h != nil {
		c.addPart(f, h, roleHost)
	}
	for i := range f.n {
		f.sites[i].stop = c.stop
	}
}

// splitRequest moves a request line that is only a method, as in logs of Fastly, or only
// a target to that part.
func splitRequest(f *Found, rec []byte, chosen *[numParts]*fieldValue) {
	request := chosen[partRequest]
	switch line := request.in(rec); {
	case chosen[partPath] != nil && isToken(line):
		if f.method.end == 0 {
			f.method = request.span
		}
		chosen[partRequest] = nil
	case chosen[partTarget] == nil && beginsTarget(line):
		chosen[partTarget] = request
	}
}

// addPart adds a part of the request target, if there is one.
func (c *composer) addPart(f *Found, v *fieldValue, r role) {
	if f.n > 0 {
		f.place(site{span: v.span, role: r, dialect: v.dialect})
		f.split = true
	}
}

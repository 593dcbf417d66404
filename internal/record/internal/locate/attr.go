package locate

import (
	"bytes"
)

// AttrID identifies an attribute of a record: something that a log tells about
// a request besides its URL.
type AttrID uint8

// Attributes of a record, in the order of the output fields that show them (fields.go of
// package record).
const (
	AttrTime AttrID = iota
	AttrStatus
	AttrBytes
	AttrDuration
	AttrClient
	AttrAgent
	AttrReferer
	AttrVHost
	AttrRequestID
	AttrMethod // the method, where it does not decide how the target is read; see Found.Method
	NumAttrs
)

// Attr is an attribute as written in the record. "-" and an empty text mean
// that the value is missing.
type Attr struct {
	Span
	Clock   Span // time of day, if it is a separate field after the date
	Dialect *Dialect
	Unit    int8 // a duration is in units of 10^-unit seconds
	Sum     bool // a duration is the sum of several numbers
}

// attrs holds the attributes of a record. Only the attributes in Set are valid.
type attrs struct {
	Set    uint16
	Wanted bool   // the job needs attributes
	Needed uint16 // the attributes that the job needs
	Values [NumAttrs]Attr
}

// NeedsAny reports whether the job needs one of two attributes. Locators ask
// before they look for attributes that are slow to find.
func (f *Found) NeedsAny(a, b AttrID) bool { return f.Attrs.Needed&(1<<a|1<<b) != 0 }

// Needs reports whether the job needs an attribute.
func (f *Found) Needs(id AttrID) bool { return f.Attrs.Needed>>id&1 != 0 }

// AddAttr adds an attribute, unless the record has it already.
func (f *Found) AddAttr(id AttrID, a Attr) {
	if f.Attrs.Set>>id&1 == 0 {
		f.Attrs.Set |= 1 << id
		f.Attrs.Values[id] = a
	}
}

// AddText adds an attribute without escapes, unless the record has it already.
// It writes the fields in place, to avoid a copy as costly as the search.
func (f *Found) AddText(id AttrID, s Span) {
	if f.Attrs.Set>>id&1 != 0 {
		return
	}
	f.Attrs.Set |= 1 << id
	a := &f.Attrs.Values[id]
	a.Start, a.End, a.Unit, a.Sum = s.Start, s.End, 0, false
	a.Clock.Start, a.Clock.End = 0, 0
	if a.Dialect != nil {
		a.Dialect = nil
	}
}

// AddNumber adds the status or the bytes to a record that does not have them.
func (f *Found) AddNumber(id AttrID, s Span) {
	f.Attrs.Set |= 1 << id
	f.Attrs.Values[id].Span = s
}

// Attr returns an attribute, or nil if the record does not have it.
func (f *Found) Attr(id AttrID, rec []byte) *Attr {
	if f.Attrs.Set>>id&1 == 0 {
		return nil
	}
	a := &f.Attrs.Values[id]
	if t := a.In(rec); len(t) == 0 || len(t) == 1 && t[0] == '-' {
		return nil
	}
	return a
}

// UnescapedName returns raw, the first host of the record, without its escapes.
// The result is valid until the next call.
func (f *Found) UnescapedName(raw []byte) []byte {
	text, runs, escaped := f.NameDialect.Unescape(f.nameText, raw, f.nameRuns)
	f.nameRuns = runs
	if escaped {
		f.nameText = text
	}
	return text
}

// WithoutPort returns a host without its port, and an IPv6 address without its
// brackets.
func WithoutPort(host []byte) []byte {
	if host != nil && host[0] == '[' {
		if end := bytes.IndexByte(host, ']'); end > 0 {
			return host[1:end]
		}
	}
	if i := bytes.IndexByte(host, ':'); i >= 0 && bytes.IndexByte(host[i+1:], ':') < 0 {
		return host[:i]
	}
	return host
}

// Attributed is implemented by Readers whose records do not name their own
// fields. Attributes returns the attributes that records can have, as a set of
// bits. A base that names a field can supply the host of the request, so only
// formats without fields lack the host.
type Attributed interface{ Attributes() uint16 }

// AttrsOf returns a set of attributes.
func AttrsOf(ids ...AttrID) (s uint16) {
	for _, id := range ids {
		s |= 1 << id
	}
	return s
}

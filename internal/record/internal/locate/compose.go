package locate

import (
	"bytes"
	"fmt"
)

// Check returns an error for each mistake in u, which is c.URL, that does not
// depend on the format.
func (u *URLParts) Check(c *Settings) (errs []error) {
	if c.URLField != "" {
		errs = append(errs, Wrong("URL", "cannot be combined with the URL field, which holds the whole URL"))
	}
	if c.BaseField != "" {
		errs = append(errs, Wrong("URL", "cannot be combined with a base field: a composed URL has its own host"))
	}
	if len(u.Absolute) == 0 && len(u.Path) == 0 {
		errs = append(errs, Wrong("URL", "missing part: must name a field for absolute or for path"))
	}
	for i, list := range u.Lists() {
		for _, field := range *list {
			if field == "" {
				errs = append(errs, About("URL", fmt.Errorf("empty name of a field for %s", PartNames[i])))
			}
		}
	}
	return append(errs, c.CheckRequestHost(len(u.Host) > 0))
}

// Source is a field that may hold a part of the URL, or an attribute.
type Source struct {
	Use   Use
	Unit  int8 // unit of a duration: 10^-unit seconds
	Value int  // index of the value in the values of a record
}

// Composer composes the URL of a record from the values of its fields.
type Composer struct {
	Sources  []Source // alternatives for the same part in order
	Target   Target
	Optional bool   // a record without any of the URL's fields is not an error
	Whole    Role   // role of an absolute URL
	Stop     byte   // see Site
	Plain    bool   // see Found
	Foreign  []byte // text that marks a query as made up by the server; Compose ignores such queries
}

// Compose adds the URL, the referer and the attributes in values to f.
func (c *Composer) Compose(f *Found, rec []byte, values []FieldValue) (Reason, int) {
	var chosen [NumUses]*FieldValue
	exists := false
	for i := range c.Sources {
		s := &c.Sources[i]
		v := &values[s.Value]
		if v.Kind == ValueMissing { // most fields are missing
			continue
		}
		exists = exists || v.Kind != ValueOther && s.Use <= UsePath
		switch {
		case s.Use >= UseAttr:
			if f.Needs(s.Use.Attr()) && v.isText(rec) {
				c.addAttr(f, rec, s, v)
			}
		case chosen[s.Use] != nil:
		case s.Use == UseTLS && (v.Kind == ValueOther || v.isText(rec) && isOn(v.In(rec))):
			chosen[UseTLS] = v
		case v.isText(rec) && s.Use != UseTLS:
			chosen[s.Use] = v
		}
	}
	if m := chosen[UseMethod]; m != nil {
		f.Method = m.Span
	}
	f.TLS, f.Plain, f.Blank = chosen[UseTLS] != nil, c.Plain, true
	c.addHost(f, &chosen)
	if c.Target != TargetReferer {
		c.addURL(f, rec, &chosen)
	}
	if r := chosen[UseReferer]; r != nil {
		if c.Target != TargetRequest {
			f.Place(Site{Span: r.Span, Role: RoleReferer, Dialect: r.Dialect, Stop: c.Stop})
		}
		if f.Attrs.Wanted {
			f.AddAttr(AttrReferer, Attr{Span: r.Span, Dialect: r.Dialect})
		}
	}
	if !exists && !c.Optional {
		return NoField, 0
	}
	return 0, 0
}

// addAttr adds the attribute in v.
func (c *Composer) addAttr(f *Found, rec []byte, s *Source, v *FieldValue) {
	unit := s.Unit
	if unit == MsUnlessDecimal {
		if unit = 0; bytes.IndexByte(v.In(rec), '.') < 0 {
			unit = 3
		}
	}
	f.AddNamedAttr(rec, s.Use.Attr(), unit, v.Span, v.Dialect)
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
func (c *Composer) addHost(f *Found, chosen *[NumUses]*FieldValue) {
	f.NameDialect = nil
	if h := chosen[UseHost]; h != nil {
		f.Hosts[0], f.NameDialect = h.Span, h.Dialect
	}
	if s := chosen[UseScheme]; s != nil {
		f.Scheme = s.Span
	}
	if p := chosen[UsePort]; p != nil {
		f.Port = p.Span
	}
}

// addURL adds the URL of the request and the fields that hold its parts.
func (c *Composer) addURL(f *Found, rec []byte, chosen *[NumUses]*FieldValue) {
	if chosen[UseRequest] != nil {
		splitRequest(f, rec, chosen)
	}
	absolute, target, request, path := chosen[UseURL], chosen[UseTarget], chosen[UseRequest], chosen[UsePath]
	switch {
	case absolute != nil && string(f.Method.In(rec)) == "CONNECT" && IsAuthority(absolute.In(rec)):
		f.Form = FormAuthority
	case absolute != nil:
		f.AddField(rec, absolute.Span, c.Whole, absolute.Dialect)
		f.SetStop(c.Stop)
		return
	case target != nil:
		f.AddField(rec, target.Span, RoleTarget, target.Dialect)
	case request != nil:
		f.AddRequest(rec, request.Span, request.Dialect)
	case path != nil:
		f.AddField(rec, path.Span, RoleTarget, path.Dialect)
		if q := chosen[UseQuery]; q != nil && bytes.IndexByte(path.In(rec), '?') < 0 && (c.Foreign == nil || !bytes.Contains(q.In(rec), c.Foreign)) {
			c.addPart(f, q, RoleQuery)
		}
	}
	if s := chosen[UseScheme]; s != nil && IsScheme(s.In(rec)) {
		c.addPart(f, s, RoleScheme)
	}
	if h := chosen[UseHost]; h != nil {
		c.addPart(f, h, RoleHost)
	}
	f.SetStop(c.Stop)
}

// splitRequest handles a request line that is only a method, as in logs of Fastly,
// or only a target: the line becomes the value of the method or of the target.
func splitRequest(f *Found, rec []byte, chosen *[NumUses]*FieldValue) {
	request := chosen[UseRequest]
	switch line := request.In(rec); {
	case chosen[UsePath] != nil && IsToken(line):
		if f.Method.End == 0 {
			f.Method = request.Span
		}
		chosen[UseRequest] = nil
	case chosen[UseTarget] == nil && BeginsTarget(line):
		chosen[UseTarget] = request
	}
}

// addPart adds a part of the request target, if there is one.
func (c *Composer) addPart(f *Found, v *FieldValue, r Role) {
	if f.N > 0 {
		f.Place(Site{Span: v.Span, Role: r, Dialect: v.Dialect})
		f.Split = true
	}
}

package locate

// Span is a half-open range of offsets in a record.
type Span struct{ Start, End int }

// In returns the bytes of b in the range.
func (s Span) In(b []byte) []byte { return b[s.Start:s.End:s.End] }

// Role is the part that a URL plays in its record.
type Role uint8

// Roles of URLs in their records.
const (
	RoleURL     Role = iota // the record's URL: lines, jsonl, csv, tsv
	RoleTarget              // a request target
	RoleReferer             // the Referer field
	RoleWhole               // scheme, host and target written as one
	RoleLink                // a link of a page: wat
	RoleQuery               // the query of the request target, in a separate field
	RoleHost                // the host of the request target, in a separate field
	RoleScheme              // the scheme of the request target, in a separate field
	NumRoles
)

// IsPart reports whether a site with this role is a part of the URL whose path
// is in the site with the role RoleTarget.
func (r Role) IsPart() bool { return r >= RoleQuery }

// Site is the position of a URL in a record.
type Site struct {
	Span
	Role    Role
	Dialect *Dialect
	Stop    byte // byte that ends the field unless escaped: separator of a table, or first byte of the next literal of a layout; 0 if none
}

// usualSites is the number of sites for which a Found has room from the start:
// a request target, its query, host and scheme in separate fields, and a
// referer.
const usualSites = 5

// NumHosts is the number of ranks of host fields. From best to worst: the host
// that the client sent, the host that the server derived from it, Apache's %V,
// and the configured server name.
const NumHosts = 4

// Found collects what a Locator finds in a record: the URLs, in the order in
// which they occur, and the other parts that are needed to interpret them. All
// offsets are relative to the start of the record.
type Found struct {
	found
	Sites       []Site // only the first N are valid; reused for each record, so that the slice grows rarely
	BaseDialect *Dialect
	HostDialect *Dialect
	NameDialect *Dialect // dialect of Hosts[0]; nil: the value has no escapes
	nameText    []byte   // Hosts[0] without escapes; scratch
	nameRuns    []Run
	LastHost    []byte // the last result of requestHost in package record
	Attrs       attrs
	Lengths     []LengthField // length fields of a binary record
	Err         error         // why the Locator cannot continue; the Locator clears it
	Context     []byte        // absolute base of the URLs, if HasContext; owned by the Locator
}

// found holds the part of Found that is cleared for each record. Without
// pointers, clearing it is cheap.
type found struct {
	N      int
	Passes bool       // the record holds no data
	Cut    bool       // the end of the request target can be missing
	Strips bool       // the log can remove the query of a target and leave the '?'
	TLS    bool       // the record says that the request used TLS
	Plain  bool       // the record says that the request did not use TLS
	Split  bool       // the query, host or scheme of the request target has a separate Site
	Blank  bool       // an absent query is written as an empty field, not as "-"
	Form   TargetForm // form of the request target, if it is known before the target is unescaped
	Method Span
	Scheme Span // scheme of the request, if in the record
	Port   Span
	Hosts  [NumHosts]Span // hosts of the request, best first
	Base   Span           // base of the URL, if in the record
	// HasContext says that the context of the record, such as an HTML document,
	// has a base, which is in Context and replaces the base of the job.
	HasContext bool
	Skipped    int  // links that are not URLs to follow; see Stats.Skipped
	Host       Span // value of the field that the job's base names, as in https://{host}/; jsonl, csv and tsv
}

// Reset clears what belongs to the last record.
func (f *Found) Reset() {
	f.found, f.Attrs.Set, f.Lengths = found{}, 0, f.Lengths[:0]
}

// AddURL adds the URL in the range from start to end, which is escaped as d
// describes.
func (f *Found) AddURL(start, end int, d *Dialect) { f.Add(Span{start, end}, RoleURL, d) }

// AddTarget adds a request target, such as /a?b, in the range of rec from start
// to end. It strips spaces on both sides, and adds nothing if the target is
// empty or "-".
func (f *Found) AddTarget(rec []byte, start, end int, d *Dialect) {
	f.TakeTarget(rec, Span{start, end}, d)
}

// AddReferer adds the referer in the range of rec from start to end, unless it
// is empty or "-".
func (f *Found) AddReferer(rec []byte, start, end int, d *Dialect) {
	f.TakeReferer(rec, Span{start, end}, d)
}

// AddQuery adds the query of a target that has been added already.
func (f *Found) AddQuery(q Span, d *Dialect) {
	for i := range f.N {
		if f.Sites[i].Role == RoleTarget {
			f.Place(Site{Span: q, Role: RoleQuery, Dialect: d})
			f.Split = true
			return
		}
	}
}

// Place adds a site before the sites that follow it in the record.
func (f *Found) Place(s Site) {
	f.Add(s.Span, s.Role, s.Dialect)
	for i := f.N - 1; i > 0 && f.Sites[i-1].Start > s.Start; i-- {
		f.Sites[i-1], f.Sites[i] = f.Sites[i], f.Sites[i-1]
	}
}

// SetStop sets the byte that ends the fields of the sites.
func (f *Found) SetStop(stop byte) {
	for i := range f.N {
		f.Sites[i].Stop = stop
	}
}

// Part returns the site with the given role, or nil.
func (f *Found) Part(r Role) *Site {
	for i := range f.N {
		if f.Sites[i].Role == r {
			return &f.Sites[i]
		}
	}
	return nil
}

// First returns the site of the first URL to write: the request or, without a
// request, the referer. It returns nil if the record contains no URL.
func (f *Found) First() *Site {
	var referer *Site
	for i := range f.N {
		switch s := &f.Sites[i]; {
		case s.Role == RoleReferer:
			referer = s
		case !s.Role.IsPart():
			return s
		}
	}
	return referer
}

// SetBase sets the range of the URL that the record's own URL is relative to.
// The range is escaped as d describes.
func (f *Found) SetBase(start, end int, d *Dialect) { f.Base, f.BaseDialect = Span{start, end}, d }

// PassThrough marks the record as holding no data, like a header or a comment.
// The record is counted, and copied to the output if the rendering writes whole
// records.
func (f *Found) PassThrough() { f.Passes = true }

// Add adds the URL at s, or a part of one.
func (f *Found) Add(s Span, r Role, d *Dialect) {
	if f.N == len(f.Sites) {
		f.Sites = append(f.Sites, make([]Site, max(usualSites, f.N))...)
	}
	f.Sites[f.N] = Site{Span: s, Role: r, Dialect: d}
	f.N++
}

// SetContext sets the base of all URLs of the record. base must be valid until
// the next record is located.
func (f *Found) SetContext(base []byte) { f.Context, f.HasContext = base, true }

// TakeReferer adds the referer, unless it is empty or "-".
func (f *Found) TakeReferer(body []byte, s Span, d *Dialect) {
	if t := s.In(body); len(t) > 1 || len(t) == 1 && t[0] != '-' {
		f.Add(s, RoleReferer, d)
	}
}

// Trim returns the range of body without ASCII white space at both ends.
func Trim(body []byte) Span {
	s := Span{0, len(body)}
	for s.Start < s.End && IsSpace(body[s.Start]) {
		s.Start++
	}
	for s.End > s.Start && IsSpace(body[s.End-1]) {
		s.End--
	}
	return s
}

// IsSpace reports whether c is ASCII white space.
func IsSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

// IsBlank reports whether body consists only of ASCII white space.
func IsBlank(body []byte) bool {
	for _, c := range body {
		if !IsSpace(c) {
			return false
		}
	}
	return true
}

// LengthField is a field of a binary record that states the length of the bytes
// that follow.
type LengthField struct {
	Span      // range of the field
	End   int // end of the bytes that the field counts, which begin at the end of the field
	Outer int // index of the innermost field whose length includes this field; or -1
	Site  int // index of the Site whose bytes the field counts; -1 if the field counts more than a URL
}

// AddLength adds a length field and returns its index. The caller adds the
// fields in the order in which they occur. end can be set later.
func (f *Found) AddLength(field Span, end, outer int) int {
	f.Lengths = append(f.Lengths, LengthField{field, end, outer, -1})
	return len(f.Lengths) - 1
}

// AddCounted adds a URL of a binary record, from the end of its length field to
// end.
func (f *Found) AddCounted(field Span, end, outer int) {
	if end == field.End {
		return // no URL
	}
	i := f.AddLength(field, end, outer)
	f.Lengths[i].Site = f.N
	f.Add(Span{field.End, end}, RoleURL, nil)
}

// Move replaces each offset in f by to(offset).
func (f *Found) Move(to func(int) int) {
	for i := range f.N {
		f.Sites[i].Span.Move(to)
	}
	for _, s := range []*Span{&f.Method, &f.Scheme, &f.Port, &f.Base, &f.Host} {
		s.Move(to)
	}
	for i := range f.Hosts {
		f.Hosts[i].Move(to)
	}
	for id := range NumAttrs {
		if f.Attrs.Set>>id&1 != 0 {
			f.Attrs.Values[id].Move(to)
			f.Attrs.Values[id].Clock.Move(to)
		}
	}
	for i := range f.Lengths {
		l := &f.Lengths[i]
		l.Move(to)
		l.End = to(l.End)
	}
}

// Move replaces the offsets of s by to(offset), unless s is the zero Span.
func (s *Span) Move(to func(int) int) {
	if s.End > 0 {
		s.Start, s.End = to(s.Start), to(s.End)
	}
}

// Between returns the span from start to end.
func Between(start, end int) Span { return Span{start, end} }

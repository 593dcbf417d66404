package record

// span is a half-open range of offsets in a record.
type span struct{ start, end int }

func (s span) in(b []byte) []byte { return b[s.start:s.end:s.end] }

// role is the part that a URL plays in its record.
type role uint8

const (
	roleURL     role = iota // the record's URL: lines, jsonl, csv, tsv
	roleTarget              // a request target
	roleReferer             // the Referer field
	roleWhole               // scheme, host and target written as one
	roleLink                // a link of a page: wat
	roleQuery               // the query of the request target, in its own field
	roleHost                // the host of the request target, in its own field
	roleScheme              // the scheme of the request target, in its own field
	numRoles
)

// isPart reports whether a site with this role is a part of the URL whose path
// is in the site with the role roleTarget.
func (r role) isPart() bool { return r >= roleQuery }

// site is the position of a URL in a record.
type site struct {
	span
	role    role
	dialect *Dialect
	stop    byte // byte that ends the field unless escaped: separator of a table, or first byte of the next literal of a layout; 0 if none
}

// usualSites is the number of sites for which a Found has room from the start:
// a request target, its query, host and scheme in separate fields, and a
// referer.
const usualSites = 5

// numHosts is the number of ranks of host fields. From best to worst: the host
// that the client sent, the host that the server derived from it, Apache's %V,
// and the configured server name.
const numHosts = 4

// Found collects what a Locator finds in a record: the URLs, in the order in
// which they occur, and the other parts that are needed to interpret them. All
// offsets are relative to the start of the record.
type Found struct {
	found
	sites       []site // only the first n are valid; kept from record to record, so that it grows rarely
	baseDialect *Dialect
	hostDialect *Dialect
	nameDialect *Dialect // of the first host in hosts; only its Locator sets it
	nameText    []byte   // that host unescaped; scratch
	nameRuns    []run
	lastHost    []byte // what requestHost returned last
	attrs       attrs
	lengths     []lengthField // of a binary record
	err         error         // why the Locator cannot continue; it clears itself
	context     []byte        // absolute base of the URLs, if hasContext; owned by the Locator
}

// found holds the part of Found that is cleared for each record. It has no
// pointers, which makes clearing it cheap.
type found struct {
	n      int
	passes bool       // the record holds no data
	cut    bool       // the end of the request target can be missing
	strips bool       // the log can remove the query of a target and leave its '?'
	tls    bool       // the record says that the request came over TLS
	plain  bool       // the record says that it did not
	split  bool       // the parts of the request target are in several sites
	blank  bool       // an absent query is written as an empty field, not as "-"
	form   targetForm // form of the request target, as far as it is known before the target is unescaped
	method span
	scheme span // of the request, if in the record
	port   span
	hosts  [numHosts]span // of the request, best first
	base   span           // of the URL, if in the record
	// hasContext says that the record's context, such as the document that it
	// belongs to, has a base. It replaces that of the job.
	hasContext bool
	skipped    int  // links that are not URLs to follow; see Stats.Skipped
	host       span // value of the field in the job's base, if in the record; jsonl, csv and tsv
}

// reset clears what belongs to the last record.
func (f *Found) reset() {
	f.found, f.attrs.set, f.lengths = found{}, 0, f.lengths[:0]
}

// AddURL adds the URL in the range from start to end, which is escaped as d
// describes.
func (f *Found) AddURL(start, end int, d *Dialect) { f.add(span{start, end}, roleURL, d) }

// AddTarget adds a request target, such as /a?b, in the range of rec from start
// to end. It strips spaces on both sides, and adds nothing if the target is
// empty or "-".
func (f *Found) AddTarget(rec []byte, start, end int, d *Dialect) {
	f.addTarget(rec, span{start, end}, d)
}

// AddReferer adds the referer in the range of rec from start to end, unless it
// is empty or "-".
func (f *Found) AddReferer(rec []byte, start, end int, d *Dialect) {
	f.addReferer(rec, span{start, end}, d)
}

// AddSplitTarget adds a target whose query is in a separate field after the
// path. The query may start with '?' or not. A query that is empty or "-"
// counts as absent.
func (f *Found) AddSplitTarget(rec []byte, start, end, queryStart, queryEnd int, d *Dialect) {
	f.AddTarget(rec, start, end, d)
	if q := rec[queryStart:queryEnd]; len(q) > 0 && string(q) != "-" {
		f.addQuery(span{queryStart, queryEnd}, d)
	}
}

// addQuery adds the query of a target that has been added already.
func (f *Found) addQuery(q span, d *Dialect) {
	for i := range f.n {
		if f.sites[i].role == roleTarget {
			f.place(site{span: q, role: roleQuery, dialect: d})
			f.split = true
			return
		}
	}
}

// place adds a site before the sites that follow it in the record.
func (f *Found) place(s site) {
	f.add(s.span, s.role, s.dialect)
	for i := f.n - 1; i > 0 && f.sites[i-1].start > s.start; i-- {
		f.sites[i-1], f.sites[i] = f.sites[i], f.sites[i-1]
	}
}

// part returns the site with the given role, or nil.
func (f *Found) part(r role) *site {
	for i := range f.n {
		if f.sites[i].role == r {
			return &f.sites[i]
		}
	}
	return nil
}

// first returns the site of the first URL to write: that of the request or, if
// there is none, the referer. It returns nil if the record has no URL.
func (f *Found) first() *site {
	var referer *site
	for i := range f.n {
		switch s := &f.sites[i]; {
		case s.role == roleReferer:
			referer = s
		case !s.role.isPart():
			return s
		}
	}
	return referer
}

// SetMethod sets the range of the request method.
func (f *Found) SetMethod(start, end int) { f.method = span{start, end} }

// SetScheme sets the range of the request scheme.
func (f *Found) SetScheme(start, end int) { f.scheme = span{start, end} }

// SetHost sets the range of the request host. A value that is not a host is
// ignored.
func (f *Found) SetHost(start, end int) { f.hosts[0] = span{start, end} }

// SetPort sets the range of the request port.
func (f *Found) SetPort(start, end int) { f.port = span{start, end} }

// SetBase sets the range of the URL that the record's own URL is relative to.
// The range is escaped as d describes.
func (f *Found) SetBase(start, end int, d *Dialect) { f.base, f.baseDialect = span{start, end}, d }

// PassThrough marks the record as holding no data, like a header or a comment.
// Such a record is counted, and copied to the output if the rendering writes
// whole records.
func (f *Found) PassThrough() { f.passes = true }

func (f *Found) add(s span, r role, d *Dialect) {
	if f.n == len(f.sites) {
		f.sites = append(f.sites, make([]site, max(usualSites, f.n))...)
	}
	f.sites[f.n] = site{span: s, role: r, dialect: d}
	f.n++
}

// setContext sets the base of all URLs of the record. base must be valid until
// the next record is located.
func (f *Found) setContext(base []byte) { f.context, f.hasContext = base, true }

// addReferer adds the referer, unless it is empty or "-".
func (f *Found) addReferer(body []byte, s span, d *Dialect) {
	if t := s.in(body); len(t) > 1 || len(t) == 1 && t[0] != '-' {
		f.add(s, roleReferer, d)
	}
}

// trim returns the range of body without ASCII white space at both ends.
func trim(body []byte) span {
	s := span{0, len(body)}
	for s.start < s.end && isSpace(body[s.start]) {
		s.start++
	}
	for s.end > s.start && isSpace(body[s.end-1]) {
		s.end--
	}
	return s
}

// isSpace reports whether c is ASCII white space.
func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }

// isBlank reports whether body consists only of ASCII white space.
func isBlank(body []byte) bool {
	for _, c := range body {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

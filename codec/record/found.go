package record

// A span is a half-open range of offsets in a record.
type span struct{ start, end int }

func (s span) in(b []byte) []byte { return b[s.start:s.end:s.end] }

// A role is what a URL is to its record.
type role uint8

const (
	roleURL     role = iota // the record's URL: lines, jsonl, csv, tsv
	roleTarget              // a request target
	roleReferer             // the Referer field
	roleWhole               // scheme, host and target written as one
	roleQuery               // the query of the request target, in a field of its own
)

// A site is where a URL stands in a record.
type site struct {
	span
	role    role
	dialect *Dialect
	query   int  // index of the site with the rest of the URL; 0: this is all of it
	stop    byte // ends the field unless it is escaped: a table's separator, the start of a layout's next literal; 0 if none
}

// maxSites is how many sites a record can have: a request, its query in a field of its
// own, and a referer.
const maxSites = 3

// numHosts is how many ranks of host fields there are: what the client sent,
// what the server made of it, Apache's %V, the server's configured name.
const numHosts = 4

// Found is what a Locator has found in a record: its URLs, in the order in which they
// stand there, and what else is needed to read them. All offsets are in the record.
type Found struct {
	found
	sites       [maxSites]site // the first n count
	baseDialect *Dialect
	hostDialect *Dialect
}

// found is what is cleared for each record. It holds no pointer, which makes that
// cheap.
type found struct {
	n      int
	passes bool       // the record is no data
	form   targetForm // of the request field, as far as it shows before the target is read
	method span
	scheme span // of the request, if the record says so
	port   span
	hosts  [numHosts]span // of the request, best first
	base   span           // of the URL, if the record has one
	host   span           // what stands for the host in the job's base, if the record has it: jsonl, csv, tsv
}

// AddURL adds the URL between two offsets, whose bytes are escaped as d says.
func (f *Found) AddURL(start, end int, d *Dialect) { f.add(span{start, end}, roleURL, d) }

// AddTarget adds the target of a request, such as /a?b, that stands between two
// offsets of rec: without the spaces around it, and unless it is empty or "-".
func (f *Found) AddTarget(rec []byte, start, end int, d *Dialect) {
	f.addTarget(rec, span{start, end}, d)
}

// AddReferer adds the referer that stands between two offsets of rec, unless it is
// empty or "-".
func (f *Found) AddReferer(rec []byte, start, end int, d *Dialect) {
	f.addReferer(rec, span{start, end}, d)
}

// AddSplitTarget adds a target whose query stands in a field of its own, behind that of
// the path. The query is written with its '?' or without it. It is absent if it is "-".
func (f *Found) AddSplitTarget(rec []byte, start, end, queryStart, queryEnd int, d *Dialect) {
	f.AddTarget(rec, start, end, d)
	if q := rec[queryStart:queryEnd]; len(q) > 0 && string(q) != "-" {
		f.addQuery(span{queryStart, queryEnd}, d)
	}
}

// addQuery adds the query of the target, which was added before and stands before it.
func (f *Found) addQuery(q span, d *Dialect) {
	for i := range f.n {
		if f.sites[i].role == roleTarget {
			f.add(q, roleQuery, d)
			at := f.n - 1
			for at > i+1 && f.sites[at-1].start > q.start { // the order is that of the record
				f.sites[at], f.sites[at-1] = f.sites[at-1], f.sites[at]
				at--
			}
			f.sites[i].query = at
			return
		}
	}
}

// SetMethod says where the method of the request stands.
func (f *Found) SetMethod(start, end int) { f.method = span{start, end} }

// SetScheme says where the scheme of the request stands.
func (f *Found) SetScheme(start, end int) { f.scheme = span{start, end} }

// SetHost says where the host of the request stands. What is no host does not count.
func (f *Found) SetHost(start, end int) { f.hosts[0] = span{start, end} }

// SetPort says where the port of the request stands.
func (f *Found) SetPort(start, end int) { f.port = span{start, end} }

// SetBase says where the record holds a URL that its own is relative to.
func (f *Found) SetBase(start, end int, d *Dialect) { f.base, f.baseDialect = span{start, end}, d }

// PassThrough says that the record is no data, such as a header or a comment: it is
// counted and, where records are written, passed through.
func (f *Found) PassThrough() { f.passes = true }

func (f *Found) add(s span, r role, d *Dialect) {
	f.sites[f.n] = site{span: s, role: r, dialect: d}
	f.n++
}

// addReferer adds the referer, unless it says that there was none.
func (f *Found) addReferer(body []byte, s span, d *Dialect) {
	if t := s.in(body); len(t) > 1 || len(t) == 1 && t[0] != '-' {
		f.add(s, roleReferer, d)
	}
}

// trim returns body without ASCII white space at both ends.
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

// isBlank reports whether body is nothing but ASCII white space.
func isBlank(body []byte) bool {
	for _, c := range body {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c-'0' < 10 }

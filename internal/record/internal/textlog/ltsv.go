package textlog

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// LTSVFormat is Labeled Tab-separated Values (http://ltsv.org): a line of fields
// label:value with tabs between them.
type LTSVFormat struct{}

// Name implements [locate.Format].
func (LTSVFormat) Name() string { return "ltsv" }

// Detect implements [locate.Format].
func (LTSVFormat) Detect(s *locate.Sample) locate.Fit { return s.Count(locate.LooksLabeled, looksLTSV) }

// looksLTSV reports whether body has at least two fields, all with a label, and
// one that holds a URL.
func looksLTSV(body []byte) bool {
	n, hasURL := 0, false
	for field := range bytes.SplitSeq(body, []byte("\t")) {
		colon := bytes.IndexByte(field, ':')
		if colon <= 0 || !isLabel(field[:colon]) {
			return false
		}
		u := ltsvNames.find(field[:colon])
		hasURL = hasURL || u.isURL()
		n++
	}
	return n > 1 && hasURL
}

// isLabel reports whether s consists of the bytes that a label may have.
func isLabel(s []byte) bool {
	for _, c := range s {
		if !locate.IsNameByte(c) && c != '.' && c != '-' {
			return false
		}
	}
	return len(s) > 0
}

// Open implements [locate.Format].
func (LTSVFormat) Open(c *locate.Settings) (locate.Reader, error) {
	r := &ltsvReader{openNamed(c, ltsvNames), locate.UnionDialect}
	if d, given := c.NamedDialect(); given {
		r.dialect = d
	}
	return r, errors.Join(c.RefuseBaseField(), c.CheckRequestHost(true), c.RefuseExtend())
}

// ltsvNames maps labels to what they hold: the labels that ltsv.org recommends,
// and others in use. The target of the first rank is logged as the server
// received it. The label host is the client, not the host of the request.
var ltsvNames = newNameTable(byName(`
	request         req
	request:1       request request_line
	target:2        request_uri
	target:3        uri
	target:4        url
	target:5        path
	query           query_string
	host            vhost http_host
	host:1          domain
	host:3          server_name
	scheme          scheme
	port            server_port port
	method          method request_method
	referer         referer referrer http_referer
	time            time time_local time_iso8601 msec
	status          status
	bytes           size bytes body_bytes_sent bytes_sent
	duration        reqtime request_time
	duration:us     reqtime_microsec
	client          host remote_addr remote_host
	agent           ua agent user_agent http_user_agent
	request_id      request_id reqid`))

// ltsvReader reads LTSV.
type ltsvReader struct {
	namedReader
	dialect *locate.Dialect
}

// Locator implements [locate.Reader].
func (r *ltsvReader) Locator() locate.Locator { return &LTSVLocator{ltsvReader: r} }

// LTSVLocator is an ltsvReader with scratch memory.
type LTSVLocator struct {
	*ltsvReader
	Forms locate.Forms
}

// Locate implements [locate.Locator].
func (r *LTSVLocator) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	return r.LocateForm(f, rec, r.FormOf(rec))
}

// FormOf implements [locate.Former].
func (r *LTSVLocator) FormOf(rec []byte) *locate.Form { return r.Forms.Match(rec, nil) }

// LocateForm implements [locate.Former].
func (r *LTSVLocator) LocateForm(f *locate.Found, rec []byte, h *locate.Form) (locate.Reason, int) {
	var p namedParts
	if h != nil {
		p.takeForm(f, rec, h, r.names, r.dialect)
	} else if !r.read(f, rec, &p) {
		return locate.Unparsed, 0
	}
	return r.add(f, rec, &p)
}

// read takes the fields of a record, and learns from it. It skips fields without a label,
// because the last field of a truncated line may lack its label. It returns false if no
// field has a label.
func (r *LTSVLocator) read(f *locate.Found, rec []byte, p *namedParts) (labels bool) {
	learns := r.Forms.Learns(rec)
	for pos := 0; pos < len(rec); {
		end := tabEnd(rec, pos)
		if colon := bytes.IndexByte(rec[pos:end], ':'); colon > 0 {
			labels = true
			name, at := rec[pos:pos+colon], locate.Between(pos+colon+1, end)
			if u := r.names.find(name); u.isRead(f) {
				p.take(f, rec, u, at, r.dialect)
			}
			if learns {
				addNamed(&r.Forms, f, r.names, name, at, wayTab, r.target)
			}
		}
		pos = end + 1
	}
	if learns && labels {
		r.Forms.Learn(rec)
	}
	return labels
}

// tabEnd returns the offset of the tab that ends the field at pos.
func tabEnd(rec []byte, pos int) int {
	if n := bytes.IndexByte(rec[pos:], '\t'); n >= 0 {
		return pos + n
	}
	return len(rec)
}

// Mapped implements [locate.Mapped].
func (*ltsvReader) Mapped() {}

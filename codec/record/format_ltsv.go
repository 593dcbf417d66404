package record

import (
	"bytes"
	"errors"
)

// ltsvFormat is Labeled Tab-separated Values (http://ltsv.org): a line of fields
// label:value with tabs between them.
type ltsvFormat struct{}

// Name implements [Format].
func (ltsvFormat) Name() string { return "ltsv" }

// Detect implements [Format].
func (ltsvFormat) Detect(s *Sample) Fit { return s.count(looksLabeled, looksLTSV) }

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
		hasURL = hasURL || u.kind == namedTarget || u.kind == namedRequest
		n++
	}
	return n > 1 && hasURL
}

// isLabel reports whether s consists of the bytes that a label may have.
func isLabel(s []byte) bool {
	for _, c := range s {
		if !isNameByte(c) && c != '.' && c != '-' {
			return false
		}
	}
	return len(s) > 0
}

// Open implements [Format].
func (ltsvFormat) Open(c *Config) (Reader, error) {
	r := &ltsvReader{target: c.Target, dialect: unionDialect}
	if d, given := c.dialect(); given {
		r.dialect = d
	}
	r.names, r.named = c.namedFields(ltsvUses, ltsvNames)
	errs := []error{c.refuseBaseField(), c.checkRequestHost(true)}
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	return r, errors.Join(errs...)
}

// ltsvUses maps labels to what they hold: those that ltsv.org recommends, and
// others in use. The first of the targets is the one that servers log as it
// came. host is the client.
var ltsvUses = map[string]namedUse{
	"req": {kind: namedRequest}, "request": {kind: namedRequest, rank: 1}, "request_uri": {kind: namedTarget, rank: 2},
	"uri": {kind: namedTarget, rank: 3}, "url": {kind: namedTarget, rank: 4}, "path": {kind: namedTarget, rank: 5},
	"query_string": {kind: namedQuery},
	"vhost":        {kind: namedHost}, "http_host": {kind: namedHost}, "domain": {kind: namedHost, rank: 1}, "server_name": {kind: namedHost, rank: 3},
	"scheme": {kind: namedScheme}, "server_port": {kind: namedPort}, "port": {kind: namedPort},
	"method": {kind: namedMethod}, "request_method": {kind: namedMethod},
	"referer": {kind: namedReferer}, "referrer": {kind: namedReferer}, "http_referer": {kind: namedReferer},
	"time": {kind: namedAttr, attr: attrTime}, "time_local": {kind: namedAttr, attr: attrTime}, "time_iso8601": {kind: namedAttr, attr: attrTime}, "msec": {kind: namedAttr, attr: attrTime},
	"status": {kind: namedAttr, attr: attrStatus},
	"size":   {kind: namedAttr, attr: attrBytes}, "bytes": {kind: namedAttr, attr: attrBytes}, "body_bytes_sent": {kind: namedAttr, attr: attrBytes}, "bytes_sent": {kind: namedAttr, attr: attrBytes},
	"reqtime": {kind: namedAttr, attr: attrDuration}, "request_time": {kind: namedAttr, attr: attrDuration}, "reqtime_microsec": {kind: namedAttr, attr: attrDuration, unit: 6},
	"host": {kind: namedAttr, attr: attrClient}, "remote_addr": {kind: namedAttr, attr: attrClient}, "remote_host": {kind: namedAttr, attr: attrClient},
	"ua": {kind: namedAttr, attr: attrAgent}, "agent": {kind: namedAttr, attr: attrAgent}, "user_agent": {kind: namedAttr, attr: attrAgent}, "http_user_agent": {kind: namedAttr, attr: attrAgent},
	"request_id": {kind: namedAttr, attr: attrRequestID}, "reqid": {kind: namedAttr, attr: attrRequestID},
}

var ltsvNames = newNameTable(ltsvUses)

// ltsvReader reads LTSV.
type ltsvReader struct {
	LineFraming
	names   *nameTable
	named   bool // the job names the label of the URL
	target  Target
	dialect *Dialect
}

// Locator implements [Reader].
func (r *ltsvReader) Locator() Locator { return &ltsvLocator{ltsvReader: r} }

// ltsvLocator is an ltsvReader with scratch memory.
type ltsvLocator struct {
	*ltsvReader
	forms forms
}

// Locate implements [Locator].
func (r *ltsvLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	return r.locateForm(f, rec, r.formOf(rec))
}

// formOf implements [former].
func (r *ltsvLocator) formOf(rec []byte) *form { return r.forms.match(&marked{rec: rec}) }

// locateForm implements [former].
func (r *ltsvLocator) locateForm(f *Found, rec []byte, h *form) (Reason, int) {
	var p namedParts
	if h != nil {
		p.takeForm(f, rec, h, r.names, r.dialect)
	} else if !r.read(f, rec, &p) {
		return Unparsed, 0
	}
	if r.named && p.target.end == 0 || !p.add(f, rec, r.target) {
		return NoField, 0
	}
	return 0, 0
}

// read takes the fields of a record, and learns from it. It skips fields without a label,
// because the last field of a truncated line may be one. It returns false if no field has
// one.
func (r *ltsvLocator) read(f *Found, rec []byte, p *namedParts) (labels bool) {
	learns := r.forms.learns(rec)
	for pos := 0; pos < len(rec); {
		end := tabEnd(rec, pos)
		if colon := bytes.IndexByte(rec[pos:end], ':'); colon > 0 {
			labels = true
			name, at := rec[pos:pos+colon], span{pos + colon + 1, end}
			if u := r.names.find(name); u.isRead(f) {
				p.take(f, rec, u, at, r.dialect)
			}
			if learns {
				r.forms.addNamed(f, r.names, name, at, wayTab, r.target)
			}
		}
		pos = end + 1
	}
	if learns && labels {
		r.forms.learn(rec)
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

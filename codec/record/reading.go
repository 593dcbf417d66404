package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// A reading is what became of one URL. Its slices point into the record or the
// Worker's scratch and hold until the next URL is read.
type reading struct {
	url      []byte // as it was, the dialect undone
	src      []byte // what the codec read: url, or scheme and host and url
	base     []byte // what src was resolved against, nil if there was none
	text     []byte // what norm and keys were made of: src, or what was repaired
	prefix   int    // how many bytes of src stand before url
	norm     []byte // the normal form of src
	back     []byte // the part of norm that takes the place of url
	form     targetForm
	why      Reason                     // why there is no norm; 0 if there is
	errAt    int                        // where in url
	flag     codec.Flag                 // of why, if that is Flagged
	flags    codec.Flags                // what the codec noticed, and what we did
	applied  codec.Rules                // rules that were counted for the URL
	same     bool                       // back is url
	nohost   bool                       // the host is unknown and norm has a placeholder
	change   codec.Change               // if that is asked for
	repairs  [codec.Fragment + 1]Repair // those that were made
	masked   bool                       // a secret is out of norm
	fragment bool                       // src has one
	mended   bool                       // norm is repaired; the diagnostics of what was read are saved
	hash     int                        // offset in url of a '#' that should not be there, or -1
}

// A normalizer reads the URLs of a record one after the other, and answers for the
// last one. It owns all that becomes of a URL before anything is written.
type normalizer struct {
	job   *Job
	found *Found // in the record at hand
	res   codec.Result
	cur   reading
	fact  Fact // of the record at hand

	// Scratch.
	text, base       []byte // unescaped; not used where the record has no escapes
	hostText         []byte // the same of the field that the job's base holds
	runs, baseRuns   []run
	joint            int // offset in text of the '?' in front of a query that stands in a field of its own
	queryText        []byte
	queryRuns        []run
	full             []byte // scheme, host and target in one
	norm             []byte
	canonical        []byte // what a key is the hash of
	diagnosticBuf    []codec.Diagnostic
	savedDiagnostics []codec.Diagnostic
	savedIn          codec.URL
	pairs            []params.Pair // of the query
	params           urlParams
	name             []byte // of a parameter, or its value
	repaired         []byte // a normal form with its repairs, on its way to a codec again
	other, spare     []byte // the same of the next round; the one before all rounds
	mended, masked   []byte // a component of these
}

// placeholder stands in for a scheme and host that are not known.
var placeholder = []byte("http://h")

// read reads the URL at s into n.cur and counts it. It is false if there is
// none: because the target has no URL, and then n.cur.why is 0, or because it
// has no reading, and then v is told.
func (n *normalizer) read(s *site, rec []byte, v *verdict, st *Stats) bool {
	c, f := &n.cur, n.found
	raw := s.in(rec)
	text, runs, escaped := s.dialect.unescape(n.text, raw, n.runs)
	n.runs = runs
	if escaped {
		n.text = text
	}
	if s.query > 0 {
		text = n.join(rec, s, text, escaped)
	}
	*c = reading{url: text, hash: -1}
	if n.params.dirty {
		n.params.reset()
	}
	switch s.role {
	case roleTarget:
		c.form = formOf(text, f.method.in(rec))
		f.form = c.form
		if c.form != formOrigin && c.form != formAbsolute {
			return false
		}
	case roleWhole:
		c.form, f.form = formAbsolute, formAbsolute
	}
	if c.form == formOrigin {
		n.readOrigin(rec)
	} else {
		n.readReference(rec)
	}
	st.URLs++
	if c.why == 0 {
		n.note()
		n.filter()
	}
	if c.why != 0 {
		v.reject(c, s.start+rawOffset(n.runs, c.errAt))
		return false
	}
	v.urls++
	n.count(st)
	if n.job.facts {
		n.learn(v.urls == 1)
		n.countKeys(st)
	}
	return true
}

// join returns text, which stands at s, with the query that stands in a field of its
// own.
func (n *normalizer) join(rec []byte, s *site, text []byte, escaped bool) []byte {
	q := &n.found.sites[s.query]
	query, runs, inQuery := q.dialect.unescape(n.queryText, q.in(rec), n.queryRuns)
	n.queryRuns = runs
	if inQuery {
		n.queryText = query
	} else {
		runs = append(runs, run{0, 0, 1})
		n.queryRuns = runs[:0]
	}
	if !escaped {
		text, n.runs = append(n.text[:0], text...), append(n.runs[:0], run{0, 0, 1})
	}
	n.joint = len(text)
	raw := q.start - s.start
	if len(query) == 0 || query[0] != '?' {
		n.runs = append(n.runs, run{len(text), raw, 0})
		text = append(text, '?')
	}
	for _, r := range runs {
		n.runs = append(n.runs, run{r.text + len(text), r.raw + raw, r.step})
	}
	n.text = append(text, query...)
	return n.text
}

// divide divides now, which is to be written where a URL and its query stood in fields
// of their own, into what each of them gets. ok is false if they cannot hold it.
func (n *normalizer) divide(rec []byte, s *site, now []byte) (path, query []byte, ok bool) {
	url := n.cur.url
	i := bytes.IndexByte(now, '?')
	switch {
	case bytes.IndexByte(url, '?') != n.joint || bytes.IndexByte(url[:n.joint], '#') >= 0, bytes.ContainsAny(now, " \t"):
		return nil, nil, false
	case i < 0:
		return now, absent, bytes.IndexByte(now, '#') < 0
	}
	path, query = now[:i], now[i+1:]
	if raw := n.found.sites[s.query].in(rec); raw[0] == '?' {
		query = now[i:]
	}
	return path, query, len(path) > 0 && len(query) > 0 && string(query) != "-"
}

// absent stands in a field that has no value.
var absent = []byte("-")

// readReference reads a URL that stands for itself or is relative to a base. One
// with a scheme is not resolved: RFC 3986 §5.2.2 would take dot segments out of
// "mailto:a/../b" too, which normalization leaves alone, so that a resolved URL
// would change when it is read again.
func (n *normalizer) readReference(rec []byte) {
	c := &n.cur
	base := n.baseOf(rec)
	c.src, c.base = c.url, base
	var err error
	i := bytes.IndexByte(c.src, ':')
	if len(base) > 0 && (n.job.whatwg || i < 0 || !isScheme(c.src[:i])) {
		n.norm, err = n.job.norm.AppendRef(n.norm[:0], base, c.src, &n.res)
		if err == codec.ErrBase && n.job.template != nil && n.found.base.end == 0 {
			// What the record calls its host is none. The URL may do without.
			c.base = nil
			n.norm, err = n.job.norm.Append(n.norm[:0], c.src, &n.res)
		}
	} else {
		n.norm, err = n.job.norm.Append(n.norm[:0], c.src, &n.res)
	}
	n.settle(err)
	c.back = c.norm
}

// readOrigin reads an origin-form target. It is put behind scheme and host as
// it is, not resolved: "//x" is a path here, not a host (RFC 9112 §3.3).
func (n *normalizer) readOrigin(rec []byte) {
	c := &n.cur
	n.full, c.nohost = n.appendOrigin(n.full[:0], rec)
	for {
		c.prefix = len(n.full)
		n.full = append(n.full, c.url...)
		c.src = n.full
		var err error
		n.norm, err = n.job.norm.Append(n.norm[:0], c.src, &n.res)
		n.settle(err)
		if c.nohost || !isHostError[c.why] {
			break
		}
		// What the log calls the host is none. The target can still be read.
		n.full, c.nohost, c.why = append(n.full[:0], placeholder...), true, 0
		c.flags = codec.Flags{}
	}
	if c.why == 0 {
		c.back = c.norm[n.res.Out.Span(codec.Path).Start:]
		if c.nohost {
			c.flags = c.flags.With(codec.Relative)
		}
	}
}

// isHostError diagnostics the errors that lie in what was put in front of a target: a
// path cannot cause them.
var isHostError = [NumReasons]bool{
	codec.ErrHostInvalid: true, codec.ErrHostMissing: true, codec.ErrPortInvalid: true,
}

// settle takes over the codec's answer.
func (n *normalizer) settle(err error) {
	c := &n.cur
	c.norm, c.text, c.flags = n.norm, c.src, c.flags.Union(n.res.Flags)
	if err == nil {
		if n.job.wants.has(fChange) {
			c.change = n.res.Change()
		}
		c.fragment = n.res.In.Has(codec.Fragment)
		n.repair()
		return
	}
	c.norm = nil
	if e, ok := err.(codec.Error); ok {
		c.why = Reason(e)
	} else {
		c.why = Panic
	}
	c.errAt = min(max(0, int(n.res.ErrAt)-c.prefix), len(c.url))
}

// appendOrigin appends the scheme and authority that the target belongs to:
// those of the record, then those of the base, then the placeholder. A host
// without a scheme is taken for https on port 443 and for http elsewhere, which
// is flagged as a guess unless the port is 80 or 443.
func (n *normalizer) appendOrigin(dst, rec []byte) (_ []byte, nohost bool) {
	f, j := n.found, n.job
	var host []byte
	for _, s := range f.hosts {
		if h := s.in(rec); len(h) > 0 && (len(h) > 1 || h[0] != '-' && h[0] != '_') && isHost(h) {
			host = h
			break
		}
	}
	if host == nil {
		if j.origin != nil {
			return append(dst, j.origin...), false
		}
		return append(dst, placeholder...), true
	}
	port := f.port.in(rec)
	if bytes.LastIndexByte(host, ':') > bytes.LastIndexByte(host, ']') || !allDigits(port) {
		port = nil
	}
	scheme := f.scheme.in(rec)
	switch {
	case isScheme(scheme):
	case j.scheme != nil:
		scheme = j.scheme
	default:
		scheme = placeholder[:len("http")]
		switch {
		case string(port) == "443" || bytes.HasSuffix(host, []byte(":443")):
			scheme = []byte("https")
		case string(port) != "80" && !bytes.HasSuffix(host, []byte(":80")):
			n.cur.flags = n.cur.flags.With(codec.SchemeGuessed)
		}
	}
	dst = append(append(append(dst, scheme...), "://"...), host...)
	if port != nil {
		dst = append(append(dst, ':'), port...)
	}
	return dst, false
}

// allDigits reports whether s is a number.
func allDigits(s []byte) bool {
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return len(s) > 0
}

// note adds what only we can know to the flags.
func (n *normalizer) note() {
	c := &n.cur
	if c.form != formNone && c.fragment {
		c.flags = c.flags.With(codec.FragmentInRequest)
		c.hash = bytes.IndexByte(c.url, '#') // by any standard the first one
	}
	if n.job.readsParams || n.res.In.Has(codec.Query) || c.mended {
		n.readParams()
	}
	if (n.job.level >= codec.K2 || n.job.rejectFlags.Has(codec.SignedURL)) && n.isSigned() {
		c.flags = c.flags.With(codec.SignedURL)
	}
}

// filter gives the URL a reason to be rejected if the job wants none of its kind.
// Of several flags the first counts, and the first place of it that is known.
func (n *normalizer) filter() {
	c, j := &n.cur, n.job
	if bad := c.flags.Intersect(j.rejectFlags); !bad.IsZero() {
		for c.flag = range bad.All() {
			break
		}
		for _, m := range n.diagnostics() {
			if m.Flag == c.flag {
				c.errAt = int(m.At)
				break
			}
		}
		c.why, c.norm = Flagged, nil
		return
	}
	if j.rejectNotHTTP && !c.nohost && n.res.Out.Has(codec.Scheme) && !isHTTP(n.res.Out.Bytes(c.norm, codec.Scheme)) {
		c.why, c.norm = NotHTTP, nil
	}
}

// isHTTP reports whether a scheme is http or https. Profiles may keep its case.
func isHTTP(scheme []byte) bool {
	return bytes.EqualFold(scheme, schemeHTTP) || bytes.EqualFold(scheme, schemeHTTPS)
}

var schemeHTTP, schemeHTTPS = []byte("http"), []byte("https")

// count counts the URL, which has a reading.
func (n *normalizer) count(st *Stats) {
	c := &n.cur
	c.same = bytes.Equal(c.back, c.url)
	if !c.same {
		st.Changed++
		if !c.mended { // else repair knows
			c.applied = n.res.Applied()
		}
		countHits(c.applied, st)
	} else {
		c.applied = 0
	}
	telling := c.flags
	if c.nohost {
		telling = telling.Without(codec.Relative) // as nearly every request target of a log
	}
	if !telling.IsZero() {
		st.Flagged++
		for f := range telling.All() {
			st.Flags[f]++
		}
	}
}

// countKeys counts the rules that have changed something in the keys that were
// made of the URL so far, each once for a URL.
func (n *normalizer) countKeys(st *Stats) {
	c := &n.cur
	if more := n.res.KeyApplied() &^ c.applied; c.why == 0 && more != 0 {
		c.applied |= more
		countHits(more, st)
	}
}

func countHits(hits codec.Rules, st *Stats) {
	for r := range hits.All() {
		st.Rules[r]++
	}
}

// isSigned reports whether the query is signed. The codec flags it when it makes
// a key of a level that looks at parameters, which may be after the flags were
// written, or never.
func (n *normalizer) isSigned() bool {
	query := n.res.Out.Bytes(n.cur.norm, codec.Query)
	n.pairs = params.AppendPairs(n.pairs[:0], query, params.Ampersand)
	return params.Signed(n.pairs, query)
}

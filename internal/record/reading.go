package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// reading is the result of reading one URL. Its slices point into the record or
// the Worker's scratch and are valid until the next URL is read.
type reading struct {
	url      []byte // the URL as found, unescaped
	src      []byte // input of the codec: url, or scheme, host and url
	base     []byte // base that src was resolved against; nil if none
	text     []byte // source of norm and the keys: src, or the repaired URL
	prefix   int    // number of bytes of src before url
	norm     []byte // normal form of src
	back     []byte // part of norm that replaces url
	form     locate.TargetForm
	why      Reason                     // why there is no norm; 0 if there is one
	errAt    int                        // offset of the error in url
	flag     codec.Flag                 // the rejected flag, if why is Flagged
	flags    codec.Flags                // flags of the codec and of this package
	applied  codec.Rules                // rules already counted for the URL
	same     bool                       // back equals url
	nohost   bool                       // the host is unknown, and norm has the placeholder
	composed bool                       // the host in norm comes from the record
	bare     bool                       // the URL lacks its scheme: see lacksScheme
	parted   bool                       // the scheme or the host in norm differs from its field
	change   codec.Change               // set only if the job needs it
	repairs  [codec.Fragment + 1]Repair // repairs made, by component
	masked   bool                       // norm has a masked secret
	entity   int                        // offset in url after the first decoded character reference; 0 if none
	fragment bool                       // src has a fragment
	mended   bool                       // norm is repaired; the diagnostics of the original are saved
	marked   bool                       // normMarks has been called
	marks    []bool                     // result of normMarks
	hash     int                        // offset in url of a '#' that must not be in a request; -1 if none
}

// normalizer reads the URLs of a record one after the other and holds the
// result of the last URL. It does all the work on a URL that precedes writing.
type normalizer struct {
	job     *Job
	found   *Found // URLs in the current record
	secrets *secrets
	res     codec.Result
	cur     reading
	fact    facts // facts about the current record

	copyKey *copyKey  // key function for records whose URL does not change; nil if they have no identity
	planKey *copyKey  // key function for the keys that a plan writes; nil if it writes none
	key     codec.Key // the key that planKey computed last

	expansion expansion // expansion of the current record, if it is listed

	host   []byte // host of the record that norm has, if cur.composed
	origin origin // origin of the last record that has a host
	kept   keptHost
	missed missed

	moved   changedFront // front of the last URL whose front changed
	fronted locate.Span  // the scheme and authority of the current URL, if only these change

	baseKept bool // see Job.originKept; only for a keeper

	tells   bool // a keeper must add the fields that the job reads, other than the URL, to found
	pathLen int  // length of the path in cur.url, if that is a target in normal form

	// Scratch.
	text, base       []byte // unescaped; unused in a record without escapes
	hostText         []byte // the same for the value of the field in the job's base
	runs, baseRuns   []locate.Run
	joint            int // offset in text of the '?' before a query that has its own field
	queryText        []byte
	queryRuns        []locate.Run
	entityText       []byte // text without character references, which entityRuns maps to text
	entityRuns       []locate.Run
	full             []byte // scheme, host and target joined
	part             []byte // host and port, composed for the field that holds both
	norm             []byte
	canonical        []byte // the string that is hashed for a key
	diagnosticBuf    []codec.Diagnostic
	savedDiagnostics []codec.Diagnostic
	savedIn          codec.URL
	pairs            []params.Pair // parameters of the query
	params           urlParams
	name             []byte // name or value of a parameter
	repaired         []byte // repaired normal form, the next input of the codec
	other, spare     []byte // other: result of the next round of repairs; spare: normal form before all rounds
	mended, masked   []byte // components of these normal forms

	walk    locate.Walk   // position in the block that AppendRun reads
	located locatedRecord // set by a keeper
}

// placeholder is the scheme and host used for a target whose host is unknown.
var placeholder = []byte("http://h")

// parse reads the URL at s into n.cur. It returns false if the target is not a
// URL, leaving n.cur.why 0.
func (n *normalizer) parse(s *locate.Site, rec []byte) bool {
	c, f := &n.cur, n.found
	text, escaped := s.In(rec), false
	n.runs = n.runs[:0]
	if s.Dialect.Decodes() {
		if text, n.runs, escaped = s.Dialect.Unescape(n.text, text, n.runs); escaped {
			n.text = text
		}
	}
	if f.Split && s.Role == locate.RoleTarget {
		if q := f.Part(locate.RoleQuery); q != nil {
			text = n.join(rec, s, q, text, escaped)
		}
	}
	*c = reading{url: text, hash: -1}
	if n.entityRuns = n.entityRuns[:0]; n.job.repairs&RepairEntity != 0 {
		n.decodeEntities()
	}
	if n.params.dirty {
		n.params.reset()
	}
	switch s.Role {
	case locate.RoleTarget:
		c.form = locate.FormOf(c.url, f.Method.In(rec))
		f.Form = c.form
		if c.form != locate.FormOrigin && c.form != locate.FormAbsolute {
			return false
		}
	case locate.RoleWhole:
		c.form, f.Form = locate.FormAbsolute, locate.FormAbsolute
	case locate.RoleURL, locate.RoleReferer:
		c.bare = n.job.wholeURLs && lacksScheme(text)
		if c.bare && s.Role == locate.RoleURL && string(f.Method.In(rec)) == "CONNECT" {
			f.Form = locate.FormAuthority
			return false
		}
	}
	if c.form == locate.FormOrigin {
		n.readOrigin(rec)
	} else {
		n.readReference(rec)
	}
	if c.why == 0 {
		n.Note()
		if n.job.rejects.filters {
			n.filter()
		}
	}
	return true
}

// differs reports whether the normal form differs from what the record has.
func (c *reading) differs() bool {
	return c.parted || c.entity > 0 || !bytes.Equal(c.back, c.url)
}

// rawOffset maps an offset in n.cur.url to an offset in the site.
func (n *normalizer) rawOffset(at int) int {
	return locate.RawOffset(n.runs, locate.RawOffset(n.entityRuns, at))
}

// accept counts the URL at s, which parse has read. If the URL is rejected, accept
// records that in v and returns false.
func (n *normalizer) accept(s *locate.Site, v *verdict, st *Stats) bool {
	c := &n.cur
	st.URLs++
	if c.bare && n.job.base.bare == nil {
		st.Bare++
	}
	if c.why != 0 {
		v.reject(c, s.Start+n.rawOffset(c.errAt))
		return false
	}
	v.urls++
	n.count(st)
	if n.job.facts {
		n.addFact(v.urls == 1)
		n.countKeys(st)
	}
	return true
}

// readReference reads a URL that is absolute or relative to a base.
func (n *normalizer) readReference(rec []byte) {
	c := &n.cur
	if c.bare && n.job.base.bare != nil {
		n.full = append(append(n.full[:0], n.job.base.bare...), c.url...)
		c.src, c.prefix = n.full, len(n.job.base.bare)
		var err error
		n.norm, err = n.job.norm.Append(n.norm[:0], c.src, &n.res)
		n.settle(err)
		c.back = c.norm
		return
	}
	base := n.job.base.url
	if f := n.found; n.job.base.template != nil || f.HasContext || f.Base.End > 0 {
		base = n.baseOf(rec)
	}
	c.src, c.base = c.url, base
	c.bare = c.bare && base == nil
	var err error
	n.norm, err = n.job.norm.AppendRef(n.norm[:0], base, c.src, &n.res)
	if err == codec.ErrBase && n.job.base.template != nil && n.found.Base.End == 0 {
		// The host field of the record is not a host.
		c.base = nil
		n.norm, err = n.job.norm.Append(n.norm[:0], c.src, &n.res)
	}
	n.settle(err)
	c.back = c.norm
}

// lacksScheme reports whether url, from a field that holds a whole URL, begins with a host
// instead of a scheme: no colon precedes the path, query or fragment, or only the digits of
// a port follow the colon. It returns false for a relative URL.
func lacksScheme(url []byte) bool {
	host := 0
	if url[0] == '[' {
		host = max(0, bytes.IndexByte(url, ']'))
	}
	i := host
	for ; i < len(url) && !endsHost[url[i]]; i++ {
	}
	switch {
	case i == len(url):
		return i > 1 || url[0] != '-'
	case i == host || url[i] == ' ':
		return false // relative, or no URL
	case url[i] != ':':
		return true
	}
	port := i + 1
	for i = port; i < len(url) && locate.IsDigit(url[i]); i++ {
	}
	return i > port && (i == len(url) || endsHost[url[i]] && url[i] != ':' && url[i] != ' ')
}

// endsHost has the bytes that end a host, and the space, which is in no URL.
var endsHost = setOf(":/?# ")

// readOrigin reads an origin-form target. It appends the target to scheme and
// host and does not resolve it, because "//x" is a path here, not a host (RFC
// 9112 §3.3).
func (n *normalizer) readOrigin(rec []byte) {
	c := &n.cur
	n.full, c.nohost = n.appendOrigin(n.full[:0], rec)
	n.readTarget()
	if !c.nohost && isHostError[c.why] {
		// The logged host is not a host, but the target can still be read.
		n.full, c.nohost, c.why = append(n.full[:0], placeholder...), true, 0
		c.flags = codec.Flags{}
		n.readTarget()
	}
	if c.why == 0 && !c.nohost && n.found.Split {
		n.compareParts(rec)
	}
}

// readTarget reads a target after the scheme and authority in n.full.
func (n *normalizer) readTarget() {
	c := &n.cur
	c.prefix = len(n.full)
	n.full = append(n.full, c.url...)
	c.src = n.full
	var err error
	n.norm, err = n.job.norm.Append(n.norm[:0], c.src, &n.res)
	if n.settle(err); c.why != 0 {
		return
	}
	c.back = c.norm[n.res.Out.Span(codec.Path).Start:]
	if c.nohost {
		c.flags = c.flags.With(codec.FlagRelative)
	}
}

// isHostError is the set of errors that only the scheme and host before a
// target can cause, not its path.
var isHostError = [NumReasons]bool{
	codec.ErrHostInvalid: true, codec.ErrHostMissing: true, codec.ErrPortInvalid: true,
}

// settle stores the result of the codec.
func (n *normalizer) settle(err error) {
	c := &n.cur
	c.norm, c.text, c.flags = n.norm, c.src, c.flags.Union(n.res.Flags)
	if err == nil {
		if n.job.reads.has(fChange) {
			c.change = n.res.Change()
			if c.entity > 0 {
				c.change = max(c.change, codec.ChangeRepaired)
			}
		}
		c.fragment = n.res.In.Has(codec.Fragment)
		if n.job.mends {
			n.repair()
		}
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

// Note adds the flags that depend on more than the text that the codec sees.
func (n *normalizer) Note() {
	c := &n.cur
	if c.form != locate.FormNone && c.fragment {
		c.flags = c.flags.With(codec.FlagFragmentInRequest)
		c.hash = bytes.IndexByte(c.url, '#') // the first '#' starts the fragment in both standards
	}
	if c.bare && n.job.base.bare == nil {
		c.flags = c.flags.With(codec.FlagMissingSchemeNonRelativeURL) // "host:80/path" has a scheme for both standards
	}
	if c.form != locate.FormNone && n.found.Cut {
		c.flags = c.flags.With(codec.FlagMaybeTruncated)
	}
	if c.form != locate.FormNone && n.found.Strips && c.url[len(c.url)-1] == '?' {
		c.flags = c.flags.With(codec.FlagQueryStripped)
	}
	if n.expansion.omits {
		c.flags = c.flags.With(codec.FlagRecordOmitted)
	}
	if n.job.readsParams || n.res.In.Has(codec.Query) || c.mended {
		n.readParams()
	}
	if c.entity > 0 {
		n.noteEntity()
	}
	if n.job.tellsSigned() && params.Signed(n.res.Out.Bytes(n.cur.norm, codec.Query)) {
		c.flags = c.flags.With(codec.FlagSignedURL)
	}
}

// filter rejects the URL if the job does not accept it. If several flags are
// rejected, it reports the first flag, at the offset of that flag's first
// diagnostic.
func (n *normalizer) filter() {
	c, j := &n.cur, n.job
	if bad := c.flags.Intersect(j.rejects.flags); !bad.IsZero() {
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
	u, text := &n.res.Out, c.norm
	if j.sortKeys {
		u, text = &n.res.In, c.src
	}
	if j.rejects.notHTTP && !c.nohost && u.Has(codec.Scheme) && !locate.IsHTTP(u.Bytes(text, codec.Scheme)) {
		c.why, c.norm = NotHTTP, nil
	}
}

// count counts a URL that was parsed and accepted.
func (n *normalizer) count(st *Stats) {
	c := &n.cur
	c.same = !c.differs()
	if !c.same {
		st.Changed++
		if !c.mended { // otherwise repair has set it
			c.applied = n.res.Applied()
		}
		countHits(c.applied, st)
	} else {
		c.applied = codec.Rules{}
	}
	telling := c.flags
	if c.nohost {
		telling = telling.Without(codec.FlagRelative) // nearly every request target in a log is relative
	}
	countFlags(telling, st)
}

// countFlags counts the flags of a URL.
func countFlags(flags codec.Flags, st *Stats) {
	if flags.IsZero() {
		return
	}
	st.Flagged++
	for f := range flags.All() {
		st.Flags[f]++
	}
}

// countKeys counts the rules that changed the keys computed for the URL. It
// counts each rule once per URL.
func (n *normalizer) countKeys(st *Stats) {
	c := &n.cur
	if more := n.res.KeyApplied().Minus(c.applied).Minus(n.job.keeps.shardRules); c.why == 0 && !more.IsZero() {
		c.applied = c.applied.Union(more)
		countHits(more, st)
	}
}

func countHits(hits codec.Rules, st *Stats) {
	for r := range hits.All() {
		st.Rules[r]++
	}
}

// tellsSigned reports whether signed queries are flagged. The codec flags a signed URL
// only when it computes a key whose level depends on parameters. That may happen after
// the flags are written, or not at all.
func (j *Job) tellsSigned() bool {
	return j.level == codec.LevelFetch || j.level == codec.LevelPage || j.level == codec.LevelShape || j.rejects.flags.Has(codec.FlagSignedURL)
}

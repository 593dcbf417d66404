package codec

import "github.com/urlfold/urlfold/internal/ground/scan"

// maxFront is more than the length of each scheme and authority that parseClean
// accepts.
const maxFront = 64 + len(":65535")

// KeepsTarget reports whether target, a path with an optional query, stays
// unchanged and raises no flag when it follows the scheme and authority of a
// URL. The URL must be an http or https URL whose scheme and authority are in
// normal form and have no flag. KeepsTarget may return false for a target that
// stays unchanged, too. If ok, query is the query of the target without its
// '?', or nil.
//
// KeepsTarget takes less time than Append for a whole URL. It uses scratch memory
// of r, and does not change what the methods of r describe.
// Not covered by the stability page.
func (n *Normalizer) KeepsTarget(target []byte, r *Result) (query []byte, ok bool) {
	size := len(target)
	if n.match != nil || size == 0 || target[0] != '/' || size+maxFront > min(n.maxLen, keepBytes) {
		return nil, false
	}
	if end, query := plainEnd(target); end == size {
		return query, true
	}
	sv := &r.scratch.survey
	r.scratch.copied = false
	sv.Read(target, len("/"), webClasses)
	return keepsTail(target, sv.First().Special, sv)
}

// plainEnd returns the offset of the first byte of text, after the target at
// its start, that cannot be in a target or needs further checks. query is the
// query up to that byte, or nil. Most targets have no such byte; for them,
// plainEnd is faster than a survey.
func plainEnd(text []byte) (end int, query []byte) {
	end = plainPath.PathEnd(text)
	if end == len(text) || text[end] != '?' {
		return end, nil
	}
	start := end + 1
	end = plainQuery.End(text, start)
	return end, text[start:end:end]
}

// plainPath and plainQuery have the bytes of paths and queries that are clean, and that
// webClasses does not mark.
var (
	plainPath  = scan.NewSet(func(c byte) bool { return isPlain(c) && c != '?' && c != '#' })
	plainQuery = scan.NewSet(func(c byte) bool { return isPlain(c) && c != '#' })
)

// Keeps reports whether url is an absolute http or https URL without a fragment that is
// its own normal form without any flag. It may return false for such a URL, too. If ok,
// query is the query of url without its '?', or nil.
//
// Keeps takes less time than Append, above all if the last URL that it accepted had
// the same scheme and authority. It uses scratch memory of r, and does not change
// what the methods of r describe. Not covered by the stability page.
func (n *Normalizer) Keeps(url []byte, r *Result) (query []byte, ok bool) {
	if n.match != nil || len(url) > n.maxLen {
		return nil, false
	}
	s := &r.scratch
	if f := len(s.front); f > 0 && f < len(url) && url[f] == '/' && string(url[:f]) == string(s.front) {
		return n.KeepsTarget(url[f:], r)
	}
	var u URL
	s.copied = false
	_, entity, ok := parseClean(url, &u, &s.survey)
	if !ok || entity >= 0 || u.Has(Fragment) {
		return nil, false
	}
	s.front = append(s.front[:0], url[:u.Span(Path).Start]...)
	if u.Has(Query) {
		query = u.Bytes(url, Query)
	}
	return query, true
}

// keepsTail is KeepsTarget for a target with a query, or with bytes that sv marks.
func keepsTail(target []byte, special int, sv *scan.Survey) (query []byte, ok bool) {
	var u URL
	if u.setTail(len(target), 0, sv); u.Has(Fragment) {
		return nil, false
	}
	if entity, ok := cleanTail(target, special, &u, sv); !ok || entity >= 0 {
		return nil, false
	}
	if u.Has(Query) {
		query = u.Bytes(target, Query)
	}
	return query, true
}

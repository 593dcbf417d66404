package codec

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/ground/scan"
)

// This file is the fast path to K2 and K3. In most URLs of the web, the rules
// of these levels change nothing before the query except "https". Up to the query,
// their K2 is a contiguous part of K1, and so is their K3. The fast path writes the
// key over a copy of K1, so that no rule needs a branch only to avoid a copy.
//
// Like parseClean, the fast path may give up but must not decide differently:
// where it has a result, appendK2 and appendK3 have the same result
// (FuzzKeysNest).

// plainKey reports whether plainK2 can compute K2 from k1, whose components u
// describes. For LevelPage, single reports that the path has no repeated slashes.
// plainKey gives up on schemes other than http and https, on userinfo, on hosts
// that end in a dot or possibly in a number, on paths that may contain session
// ids, and on fragments that may identify pages.
func (n *Normalizer) plainKey(lv Level, k1 []byte, u *URL, s *scratch) (plain, single bool) {
	path := u.spans[Path]
	if path.Len() == 0 || u.Has(Fragment) && len(n.policy.SPA) > 0 {
		return false, false
	}
	// A plain host belongs to an http or https URL without userinfo.
	if !s.plainHost && (cleanScheme(k1) == 0 || u.kind != HostRegName || u.Has(Username) || !cleanHostEnd(u.spans[Host].In(k1))) {
		return false, false
	}
	if s.plainPath {
		return true, true
	}
	switch end := plainPathSet.SlashEnd(k1[:path.End], int(path.Start)+1); {
	case end == int(path.End):
		return true, true
	case end >= 0:
		return !params.MayHavePathSession(path.In(k1)), false
	}
	return !params.MayHavePathSession(path.In(k1)), lv == LevelPage && !bytes.Contains(path.In(k1), slashes)
}

// plainPathSet holds the bytes that begin no session id in a path.
var plainPathSet = scan.NewSet(func(c byte) bool { return c != ';' && c != '(' })

// workText returns a copy of k1 that plainK2 and plainK3 may change, with room
// after it: the survey's copy if that holds k1, otherwise a copy in s.k2.
func (s *scratch) workText(k1 []byte) []byte {
	if s.copied {
		return s.survey.Copy
	}
	n := len(k1)
	s.k2 = slices.Grow(s.k2[:0], n+2*wide)
	text := s.k2[:cap(s.k2)]
	if s.clean || cap(k1) < n+wide { // copying in steps of wide would read memory of the caller after k1
		copy(text, k1)
		return text
	}
	for at := 0; at < n; at += wide {
		copyWide((*[wide]byte)(text[at:at+wide]), (*[wide]byte)(k1[at:at+wide]))
	}
	return text
}

// plainK2 returns the K2 of k1, whose components u describes, and records the applied
// rules. It writes the key over text, the workText of k1.
func (n *Normalizer) plainK2(k1, text []byte, u *URL, r *Result) []byte {
	text = text[:u.spans[Path].End]
	hits, start := ruleSet(0), 0
	if u.Has(Query) {
		text, hits = n.plainQuery(text, k1, u, r)
	}
	if !n.policy.KeepHTTPS {
		// Replace the scheme in one store, without a branch: the hash will read
		// the scheme as one word, and the CPU cannot predict whether it is
		// https.
		start = u.spans[Scheme].Len() - len("http")
		binary.LittleEndian.PutUint64(text[start:], httpSlashes|uint64(text[7+start])<<56)
	}
	hits.set(ruleHTTPS, start > 0)
	hits.set(RuleDropFragment, u.Has(Fragment))
	r.scratch.keyHits |= hits
	return text[start:]
}

// plainQuery appends the query of k1, whose components are u, by the key rules to a copy of
// front, the beginning of the workText of k1. It returns the rules that changed the query.
func (n *Normalizer) plainQuery(front, k1 []byte, u *URL, r *Result) (text []byte, why ruleSet) {
	s, q := &r.scratch, u.spans[Query]
	s.k2 = append(s.k2[:0], front...)
	text, why, signed := appendKeyQuery(s.k2, k1, u, n.policy.Params, s)
	if why == 0 {
		text = append(text, k1[q.Start-1:q.End]...)
	}
	s.k2 = text
	r.noteSigned(signed)
	return text, why
}

// folds reports whether K2 replaces the scheme, which is https or http.
func (n *Normalizer) folds(u *URL) bool {
	return u.spans[Scheme].Len() == len("https") && !n.policy.KeepHTTPS
}

// plainParts sets out to the components of k2, which plainK2 computed from a K1
// with the components u.
func (n *Normalizer) plainParts(k2 []byte, u, out *URL) {
	*out = *u
	out.clear(Query)
	out.clear(Fragment)
	if n.folds(u) {
		out.spans[Scheme].End--
		out.shift(Host, ^uint32(0))
	}
	if end := out.spans[Path].End; int(end) < len(k2) {
		out.set(Query, int(end)+1, len(k2))
	}
}

// plainK3 is plainK2 for K3, if the path has no repeated slashes and no option rewrites
// K2.
func (n *Normalizer) plainK3(k1, text []byte, u *URL, r *Result) []byte {
	start, end, hits := r.scratch.trimK3(k1, u)
	text = text[:end]
	if u.Has(Query) {
		var why ruleSet
		text, why = n.plainQuery(text, k1, u, r)
		hits |= why
	}
	r.scratch.keyHits |= hits
	return text[start:]
}

// trimK3 returns where K3 without its query starts and ends in k1, and the rules that
// remove the rest. u has the components of k1. The path must have no repeated slashes.
func (s *scratch) trimK3(k1 []byte, u *URL) (start, end int, hits ruleSet) {
	path, host := u.spans[Path], u.spans[Host]
	folder := cutIndexFile(k1[:path.End], path.In(k1))
	end = int(path.Start) + len(folder)
	trail := len(folder) > 1 && folder[len(folder)-1] == '/'
	cut := s.wwwLen(host.In(k1))
	hits = 1 << ruleHTTPS
	hits.set(RuleDropFragment, u.Has(Fragment))
	hits.set(ruleWWW, cut > 0)
	hits.set(ruleIndexFile, len(folder) < path.Len())
	hits.set(ruleTrail, trail)
	return int(host.Start) + cut, end - b2i(trail), hits
}

// wwwLen returns the length of the prefix of host that cutWWW removes.
func (s *scratch) wwwLen(host []byte) int {
	switch {
	case len(host) < len(www) || string(host[:len(www)]) != www:
		return 0
	case s.plainHost:
		return len(www) * b2i(isBelowSuffix(host[len(www):]))
	}
	return len(host) - len(cutWWW(host))
}

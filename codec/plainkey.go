package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/params"
)

// This file is the fast path to K2 and K3. In most URLs of the web, the rules
// of these levels change nothing before the query except "https". Their K2 is a
// contiguous part of K1, and so is their K3.
//
// Like parseClean, the fast path may give up but must not decide differently:
// where it has a result, appendK2 and appendK3 have the same one
// (FuzzKeysNest).

// A plainKey is the K2 of such a URL.
type plainKey struct {
	text   []byte
	short  int  // number of bytes by which the text before the query is shorter than in K1
	signed bool // the query is signed, and was therefore left unchanged
}

// plainK2 computes K2 of k1, whose components are u, and records the applied
// rules. It gives up on schemes other than http and https, on userinfo, on
// hosts that end in a dot or possibly in a number, on paths that may contain
// session ids, and on fragments that may identify pages.
func (n *Normalizer) plainK2(k1 []byte, u *URL, s *scratch) (key plainKey, ok bool) {
	start := cleanScheme(k1)
	if start == 0 || u.kind != RegName || u.Has(Username) || u.Has(Fragment) && len(n.policy.SPA) > 0 {
		return key, false
	}
	if !cleanHostEnd(u.spans[Host].In(k1)) || params.MayHavePathSession(u.spans[Path].In(k1)) {
		return key, false
	}
	key.text = k1[:u.spans[Path].End]
	hits := Rules(0)
	hits.set(DropFragment, u.Has(Fragment))
	if start == len("https://") && !n.policy.KeepHTTPS {
		key.foldScheme(s)
		hits.set(ruleHTTPS, true)
	}
	if u.Has(Query) {
		hits |= key.query(n, k1, u, s)
	}
	s.keyHits |= hits
	return key, true
}

// foldScheme replaces https by http: it drops the first byte and overwrites the
// beginning.
func (key *plainKey) foldScheme(s *scratch) {
	s.k2 = append(s.k2[:0], key.text[1:]...)
	copy(s.k2, "http")
	key.text, key.short = s.k2, 1
}

// query appends the part of the query that the rules keep.
func (key *plainKey) query(n *Normalizer, k1 []byte, u *URL, s *scratch) (hits Rules) {
	if key.short == 0 {
		s.k2 = append(s.k2[:0], key.text...)
	}
	s.k2, hits, key.signed = appendKeyQuery(s.k2, k1, u, n.policy.Params, s)
	key.text = s.k2
	return hits
}

// parts sets out to the components of key, which was computed from a K1 with
// the components u.
func (key *plainKey) parts(u, out *URL) {
	*out = *u
	out.clear(Query)
	out.clear(Fragment)
	out.spans[Scheme].End -= uint32(key.short)
	out.shift(Host, -uint32(key.short))
	if end := out.spans[Path].End; int(end) < len(key.text) {
		out.set(Query, int(end)+1, len(key.text))
	}
}

// plainK3 computes K3 of a plain K2, which was computed from a K1 with the
// components u. It gives up on paths with repeated slashes.
func (n *Normalizer) plainK3(key *plainKey, u *URL, s *scratch) (k3 []byte, ok bool) {
	start, at := int(u.spans[Host].Start)-key.short, int(u.spans[Path].Start)-key.short
	tail := int(u.spans[Path].End) - key.short
	host, path := key.text[start:start+u.spans[Host].Len()], key.text[at:tail]
	if n.policy.rewritesK3() || bytes.Contains(path, slashes) {
		return nil, false
	}
	folder := cutIndexFile(path)
	end := at + len(folder)
	if len(folder) > 1 && folder[len(folder)-1] == '/' {
		end--
	}
	cut := len(host) - len(CutWWW(host))
	start += cut
	hits := Rules(1) << ruleHTTPS
	hits.set(ruleWWW, cut > 0)
	hits.set(ruleIndexFile, len(folder) < len(path))
	hits.set(ruleTrail, end < at+len(folder))
	s.keyHits |= hits
	if end == tail || tail == len(key.text) {
		return key.text[start : len(key.text)-(tail-end)], true
	}
	s.k3 = append(append(s.k3[:0], key.text[start:end]...), key.text[tail:]...)
	return s.k3, true
}

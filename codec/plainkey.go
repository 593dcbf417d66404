package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/params"
)

// This file is the fast way to K2 and K3. Most URLs of the web have nothing in
// front of the query that the rules of these levels change but "https". Their K2
// is bytes of K1 that stand together, and so is their K3.
//
// Like parseClean, it may only give up, never decide: where it has an answer, that
// is the one of appendK2 and appendK3 (FuzzKeysNest).

// A plainKey is the K2 of such a URL.
type plainKey struct {
	text   []byte
	short  int  // so many bytes shorter than in K1 is what stands in front of the query
	signed bool // the query is, and so was left as it is
}

// plainK2 makes K2 of k1, whose components are u, and notes the hits. It gives up
// on other schemes than http and https, on userinfo, on hosts that end in a dot or
// in what may be a number, on paths that may have session ids, and on fragments
// that may be pages.
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

// foldScheme makes http of https: the text without its first byte has only to
// begin otherwise.
func (key *plainKey) foldScheme(s *scratch) {
	s.k2 = append(s.k2[:0], key.text[1:]...)
	copy(s.k2, "http")
	key.text, key.short = s.k2, 1
}

// query appends what the rules leave of the query.
func (key *plainKey) query(n *Normalizer, k1 []byte, u *URL, s *scratch) (hits Rules) {
	if key.short == 0 {
		s.k2 = append(s.k2[:0], key.text...)
	}
	s.k2, hits, key.signed = appendKeyQuery(s.k2, k1, u, n.policy.Params, s)
	key.text = s.k2
	return hits
}

// parts notes in out the components of key, which is made of a K1 with the
// components u.
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

// plainK3 makes K3 of a plain K2, which is made of a K1 with the components u. It
// gives up on paths with slashes to be merged.
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

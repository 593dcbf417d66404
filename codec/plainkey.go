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

// A plainKey is the K2 of such a URL, and where its parts are.
type plainKey struct {
	text    []byte
	host    int // where the host begins
	hostEnd int
	path    int // where the path begins
	pathEnd int
	signed  bool // the query is, and so was left as it is
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
	host, path := u.spans[Host], u.spans[Path]
	if !cleanHostEnd(host.In(k1)) || params.MayHavePathSession(path.In(k1)) {
		return key, false
	}
	key = plainKey{text: k1[:path.End], host: start, hostEnd: int(host.End), path: int(path.Start), pathEnd: int(path.End)}
	s.keyHits.add(ruleHit(DropFragment), u.Has(Fragment))
	if start == len("https://") && !n.policy.KeepHTTPS {
		key.foldScheme(s)
	}
	if u.Has(Query) {
		key.query(n, k1, u, s)
	}
	return key, true
}

// foldScheme makes http of https: the text without its first byte has only to
// begin otherwise.
func (key *plainKey) foldScheme(s *scratch) {
	s.k2 = append(s.k2[:0], key.text[1:]...)
	copy(s.k2, "http")
	s.keyHits.add(hitHTTPS, true)
	key.text = s.k2
	key.host--
	key.hostEnd--
	key.path--
	key.pathEnd--
}

// query appends what the rules leave of the query.
func (key *plainKey) query(n *Normalizer, k1 []byte, u *URL, s *scratch) {
	if !sameBytes(key.text, s.k2) {
		s.k2 = append(s.k2[:0], key.text...)
	}
	w := rewriter{dst: s.k2, src: k1, u: u, s: s}
	key.signed = w.query(n.policy.Params, '\'')
	s.k2 = w.dst
	key.text = w.dst
	s.keyHits |= w.hits
}

// parts notes in out the components of key, which is made of a K1 with the
// components u.
func (key *plainKey) parts(u, out *URL) {
	*out = *u
	out.clear(Query)
	out.clear(Fragment)
	shift := uint32(key.host) - u.spans[Host].Start
	out.spans[Scheme].End += shift
	out.shift(Host, shift)
	if key.pathEnd < len(key.text) {
		out.set(Query, key.pathEnd+1, len(key.text))
	}
}

// plainK3 makes K3 of a plain K2. It gives up on paths with slashes to be merged.
func (n *Normalizer) plainK3(key *plainKey, s *scratch) (k3 []byte, ok bool) {
	k2 := key.text
	path := k2[key.path:key.pathEnd]
	if n.policy.rewritesK3() || bytes.Contains(path, slashes) {
		return nil, false
	}
	folder := cutIndexFile(path)
	end := key.path + len(folder)
	if len(folder) > 1 && folder[len(folder)-1] == '/' {
		end--
	}
	start := key.hostEnd - len(CutWWW(k2[key.host:key.hostEnd]))
	s.keyHits |= 1 << hitHTTPS
	s.keyHits.add(hitWWW, start > key.host)
	s.keyHits.add(hitIndexFile, len(folder) < len(path))
	s.keyHits.add(hitTrail, end < key.path+len(folder))
	if end == key.pathEnd || key.pathEnd == len(k2) {
		return k2[start : len(k2)-(key.pathEnd-end)], true
	}
	s.k3 = append(append(s.k3[:0], k2[start:end]...), k2[key.pathEnd:]...)
	return s.k3, true
}

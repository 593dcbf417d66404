package codec

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/scan"
	"github.com/urlfold/urlfold/codec/params"
)

// This file is the fast path to K2 and K3. In most URLs of the web, the rules
// of these levels change nothing before the query except "https". Their K2 is a
// contiguous part of K1, and so is their K3.
//
// Like parseClean, the fast path may give up but must not decide differently:
// where it has a result, appendK2 and appendK3 have the same one
// (FuzzKeysNest).

// plainKey reports whether plainK2 can compute K2 of k1, whose components are u,
// and, if lv is K3, whether the path has no repeated slashes. It gives up on schemes other
// than http and https, on userinfo, on hosts that end in a dot or possibly in a
// number, on paths that may contain session ids, and on fragments that may
// identify pages.
func (n *Normalizer) plainKey(lv Level, k1 []byte, u *URL, s *scratch) (plain, single bool) {
	path := u.spans[Path]
	if path.Len() == 0 || u.Has(Fragment) && len(n.policy.SPA) > 0 {
		return false, false
	}
	// A plain host is that of an http or https URL without userinfo.
	if !s.plainHost && (cleanScheme(k1) == 0 || u.kind != RegName || u.Has(Username) || !cleanHostEnd(u.spans[Host].In(k1))) {
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
	return !params.MayHavePathSession(path.In(k1)), lv == K3 && !bytes.Contains(path.In(k1), slashes)
}

// plainPathSet holds the bytes that begin no session id in a path.
var plainPathSet = scan.NewSet(func(c byte) bool { return c != ';' && c != '(' })

// plainK2 returns K2 of k1, whose components are u, and records the applied
// rules. It also reports whether the query is signed and was therefore left
// unchanged.
func (n *Normalizer) plainK2(k1 []byte, u *URL, s *scratch) (k2 []byte, signed bool) {
	hits := Rules(0)
	hits.set(DropFragment, u.Has(Fragment))
	folds := n.folds(u)
	hits.set(ruleHTTPS, folds)
	end := int(u.spans[Path].End)
	if u.Has(Query) {
		var why Rules
		if k2, why, signed = n.appendToFront(&s.k2, k1, 0, end, u, s); why != 0 {
			s.keyHits |= hits | why
			if folds {
				k2 = foldHTTPS(k2)
			}
			return k2, signed
		}
		end = int(u.spans[Query].End)
	}
	s.keyHits |= hits
	if folds {
		return foldHTTPS(s.writable(&s.k2, k1, 0, end)), signed
	}
	return k1[:end], signed
}

// writable returns k1[start:end] in memory of s: in the survey's copy of the input if
// that is the same text, otherwise in a copy in buf.
func (s *scratch) writable(buf *[]byte, k1 []byte, start, end int) []byte {
	if s.copied {
		return s.survey.Copy[start:end]
	}
	*buf = append((*buf)[:0], k1[start:end]...)
	return *buf
}

// appendToFront returns k1[start:end] and after it the query by the key rules, in
// memory of s. If no rule changes the query, why is 0, and the result is undefined:
// then the key is part of K1, and nothing has to be copied.
func (n *Normalizer) appendToFront(buf *[]byte, k1 []byte, start, end int, u *URL, s *scratch) (key []byte, why Rules, signed bool) {
	if s.copied && end == int(u.spans[Path].End) && len(s.survey.Copy)-end > params.TidyRoom {
		return appendKeyQuery(s.survey.Copy[start:end], k1, u, n.policy.Params, s)
	}
	front := slices.Grow((*buf)[:0], end-start)[:end-start]
	key, why, signed = appendKeyQuery(front, k1, u, n.policy.Params, s)
	if *buf = key; why != 0 {
		copy(key, k1[start:end])
	}
	return key, why, signed
}

// foldHTTPS returns a URL that begins with "https://", with "http://" instead. It
// writes the beginning in one store: the hash will read it as one word, and would wait
// for two stores.
func foldHTTPS(url []byte) []byte {
	binary.LittleEndian.PutUint64(url[1:], httpSlashes|uint64(url[8])<<56)
	return url[1:]
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

// plainK3 returns K3 of k1, whose components are u, if plainK2 can compute K2,
// the path has no repeated slashes, and no option rewrites K2. It records the
// applied rules and reports whether the query is signed.
func (n *Normalizer) plainK3(k1 []byte, u *URL, s *scratch) (k3 []byte, signed bool) {
	path, start := u.spans[Path], int(u.spans[Host].Start)
	folder := cutIndexFile(k1[:path.End], path.In(k1))
	end := int(path.Start) + len(folder)
	trail := len(folder) > 1 && folder[len(folder)-1] == '/'
	if trail {
		end--
	}
	cut := s.wwwLen(u.spans[Host].In(k1))
	start += cut
	hits := Rules(1) << ruleHTTPS
	hits.set(DropFragment, u.Has(Fragment))
	hits.set(ruleWWW, cut > 0)
	hits.set(ruleIndexFile, len(folder) < path.Len())
	hits.set(ruleTrail, trail)
	k3 = k1[start:end]
	if u.Has(Query) {
		key, why, isSigned := n.appendToFront(&s.k3, k1, start, end, u, s)
		hits, signed = hits|why, isSigned
		switch query := u.spans[Query]; {
		case why != 0:
			k3 = key
		case end == int(path.End):
			k3 = k1[start:query.End]
		default:
			s.k3 = append(append(s.k3[:0], k3...), k1[query.Start-1:query.End]...)
			k3 = s.k3
		}
	}
	s.keyHits |= hits
	return k3, signed
}

// wwwLen returns the length of the prefix of host that CutWWW removes.
func (s *scratch) wwwLen(host []byte) int {
	switch {
	case len(host) < len(www) || string(host[:len(www)]) != www:
		return 0
	case s.plainHost:
		return len(www) * b2i(isBelowSuffix(host[len(www):]))
	}
	return len(host) - len(CutWWW(host))
}

package codec

import (
	"bytes"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec/internal/peer"
	"github.com/urlfold/urlfold/codec/internal/peer/crawlercommons"
	"github.com/urlfold/urlfold/codec/internal/peer/gsb"
	"github.com/urlfold/urlfold/codec/internal/peer/purell"
	"github.com/urlfold/urlfold/codec/internal/peer/surt"
	"github.com/urlfold/urlfold/codec/internal/peer/urlcanon"
	"github.com/urlfold/urlfold/codec/internal/peer/w3lib"
)

// A match is a program that a profile reproduces.
type match struct {
	name    string // name of the profile, and Profile.Match
	program string // package, version and function
	key     string // name and version of the key function
	sortKey bool   // the program returns a sort key (SURT), not a URL
	make    func() peer.Canonicalizer
}

// matches lists the programs that a profile can reproduce, sorted by name. If a
// program's results change, its key function needs a new version.
var matches = []match{
	{"crawler-commons", "crawler-commons 1.6 BasicURLNormalizer.filter", "crawler-commons-1.6/1", false, crawlercommons.New},
	{"gsb-v4", "Safe Browsing v4 URLs and Hashing", "gsb-v4/1", false, gsb.NewV4},
	{"gsb-v5", "Safe Browsing v5 URLs and Hashing", "gsb-v5/1", false, gsb.NewV5},
	{"purell-all-greedy", "purell 1.2.1 NormalizeURLString(FlagsAllGreedy)", "purell-all-greedy-1.2.1/1", false, purell.NewAllGreedy},
	{"purell-safe", "purell 1.2.1 NormalizeURLString(FlagsSafe)", "purell-safe-1.2.1/1", false, purell.NewSafe},
	{"purell-usually-safe-greedy", "purell 1.2.1 NormalizeURLString(FlagsUsuallySafeGreedy)", "purell-usually-safe-greedy-1.2.1/1", false, purell.NewUsuallySafeGreedy},
	{"ssurt", "urlcanon 0.3.1 ParsedUrl.ssurt", "ssurt-urlcanon-0.3.1/1", true, urlcanon.SSURT},
	{"surt-ia", "surt 0.3.1 surt.surt, without DNS", "surt-0.3.1/1", true, surt.New},
	{"urlcanon-aggressive", "urlcanon 0.3.1 urlcanon.aggressive", "urlcanon-aggressive-0.3.1/1", false, urlcanon.NewAggressive},
	{"urlcanon-google", "urlcanon 0.3.1 urlcanon.google", "urlcanon-google-0.3.1/1", false, urlcanon.NewGoogle},
	{"urlcanon-semantic", "urlcanon 0.3.1 urlcanon.semantic", "urlcanon-semantic-0.3.1/1", false, urlcanon.NewSemantic},
	{"urlcanon-semantic-precise", "urlcanon 0.3.1 urlcanon.semantic_precise", "urlcanon-semantic-precise-0.3.1/1", false, urlcanon.NewSemanticPrecise},
	{"urlcanon-whatwg", "urlcanon 0.3.1 urlcanon.whatwg", "urlcanon-whatwg-0.3.1/1", false, urlcanon.NewWHATWG},
	{"w3lib", "w3lib 2.5.0 w3lib.url.canonicalize_url", "w3lib-2.5.0/1", false, w3lib.New},
}

// lookupMatch returns the program called name, or nil.
func lookupMatch(name string) *match {
	for i := range matches {
		if matches[i].name == name {
			return &matches[i]
		}
	}
	return nil
}

// withMatches returns the profiles, with the profiles that reproduce a program
// added, sorted by name.
func withMatches(profiles ...Profile) []Profile {
	for _, m := range matches {
		profiles = append(profiles, Profile{Name: m.name, Standard: RFC3986, Match: m.name, Key: LevelMatch})
	}
	slices.SortFunc(profiles, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	return profiles
}

// Program returns the program that p reproduces, with version and function,
// such as "w3lib 2.5.0 w3lib.url.canonicalize_url", or "" if p reproduces no
// program. Not covered by the stability page.
func (p Profile) Program() string {
	if m := lookupMatch(p.Match); m != nil {
		return m.program
	}
	return ""
}

// HasSortKeys reports whether the normal form of p is a sort key (SURT) and not
// a URL. Then Result.Out has only the components path and query.
// Not covered by the stability page.
func (p Profile) HasSortKeys() bool {
	m := lookupMatch(p.Match)
	return m != nil && m.sortKey
}

// appendMatch is AppendRef for a profile that reproduces a program. A reference
// without a scheme is resolved by RFC 3986 §5.2 first, if there is a base.
func (n *Normalizer) appendMatch(dst, base, src []byte, r *Result) ([]byte, error) {
	r.reset()
	if len(src) > n.maxLen {
		r.In, r.ErrAt = URL{}, uint32(n.maxLen)
		return dst, ErrTooLong
	}
	s := &r.scratch
	_, err := split(src, &r.In)
	text := src
	if len(base) > 0 && !r.In.Has(Scheme) {
		var base0 URL
		if _, err := split(base, &base0); err != 0 || !base0.Has(Scheme) {
			return dst, ErrBase
		}
		s.text = appendResolved(s.text[:0], base, &base0, src, &r.In)
		text, s.resolved = s.text, true
		s.rec.change(ruleResolve, WholeURL, src, text)
	} else {
		base = nil
	}
	n.inspect(base, src, r)
	r.undone()
	start := len(dst)
	dst, ok := r.canonicalizer(n.match).Append(dst, text, s.rec.program(n.match))
	if !ok {
		r.Out = URL{}
		return dst[:start], ErrMatchRejects
	}
	s.rec.finish(n.match, text, dst[start:])
	s.unparsed = err != 0
	s.applied.set(ruleResolve, s.resolved && !bytes.Equal(src, text))
	s.applied.set(ruleMatch, !bytes.Equal(text, dst[start:]))
	n.match.split(dst[start:], &r.Out)
	s.unjudged = true
	return dst, nil
}

// compareMatch is compare for a profile that reproduces a program. Everything
// that RFC 3986 does not call equivalent is lossy.
func (s *scratch) compareMatch(src, norm []byte) Change {
	if s.resolved {
		src = s.text
	}
	if _, err := split(norm, &s.in); err != 0 || s.unparsed {
		return ChangeLossy
	}
	return s.compareKeys(src, norm, ChangeLossy)
}

// canonicalizer returns the canonicalizer of m, which r keeps.
func (r *Result) canonicalizer(m *match) peer.Canonicalizer {
	s := &r.scratch
	if s.matched != m {
		s.matched, s.peer = m, m.make()
	}
	return s.peer
}

// split finds the components of a normal form.
func (m *match) split(norm []byte, u *URL) {
	if !m.sortKey {
		if _, err := split(norm, u); err == 0 {
			return
		}
	}
	*u = URL{}
	path := 0
	if m.sortKey {
		path = bytes.IndexByte(norm, ')') + 1
	}
	end := len(norm)
	if i := bytes.IndexByte(norm[path:], '?'); m.sortKey && i >= 0 {
		end = path + i
		u.set(Query, end+1, len(norm))
	}
	u.set(Path, path, end)
}

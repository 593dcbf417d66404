package codec

import (
	"bytes"
	"iter"
	"math/bits"

	"github.com/urlfold/urlfold/codec/params"
)

// A Hit is one rule that can be told to have changed a URL: those of Rules, what a
// reading does before them, and what makes keys of the levels K2 and K3. The names
// are stable, the numbers are not: store names.
type Hit uint8

// The hits beside those of Rules, which have the numbers of their bits. They stand
// in the order in which they come about.
const (
	hitResolve Hit = numRules + iota
	hitTrim
	hitTabs
	hitMalformed
	hitSplit
	hitRootDot
	hitIPv4
	hitPathSession
	hitSession
	hitDrop
	hitNoEmpty
	hitEq
	hitForm
	hitSort
	hitOnce
	hitHTTPS
	hitWWW
	hitSlashes
	hitIndexFile
	hitTrail
	hitNFC
	hitLowerPath
	hitLowerQuery

	// NumHits is how many hits there are.
	NumHits = iota + numRules

	numRules = 17 // how many names of Rules there are
)

var hitNames = [NumHits]string{
	hitResolve: "resolve", hitTrim: "trim-c0sp", hitTabs: "del-tabnl", hitMalformed: "malformed-encode", hitSplit: "split-whatwg",
	hitRootDot: "host-rootdot", hitIPv4: "host-ip4", hitPathSession: "psid",
	hitSession: "qsid", hitDrop: "q-drop", hitNoEmpty: "q-noempty", hitEq: "q-eq", hitForm: "q-form",
	hitSort: "q-sort-name", hitOnce: "q-once", hitHTTPS: "https-http",
	hitWWW: "www-one", hitSlashes: "slash-one", hitIndexFile: "dirindex", hitTrail: "slash-trail",
	hitNFC: "nfc", hitLowerPath: "lower-path", hitLowerQuery: "lower-query",
}

func init() { copy(hitNames[:], ruleNames) }

// String returns the rule's name as it appears in output: "dots-rfc".
func (h Hit) String() string {
	if int(h) < len(hitNames) {
		return hitNames[h]
	}
	return "unknown"
}

// Hits is a set of rules that have changed a URL. The zero Hits is empty. Sets can
// be compared with ==.
type Hits uint64

// Has reports whether h is in the set.
func (s Hits) Has(h Hit) bool { return s>>h&1 != 0 }

// Union returns the rules that are in s, in o, or in both.
func (s Hits) Union(o Hits) Hits { return s | o }

// Without returns the rules of s that are not in o.
func (s Hits) Without(o Hits) Hits { return s &^ o }

// Len returns how many rules are in the set.
func (s Hits) Len() int { return bits.OnesCount64(uint64(s)) }

// All yields the rules of the set, in the order of their numbers.
func (s Hits) All() iter.Seq[Hit] {
	return func(yield func(Hit) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Hit(bits.TrailingZeros64(uint64(s)))) {
				return
			}
		}
	}
}

// AppendTo appends the names of the rules in the set, in the order of their
// numbers, separated by commas.
func (s Hits) AppendTo(dst []byte) []byte {
	start := len(dst)
	for h := range s.All() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(dst, h.String()...)
	}
	return dst
}

// String returns what AppendTo appends.
func (s Hits) String() string { return string(s.AppendTo(nil)) }

// add puts h in the set if it is so.
func (s *Hits) add(h Hit, so bool) { *s |= Hits(b2i(so)) << h }

// Hits returns the rules that have changed something on the way from src to its
// normal form: those that Trace names. src, norm and r must be as the last call of
// Append or AppendRef took and left them. It takes no time for a URL that is its
// own normal form, and little for most others, as it compares what came with what
// was written. A few take as long as normalizing once for each rule of the
// profile: those of which bytes and escapes do not tell it.
func (n *Normalizer) Hits(src, norm []byte, r *Result) Hits {
	s := &r.scratch
	switch {
	case s.clean && !s.dropped:
		return 0
	case n.profile.Standard == RFC && s.resolved:
		return n.hitsRFC(src, norm, r)
	case bytes.Equal(src, norm):
		return 0
	case n.profile.Standard == RFC:
		return n.hitsRFC(src, norm, r)
	case n.rules.Has(FallbackRFC) && r.Flags.Has(WHATWGReject):
		return hitsOf(FallbackRFC)
	}
	hits, full, out := Hits(0), norm, &r.Out
	if s.dropped {
		full, out = s.full, &s.whole
		hits.add(ruleHit(DropUserinfo), out.Has(Username) && !r.Out.Has(Username))
		hits.add(ruleHit(DropFragment), out.Has(Fragment) && !r.Out.Has(Fragment))
	}
	if s.clean {
		return hits
	}
	return hits | n.hitsWHATWG(src, full, out, r)
}

// KeyHits returns the rules that have changed something on the way from K1 to the
// canonical strings of K2 and K3: those that TraceKey names, for the levels that
// AppendKey and Key have made of the URL since the last call of Append or
// AppendRef. K3 is made of K2, so its hits are with those of K2.
func (r *Result) KeyHits() Hits { return r.scratch.keyHits }

// queryHits returns the hits of what package params has done to a query: the bits
// of why, from params.WhySession on, have the order of the hits.
func queryHits(why params.Why) Hits { return Hits(why/params.WhySession) << hitSession }

// hitsOf returns the hits that rules have.
func hitsOf(rules Rules) Hits { return Hits(rules) }

// ruleHit returns the hit of one rule.
func ruleHit(rule Rules) Hit { return Hit(bits.TrailingZeros32(uint32(rule))) }

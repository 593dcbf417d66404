package codec

import "bytes"

// Hits returns the rules that have changed something on the way from src to its
// normal form: those that Trace names. src, norm and r must be as the last call of
// Append or AppendRef took and left them. It takes no time for a URL that is its
// own normal form, and little for most others, as it compares what came with what
// was written. A few take as long as normalizing once for each rule of the
// profile: those of which bytes and escapes do not tell it.
func (n *Normalizer) Hits(src, norm []byte, r *Result) Rules {
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
		return 1 << FallbackRFC
	}
	hits, full, out := Rules(0), norm, &r.Out
	if s.dropped {
		full, out = s.full, &s.whole
		hits.set(DropUserinfo, out.Has(Username) && !r.Out.Has(Username))
		hits.set(DropFragment, out.Has(Fragment) && !r.Out.Has(Fragment))
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
func (r *Result) KeyHits() Rules { return r.scratch.keyHits }

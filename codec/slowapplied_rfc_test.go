package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/percent"
)

// This file determines which rules of RFC 3986 changed a URL. Most of them have
// a flag of their own, or change a component that no other rule changes.

// Flags that imply an applied rule of RFC 3986, wherever they occur.
var (
	malformedFlags = Flags{}.With(FlagTruncated).With(FlagNonHex).With(FlagPercentU)
	rawFlags       = Flags{}.With(FlagRawControl).With(FlagRawSpace).With(FlagRawNonASCII).With(FlagRawBackslash).With(FlagRawIllegal)
)

// hitsRFC is hits for RFC 3986.
func (n *Normalizer) hitsRFC(src, norm []byte, r *Result) ruleSet {
	hits, read := ruleSet(0), r
	if r.scratch.resolved {
		text := r.scratch.text
		hits.set(ruleResolve, !bytes.Equal(src, text))
		src, read = text, new(Result)
		read.reset()
		_, _ = split(src, &read.In) // cannot fail: the text was split before
		n.inspect(nil, src, read)
	}
	u := &read.In
	host := u.Bytes(src, Host)
	if !n.rules.hasAll(syntaxRules) || n.profile.Malformed != percent.MalformedEncode || hasPrefix(host, '[') && bytes.IndexByte(host, '%') >= 0 {
		return hits | n.climb(nil, src, r)
	}
	f := read.Flags
	hits.set(ruleMalformed, !f.Intersect(malformedFlags).IsZero())
	hits.set(RuleEncodeIllegal, !f.Intersect(rawFlags).IsZero())
	hits.set(RuleUpperEscapes, f.Has(FlagLowerHex))
	hits.set(RuleDecodeUnreserved, f.Has(FlagNeedlessEscape))
	hits.set(RuleLowerScheme, !bytes.Equal(u.Bytes(src, Scheme), r.Out.Bytes(norm, Scheme)))
	hits.set(RuleRemoveDots, f.Has(FlagDotSegments) && u.Has(Scheme) && hasPrefix(u.Bytes(src, Path), '/'))
	hits.set(RuleGuardPath, guarded(src, u, norm, &r.Out))
	hits.set(RuleDefaultPort, u.Has(Port) && (!r.Out.Has(Port) || u.Span(Port).Len() != r.Out.Span(Port).Len()))
	hits.set(RuleEmptyPath, u.Span(Path).Len() == 0 && r.Out.Span(Path).Len() > 0)
	hits.set(RuleFileLocalhost, r.Out.HasAuthority() && !u.HasAuthority())
	hits.set(RuleEmptyUserinfo, u.Has(Username) && !r.Out.Has(Username))
	return hits | hostHits(host, r.Out.Bytes(norm, Host), u.kind)
}

// guarded reports whether RuleGuardPath inserted something before the path. A path
// that begins with "//" and follows no authority results from RuleRemoveDots;
// RuleFileLocalhost makes the guard unnecessary again.
func guarded(src []byte, u *URL, norm []byte, out *URL) bool {
	path := out.Bytes(norm, Path)
	switch {
	case u.HasAuthority():
		return false
	case !u.Has(Scheme):
		return colonInFirstSegment(u.Bytes(src, Path)) >= 0
	case out.HasAuthority():
		return bytes.HasPrefix(path, slashes)
	}
	return bytes.HasPrefix(path, guardedPath)
}

// hostHits returns the rules that changed a host of the given kind to out.
func hostHits(host, out []byte, kind HostKind) (hits ruleSet) {
	if bytes.Equal(host, out) {
		return 0
	}
	upper, beyond := false, false
	for i := 0; i < len(host); i++ {
		c := host[i]
		if isTriplet(host[i:]) {
			c = percent.Unhex(host[i+1])<<4 | percent.Unhex(host[i+2])
			i += 2
		}
		upper, beyond = upper || isUpper(c), beyond || c >= 0x80
	}
	hits.set(RuleLowerHost, upper)
	switch {
	case kind == HostIPv6:
		hits.set(RuleShortIPv6, !bytes.EqualFold(host, out))
	case beyond:
		hits.set(RuleASCIIDomain, !hasEscapedNonASCII(out))
	default:
		hits.set(RuleFileLocalhost, len(out) == 0)
	}
	return hits
}

package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/psl"
)

// This file splits hosts by the Public Suffix List (https://publicsuffix.org).
// The list changes over time: the results depend on its edition, which
// SiteListVersion names. The edition changes only with the table of package
// psl.

// SiteListVersion returns the date of the built-in edition of the Public Suffix
// List, in the form 2006-01-02.
func SiteListVersion() string { return psl.Version }

// AppendSite appends the registrable domain of host: its public suffix and one
// more label, in lower case, without a trailing dot. If private is true, the
// suffixes include those under which companies register names for their
// customers (github.io); otherwise only suffixes of registries count.
//
// host must be as in a normal form: ASCII, with A-labels. If it has no registrable
// domain, AppendSite appends nothing and returns false. Hosts without a registrable
// domain are a public suffix, a single label, a host with an empty label, an IP address
// in any form that browsers accept, and an empty host. A top-level domain that is not
// on the list counts as a public suffix, as the list's algorithm prescribes.
func AppendSite(dst, host []byte, private bool) (out []byte, ok bool) {
	start := len(dst)
	out = appendLower(dst, bytes.TrimSuffix(host, rootDot))
	at, ok := siteOffset(out[start:], private)
	if !ok {
		return out[:start], false // out may have grown
	}
	n := copy(out[start:], out[start+at:])
	return out[:start+n], true
}

// cutWWW returns host without a leading "www.", as the rule www-one does. It
// removes the prefix only once, and only if the rest is not an IP address and
// has a registrable domain, counting private suffixes. host must be as in a
// normal form. The result is a subslice of host.
func cutWWW(host []byte) []byte {
	if len(host) < len(www) || string(host[:len(www)]) != www {
		return host
	}
	rest := host[len(www):]
	if _, ok := suffixOffset(bytes.TrimSuffix(rest, rootDot), true); !ok {
		return host
	}
	return rest
}

const www = "www."

var rootDot = []byte(".")

// siteOffset returns the offset of the registrable domain in host, which must
// be in lower case and have no trailing dot.
func siteOffset(host []byte, private bool) (at int, ok bool) {
	at, ok = suffixOffset(host, private)
	if !ok {
		return 0, false
	}
	return bytes.LastIndexByte(host[:at-1], '.') + 1, true
}

// suffixOffset returns the offset of the public suffix in a host as AppendSite
// expects it, and whether the host is a name below that suffix.
func suffixOffset(host []byte, private bool) (at int, ok bool) {
	if len(host) == 0 || bytes.IndexByte(host, '[') >= 0 || hasEmptyLabel(host) || !cleanHostEnd(host) && endsInNumber(host) {
		return 0, false
	}
	suffix, _ := psl.SuffixLen(host, private)
	at = len(host) - suffix
	return at, at > 0
}

// isBelowSuffix reports whether host, a name without empty labels that is not
// an IP address, is below a public suffix, counting private ones.
func isBelowSuffix(host []byte) bool {
	return !psl.IsSuffix(host)
}

// hasEmptyLabel reports whether host, which must not be empty, begins or ends
// with a dot or contains two consecutive dots.
func hasEmptyLabel(host []byte) bool {
	return host[0] == '.' || host[len(host)-1] == '.' || bytes.Contains(host, twoDots)
}

var twoDots = []byte("..")

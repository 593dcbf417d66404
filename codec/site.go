package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/psl"
)

// This file cuts hosts by the Public Suffix List (https://publicsuffix.org). The
// list ages: what is said here of a host is said by one edition of the list,
// which SiteListVersion names. The edition changes only with the table of package
// psl.

// SiteListVersion says which edition of the Public Suffix List decides: its day,
// as in 2006-01-02.
func SiteListVersion() string { return psl.Version }

// AppendSite appends the registrable domain of host: its public suffix and one
// label more, in lower case, without a root dot. With private, the suffixes
// count too under which companies register names for their customers
// (github.io); without, only those of registries.
//
// host is as in a normal form: ASCII, with A-labels. If it has no registrable
// domain, ok is false and out is dst as it was given: a public suffix has none,
// nor a single label, a host with an empty label, an IP address in any form that
// browsers read as one, or no host. A top-level domain that is not on the list is
// a public suffix, as the list's algorithm says.
func AppendSite(dst, host []byte, private bool) (out []byte, ok bool) {
	start := len(dst)
	out = appendLower(dst, bytes.TrimSuffix(host, rootDot))
	at, ok := siteOffset(out[start:], private)
	if !ok {
		return dst, false
	}
	n := copy(out[start:], out[start+at:])
	return out[:start+n], true
}

// CutWWW returns host without a "www." in front, if what then remains is no IP
// address and still has a registrable domain, private suffixes counted: rule
// www-one. It cuts once. host is as in a normal form; the result is a part of it.
func CutWWW(host []byte) []byte {
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

// siteOffset returns where in host, which is in lower case and has no root dot,
// its registrable domain begins.
func siteOffset(host []byte, private bool) (at int, ok bool) {
	at, ok = suffixOffset(host, private)
	if !ok {
		return 0, false
	}
	return bytes.LastIndexByte(host[:at-1], '.') + 1, true
}

// suffixOffset returns where the public suffix of such a host begins, if the host
// is below it.
func suffixOffset(host []byte, private bool) (at int, ok bool) {
	if len(host) == 0 || bytes.IndexByte(host, '[') >= 0 || hasEmptyLabel(host) || !cleanHostEnd(host) && endsInNumber(host) {
		return 0, false
	}
	suffix, _ := psl.SuffixLen(host, private)
	at = len(host) - suffix
	return at, at > 0
}

// hasEmptyLabel reports whether host, which is not empty, begins or ends with a
// dot or has two together.
func hasEmptyLabel(host []byte) bool {
	return host[0] == '.' || host[len(host)-1] == '.' || bytes.Contains(host, twoDots)
}

var twoDots = []byte("..")

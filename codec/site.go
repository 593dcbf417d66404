package codec

import (
	"bytes"
	"strings"
	"unsafe"

	"golang.org/x/net/publicsuffix"
)

// This file cuts hosts by the Public Suffix List (https://publicsuffix.org). The
// list ages: what is said here of a host is said by one edition of the list,
// which SiteListVersion names. The edition changes only with the version of
// golang.org/x/net in go.mod.

// SiteListVersion says which edition of the Public Suffix List decides: its Git
// revision and date.
func SiteListVersion() string { return publicsuffix.List.String() }

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
//
// It allocates: package publicsuffix tries to read an IP address first, and makes
// an error of 48 bytes of that. There is one for each of its calls: one with
// private, two or more without.
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
// It allocates as [AppendSite] does, and only if there is a "www.".
func CutWWW(host []byte) []byte {
	rest, found := bytes.CutPrefix(host, www)
	if !found {
		return host
	}
	if _, ok := siteOffset(bytes.TrimSuffix(rest, rootDot), true); !ok {
		return host
	}
	return rest
}

var (
	www     = []byte("www.")
	rootDot = []byte(".")
)

// siteOffset returns where in host, which is in lower case and has no root dot,
// its registrable domain begins.
func siteOffset(host []byte, private bool) (at int, ok bool) {
	if len(host) == 0 || host[0] == '[' || hasEmptyLabel(host) || endsInNumber(host) {
		return 0, false
	}
	suffix := suffixLen(host, private)
	if suffix >= len(host) {
		return 0, false
	}
	before := host[:len(host)-suffix-1]
	return bytes.LastIndexByte(before, '.') + 1, true
}

// hasEmptyLabel reports whether host begins or ends with a dot or has two
// together.
func hasEmptyLabel(host []byte) bool {
	last := byte('.')
	for _, c := range host {
		if c == '.' && last == '.' {
			return true
		}
		last = c
	}
	return last == '.'
}

// suffixLen returns the length of the public suffix of host, which is not empty.
func suffixLen(host []byte, private bool) int {
	// The string shares the bytes of host. It does not outlive the call, and host
	// does not change during it: PublicSuffix looks the labels up in its own
	// tables and returns a part of the string, of which only the length is used.
	name := unsafe.String(unsafe.SliceData(host), len(host))
	suffix, _ := publicsuffix.PublicSuffix(name)
	if private {
		return len(suffix)
	}
	return len(registrySuffix(suffix))
}

// registrySuffix returns the public suffix in the ICANN section of the list of a
// name that is a suffix by the whole list. The two differ if it is private: then
// the other is found further up.
func registrySuffix(suffix string) string {
	for {
		// Asked for the suffix alone: asked for a name below it, PublicSuffix can
		// give the flag of a part of a longer rule that did not match.
		_, icann := publicsuffix.PublicSuffix(suffix)
		dot := strings.IndexByte(suffix, '.')
		if icann || dot < 0 {
			return suffix
		}
		suffix, _ = publicsuffix.PublicSuffix(suffix[dot+1:])
	}
}

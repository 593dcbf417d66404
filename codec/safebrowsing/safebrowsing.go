// Package safebrowsing lists what a client of Google Safe Browsing looks up for
// a URL. The URL must be canonical: the normal form of the profile gsb-v4 or
// gsb-v5. The list of a client contains hashes (SHA-256) of expressions: a
// suffix of the host and a prefix of the path.
//
// The specifications are https://developers.google.com/safe-browsing/v4/urls-hashing
// and https://developers.google.com/safe-browsing/reference/URLs.and.Hashing.
package safebrowsing

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/psl"
)

// A Version is a version of the protocol.
type Version int

// The versions. They differ in the suffixes of the host that are looked up: V4
// takes the last two to five labels, V5 up to four names from the registrable
// domain upwards, by the Public Suffix List with its private section.
const (
	V4 Version = 4
	V5 Version = 5
)

// Limits of both specifications.
const (
	maxSuffixes = 4 // suffixes of the host, besides the host itself
	maxPrefixes = 4 // prefixes of the path that end in a slash
)

// Expressions returns the expressions of a canonical URL, at most 30, without
// repeats. The first is the URL itself, without scheme. It returns nil if
// canonical contains no "://" and host.
func Expressions(canonical []byte, v Version) []string {
	_, rest, ok := bytes.Cut(canonical, []byte("://"))
	slash := bytes.IndexByte(rest, '/')
	if !ok || slash <= 0 {
		return nil
	}
	var list []string
	for _, host := range hosts(rest[:slash], v) {
		for _, path := range paths(rest[slash:]) {
			list = append(list, host+path)
		}
	}
	return list
}

// hosts returns the host, and its suffixes from the longest to the shortest.
func hosts(host []byte, v Version) []string {
	list := []string{string(host)}
	if isAddress(host) {
		return list
	}
	shortest := 2 // the shortest suffix, in labels
	if v >= V5 {
		n, _ := psl.SuffixLen(host, true)
		if n == len(host) {
			return list // the host has no registrable domain
		}
		shortest = 2 + bytes.Count(host[len(host)-n:], []byte("."))
	}
	labels := bytes.Count(host, []byte(".")) + 1
	for n := min(labels-1, shortest+maxSuffixes-1); n >= shortest; n-- {
		list = append(list, string(suffix(host, labels-n)))
	}
	return list
}

// suffix returns host without its first n labels.
func suffix(host []byte, n int) []byte {
	for range n {
		host = host[bytes.IndexByte(host, '.')+1:]
	}
	return host
}

// isAddress reports whether a canonical host is an IP address.
func isAddress(host []byte) bool {
	if host[0] == '[' {
		return true
	}
	for _, b := range host {
		if b != '.' && (b < '0' || b > '9') {
			return false
		}
	}
	return bytes.Count(host, []byte(".")) == 3
}

// paths returns the path with its query, the path without it, and the prefixes
// of the path from "/" on.
func paths(target []byte) []string {
	path, query, _ := bytes.Cut(target, []byte("?"))
	var list []string
	if len(query) > 0 {
		list = append(list, string(target))
	}
	list = append(list, string(path))
	for i, found := 0, 0; i < len(path)-1 && found < maxPrefixes; i++ {
		if path[i] == '/' {
			list = append(list, string(path[:i+1]))
			found++
		}
	}
	return list
}

// Package surt converts keys to a form whose order suits range scans: the
// Sort-friendly URI Reordering Transform of web archives, without its
// ambiguities.
//
//	http://www.example.com:8080/a?b#c   becomes   com,example,www:8080)/a?b#c
package surt

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// Options controls the output of Append. The zero value gives the form used in
// the indexes of web archives.
type Options struct {
	WithScheme    bool // "http://(com,example)/" for "com,example)/"
	TrailingComma bool // "com,example,)/" for "com,example)/"
}

// Append appends the sort key of key, a canonical string with the components u, and
// returns the extended slice. The sort key consists of the labels of the host in
// reverse order, separated by commas, then ":port", ")", path, "?query" and
// "#fragment", if they are present. dst and key must not overlap.
//
// Userinfo is omitted and, without WithScheme, the scheme. Everything else can
// be recovered: two keys have the same sort key only if they are equal in host,
// port, path, query and fragment. Therefore a comma in a host is written "%2c"
// (the escapes of a key have upper-case digits), an IP address keeps its order
// and its brackets, and a trailing dot stays at the end: "com,example.". A host
// of the kind [codec.HostOpaque] is unchanged except for commas.
//
// A domain sorts next to its subdomains. TrailingComma adds a comma after every
// domain name, but not after addresses, so that the prefix "com,example,"
// matches exactly example.com and its subdomains, on any port.
//
// A URL without an authority cannot sort by host. It is copied unchanged, after
// a ")" if WithScheme is not set: ")mailto:a@b". Without a scheme, an empty
// host and an absent one look the same: both "///a" and "/a" give ")/a".
func Append(dst, key []byte, u *codec.URL, o Options) []byte {
	if !u.HasAuthority() {
		if !o.WithScheme {
			dst = append(dst, ')')
		}
		return append(dst, key...)
	}
	if o.WithScheme {
		if u.Has(codec.Scheme) {
			dst = append(append(dst, u.Bytes(key, codec.Scheme)...), ':')
		}
		dst = append(dst, "//("...)
	}
	dst = appendReversed(dst, u.Bytes(key, codec.Host), u.HostKind(), o.TrailingComma)
	dst = appendPart(dst, ':', key, u, codec.Port)
	dst = append(append(dst, ')'), u.Bytes(key, codec.Path)...)
	dst = appendPart(dst, '?', key, u, codec.Query)
	return appendPart(dst, '#', key, u, codec.Fragment)
}

// appendPart appends component c of key, preceded by its delimiter, if it is
// present.
func appendPart(dst []byte, delimiter byte, key []byte, u *codec.URL, c codec.Component) []byte {
	if !u.Has(c) {
		return dst
	}
	return append(append(dst, delimiter), u.Bytes(key, c)...)
}

// appendReversed appends the labels of a host in reverse order.
func appendReversed(dst, host []byte, kind codec.HostKind, trailingComma bool) []byte {
	switch kind {
	case codec.HostNone, codec.HostIPv4, codec.HostIPv6, codec.HostIPvFuture, codec.HostBadLiteral:
		return append(dst, host...)
	case codec.HostOpaque:
		return appendLabel(dst, host)
	}
	names := bytes.TrimSuffix(host, rootDot)
	for end := len(names); ; {
		dot := bytes.LastIndexByte(names[:end], '.')
		dst = appendLabel(dst, names[dot+1:end])
		if dot < 0 {
			break
		}
		dst = append(dst, ',')
		end = dot
	}
	if trailingComma {
		dst = append(dst, ',')
	}
	return append(dst, host[len(names):]...)
}

var rootDot = []byte(".")

// appendLabel appends a label with its commas escaped.
func appendLabel(dst, label []byte) []byte {
	for _, c := range label {
		if c == ',' {
			dst = append(dst, "%2c"...)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

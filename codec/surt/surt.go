// Package surt writes keys in an order for range scans: Sort-friendly URI
// Reordering Transform, as web archives have it, without what makes theirs
// ambiguous.
//
//	http://www.example.com:8080/a?b#c   becomes   com,example,www:8080)/a?b#c
package surt

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
)

// Options say how Append writes. The zero value is the form of indexes.
type Options struct {
	WithScheme    bool // "http://(com,example)/" for "com,example)/"
	TrailingComma bool // "com,example,)/" for "com,example)/"
}

// Append appends the sort key "surt-safe" of key, a canonical string with the
// components u, and returns the extended slice: the labels of the host in
// reverse, with commas between them, then ":port", ")", path, "?query" and
// "#fragment", where these are present.
//
// Userinfo is left out, and without WithScheme the scheme. All else can be read
// back: two keys have the same sort key only if they are equal in host, port,
// path, query and fragment. So a comma in a host is written "%2c" (the escapes of
// a key have upper-case digits), an IP address keeps its order and its brackets,
// and a root dot stays at the end, "com,example.". A host of the kind [codec.OpaqueHost]
// is written as it is, but for commas.
//
// A domain stands next to its subdomains. With TrailingComma, which sets a comma
// behind all names but none behind addresses, those on any port are just what
// begins with "com,example,".
//
// A URL without authority has no name to sort by. It is written as it is, behind
// a ")" if WithScheme is not set: ")mailto:a@b". An empty host cannot be told from
// none where there is no scheme: "///a" and "/a" both give ")/a".
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

// appendPart appends component c of key with its delimiter, if it is present.
func appendPart(dst []byte, delimiter byte, key []byte, u *codec.URL, c codec.Component) []byte {
	if !u.Has(c) {
		return dst
	}
	return append(append(dst, delimiter), u.Bytes(key, c)...)
}

// appendReversed appends the labels of a host in reverse.
func appendReversed(dst, host []byte, kind codec.HostKind, trailingComma bool) []byte {
	switch kind {
	case codec.NoHost, codec.IPv4, codec.IPv6, codec.IPvFuture, codec.BadLiteral:
		return append(dst, host...)
	case codec.OpaqueHost:
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

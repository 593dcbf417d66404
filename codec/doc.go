// Package codec takes URLs apart, puts them in normal form, and gives equal URLs
// equal keys. It works on byte slices and, once warm, allocates nothing.
//
// # Calls
//
// [Parse] finds the components of a URL and what is wrong with it. A
// [Normalizer], made once from a [Profile], appends the normal form of a URL to
// a slice. Its Key method gives the hash of the URL's canonical string at a
// [Level].
//
//	p, _ := codec.Lookup("rfc3986-scheme")
//	n, err := codec.New(p)
//	...
//	var r codec.Result // one per goroutine, reused for ever
//	for _, src := range urls {
//		out, err = n.Append(out[:0], src, &r)
//		...
//		key := n.Key(codec.K1, src, out, &r)
//	}
//
// # Who owns what
//
// The caller owns every slice. A call reads src, appends to dst, and keeps
// neither: nothing in a [Result] points into src or dst. dst and src must not
// overlap. A Result belongs to one goroutine; a Normalizer may be shared.
//
// # Offsets
//
// A [URL] holds offsets, not slices. Those of Result.In count from the start of
// src; those of Result.Out from the first byte that was appended, so they hold
// after dst has grown and moved.
//
// # Defects and errors
//
// A defect is something that a URL lives with: a '%' that starts no escape, a
// raw space, an octal IPv4 address. It never fails a call; it sets a [Flag], and
// its place is a [Mark]. An [Error] means that the grammar has no reading of the
// URL at all. On error dst comes back as it was given.
//
// # Promises
//
// Normalizing a normal form changes nothing. Keys nest: URLs that are equal at
// one level are equal at every higher one. The bytes and hashes of a key
// function never change; if the meaning has to change, so does its version
// ([KeyFunction]).
package codec

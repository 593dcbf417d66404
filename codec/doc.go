// Package codec takes URLs apart, puts them in normal form, and gives equal URLs
// equal keys. It works on byte slices and, once warm, allocates nothing.
//
// # Calls
//
// [Parse] finds the components of a URL and what is wrong with it. A
// [Normalizer], made once from a [Profile], appends the normal form of a URL to
// a slice. The [Result] gives the hash of the URL's canonical string at a [Level].
// For one URL there is [Normalize].
//
//	p, _ := codec.Lookup("equiv")
//	n, err := codec.New(p)
//	...
//	var r codec.Result // one per goroutine, reused for ever
//	for _, src := range urls {
//		out, err = n.Append(out[:0], src, &r)
//		...
//		key := r.Key(codec.K1)
//	}
//
// # Two readings, four levels of keys
//
// A URL is read as browsers read it ([WHATWG], the default of most profiles) or
// as RFC 3986 has it ([RFC]). Where the two see different hosts, the flag
// [HostAmbiguous] says so. A normal form is for fetching and showing; a key is
// for comparing. K0 and K1 are what RFC 3986 calls equivalent, K2 is what a
// crawler need not fetch twice, K3 is what is one page to an analyst. Each is
// computed from the one before, so URLs that are equal at one level are equal at
// every higher one.
//
// # Files
//
//	split.go, ip.go             components by RFC 3986
//	whatwg*.go                  components by the URL Standard, its states and its hosts
//	clean.go, class.go          the fast path, and the tables that it shares with the rest
//	onepass*.go                 the second one, for http and https URLs with everyday dirt
//	inspect.go, flag*.go        what is wrong, and where
//	profile.go, rule.go         profiles and rules as data
//	normalize.go, drop.go       the normal form
//	key.go, lossy.go, policy.go the keys, standard and lossy
//	plainkey.go                 the fast way to the lossy ones
//	resolve.go                  references
//	trace.go                    what each rule did
//	iri.go, surt.go, site.go, template.go   other forms of output
//
// # Who owns what
//
// The caller owns every slice. A call reads src and appends to dst, which must not
// overlap. A [Result] remembers both until the next call, to answer questions: they
// must not change as long as it is asked. Built with the tag invariants it panics
// if they have. A Result belongs to one goroutine; a Normalizer may be shared.
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
// its place is a [Diagnostic]. An [Error] means that the grammar has no reading of the
// URL at all. On error dst comes back as it was given.
//
// # Promises
//
// Normalizing a normal form changes nothing. Keys nest: URLs that are equal at
// one level are equal at every higher one. The bytes and hashes of a key
// function never change; if the meaning has to change, so does its version
// ([KeyFunction]).
package codec

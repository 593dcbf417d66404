// Package codec parses URLs, puts them in normal form, and gives equivalent
// URLs equal keys. It works on byte slices and allocates nothing once its
// buffers have grown.
//
// # Calls
//
// [Parse] finds the components of a URL and reports its defects. A
// [Normalizer], made once from a [Profile], appends the normal form of a URL to
// a slice. The [Result] of that call gives the URL's key at each [Level]: the
// hash of a canonical string. [Normalizer.Normalize] does all of this for a
// single URL.
//
//	n := codec.MustNamed("equiv")
//	var r codec.Result // one per goroutine, reused for every URL
//	for _, src := range urls {
//		out, err = n.Append(out[:0], src, &r)
//		...
//		key := r.Key(codec.LevelEquivalent)
//	}
//
// # Two standards, four key levels
//
// A URL is parsed either as browsers parse it ([WHATWG], the default of most
// profiles) or by the grammar of RFC 3986 ([RFC3986]). Where the two standards see
// different hosts, the flag [FlagHostAmbiguous] is set.
//
// A normal form is for fetching and display; a key is for comparison. K0 and K1
// identify URLs that RFC 3986 calls equivalent. K2 identifies URLs that a
// crawler need not fetch twice. K3 identifies URLs that an analyst counts as
// one page. Each level is computed from the one before, so URLs with equal keys
// at one level have equal keys at every higher level.
//
// # Ownership
//
// The caller owns every slice. A call reads src and appends to dst; the two
// must not overlap. A [Result] keeps references to both until the next call,
// because its methods read them: do not modify either slice while you still
// call methods of the Result. Built with the tag invariants, a Result panics if
// either has changed. A Result belongs to one goroutine at a time; a Normalizer
// may be used by several concurrently.
//
// # Offsets
//
// A [URL] holds offsets, not slices. The offsets in Result.In count from the
// start of src. Those in Result.Out count from the first appended byte, so they
// remain valid when dst grows and moves.
//
// # Defects and errors
//
// A defect is a fault that does not prevent parsing: a '%' that starts no valid
// escape, a raw space, an octal IPv4 address. A defect never makes a call fail.
// It sets a [Flag], and a [Diagnostic] gives its offset. An [Error] means that
// the URL cannot be parsed by the chosen standard at all. On error the returned
// slice is dst, unchanged.
//
// # Guarantees
//
// Normalizing a normal form does not change it. Keys nest: URLs that are equal
// at one level are equal at every higher level. The canonical strings and
// hashes of a key function never change; a change of meaning gets a new version
// ([KeyFunction]).
package codec

// The files of this package:
//
//	url.go, result.go, error.go             URL, Result, and why a URL cannot be parsed
//	standard.go, once.go, check.go, text.go Standard; one URL in one call; texts of values
//	split.go, ip.go, scheme.go, bytes.go    components by RFC 3986
//	whatwg*.go                              components by the URL Standard: states and hosts
//	clean*.go, class.go                     the fast path, and the byte tables that all parsers
//	                                        share
//	onepass*.go, dots.go                    the second fast path, for http and https URLs with
//	                                        common defects
//	inspect.go, hosts.go, flag*.go          defects and their offsets
//	profile*.go, rule.go, match.go          profiles and rules as data
//	normalize.go, drop.go, queryencoding.go the normal form
//	target.go                               request targets that stay as they are
//	key.go, keyform.go, lossy.go, policy.go keys K0 to K3
//	plainkey.go, keepspath.go               the fast path to K2 and K3
//	surface.go, hostkey.go                  parts of a key
//	resolve.go                              relative references
//	trace.go, recorder.go                   the effect of each rule
//	nfc.go, site.go                         Unicode normalization in keys; registrable domains
//	result_*.go                             checks of the build tag invariants

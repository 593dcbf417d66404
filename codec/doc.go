// Package codec parses URLs, puts them in normal form, and gives equivalent
// URLs equal keys. It allocates nothing once its buffers have grown.
//
// [Parse] finds the components of a URL and reports its defects. A
// [Normalizer], made once from a [Profile], appends the normal form of a URL to
// a slice. The [Result] of that call gives the URL's key at each [Level].
// [Normalizer.Normalize] does all of this for a single URL.
//
//	n := codec.MustNamed("equiv")
//	var r codec.Result // one per goroutine, reused for every URL
//	for _, src := range urls {
//		out, err = n.Append(out[:0], src, &r)
//		...
//		key := r.Key(codec.LevelEquivalent)
//	}
//
// A call reads src and appends to dst, which the caller owns; the two must not
// overlap. On error, it returns dst unchanged. A defect such as "%zz" is not an
// error: it sets a [Flag], and a [Diagnostic] gives its offset.
//
// Normalizing a normal form does not change it. A key hashes a canonical
// string. The canonical strings and hashes of a [KeyFunction] never change; a
// change of meaning gets a new key function.
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
//	surface.go                              parts of a key
//	resolve.go                              relative references
//	trace.go, recorder.go                   the effect of each rule
//	nfc.go, site.go                         Unicode normalization in keys; registrable domains
//	result_*.go                             checks of the build tag invariants

// Package idna converts the domain of a URL to ASCII, exactly as the URL
// Standard of mid-2026 prescribes, and back to Unicode for display.
//
// # Rules
//
// [AppendASCII] is the standard's "domain to ASCII" with beStrict false
// (https://url.spec.whatwg.org/#concept-domain-to-ascii, including the change
// of 2026-06-25 that accepts every ASCII domain). It implements UTS 46 revision
// 35 with nontransitional processing; CheckHyphens, UseSTD3ASCIIRules,
// VerifyDnsLength and IgnoreInvalidPunycode are false, CheckBidi and
// CheckJoiners are true. [Strict] is the run with beStrict true, which decides
// about the validation error domain-to-ASCII. [Valid] reports what AppendASCII
// does not check in ASCII domains. [AppendUnicode] is for display only.
//
// # Limits
//
// The time is O(n log n) in the length of the domain after mapping, for any
// input: in Punycode, normalization and the label checks, no quadratic part
// extends beyond labels of 256 code points. There is no length limit; the
// caller has to set one. 64 KiB take about 10 ms in the worst case, except for
// U+FDFA, which maps 3 bytes to 18 code points: 0.1 s. The output has at most
// 72 bytes per byte of input.
//
// ASCII domains do not allocate. Other domains do not allocate unless a label
// has more than 256 code points after mapping and decomposition.
//
// # Tables
//
// gen_test.go makes tables.go from the three files in the folder data, which
// contain the required parts of the Unicode Character Database and of the IDNA
// mapping table, version 17 ([UnicodeVersion]). The data is under the Unicode
// License V3 (data/LICENSE). The tables of golang.org/x/net/idna change with
// the Go release, which would change keys; therefore this package has its own.
//
// To update Unicode: generate the files again with data/import.mjs as described
// in data/README.md, set the version in gen_test.go, run go generate, and check the
// results of the corpora. The digests of TestSingleCharacters must be computed
// again, with another implementation. A stored key changes if its domain
// contains a character whose mapping or validity changed.
package idna

// Package params handles the parameters of a query as key policies need them:
// it splits a query into fields, decodes their names, recognizes tracking
// parameters, session IDs, signatures and campaign data, and builds the
// canonical query of the keys K2 and K3.
//
// # Names and values
//
// Lists contain names as decoded by a form: '+' becomes a space, then escapes
// are decoded once (URL Standard §5.1). One entry therefore covers every
// spelling of a name. Names are compared without regard to ASCII case. Two
// prefixes are ignored, in this order and once each: an escaped '?'
// (%3Futm_source, from an address pasted into another one) and "amp;" (from a
// link that was HTML-escaped once too often).
//
// # Sources of the lists
//
// Default is the list of this project. It is based on the vendors' documentation of
// their own parameters and is under the project's licence. The rules of ClearURLs are
// under the LGPL-3.0, and no part of this package. The functions ParseX read files that
// the user supplies.
//
// # Versions
//
// A key whose query was filtered by a list can be interpreted only with that
// list. Every List therefore has a name and a version: a date for Default; for
// imports, what the user specifies or the first 16 hexadecimal digits of the
// SHA-256 of the file. Matcher.Versions joins the names and versions, in order
// of precedence, to one string for profile IDs, reports and stored keys:
// "default@2026-11-29,clearurls@d055d1e4612be57c". Any change of a rule
// requires a new version.
//
// A Matcher is immutable and safe for concurrent use; each goroutine needs its own
// Scratch. Site, Match, AppendChanged and AppendFiltered allocate only to grow dst and
// the Scratch. Patterns run as automata, in time linear in the length of the text.
package params

// The files of this package:
//
//	pair.go        Pair: a query as fields; names decoded as in a form
//	form.go        form encoding of a single field (rule q-form)
//	shape.go       the shape of a value
//	rule.go        ListRule and List: a parameter list as data
//	plain.go       lists with one rule per line; allow lists; single rules
//	clearurls.go   import of ClearURLs files; clearscope.go: URL patterns
//	imports.go     lists of Brave and Firefox; adguard.go, robots.go: others
//	default.go     the built-in list, default.txt
//	compile.go     Compile: from lists to a Matcher, with all checks
//	scope.go       which rules apply to a host and a path
//	index.go       from a name to its rules; sieve.go rejects most names
//	match.go       Match: drop or keep, and by which rule
//	pattern.go     patterns; automaton.go matches them, and globs
//	session.go     session IDs in queries and paths (rules qsid and psid)
//	signed.go      detection of signed URLs
//	campaign.go    campaign fields and click IDs
//	chart.go       classes of the bytes of a query, as bits
//	field.go       the fields of a query with their properties and order; sorted.go: in order
//	names.go       the names of the fields of a query
//	record.go      Recorder: each step of a canonical query
//	tidy.go        the fast path for most queries
//	style.go       Declaration: how a parameter is written
//	styles.go      CompileStyles: from declarations to Styles
//	reader.go      ParamReader: decoded parameters; pathreader.go: parameters of a path
//	keyquery.go    AppendChanged and AppendFiltered

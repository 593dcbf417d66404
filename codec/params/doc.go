// Package params knows the parameters of a query as policies see them: which fields a query has, what their names mean,
// which of them are tracking, session ids, signatures or campaign data, and the canonical query of the lossy keys.
//
//	pair.go        Pair: a query as fields; names as a form reads them
//	form.go        one field in its form-encoded spelling (rule q-form)
//	shape.go       what a value looks like
//	rule.go        Rule and List: a parameter list as data
//	plain.go       lists a line a rule; allow lists; rules of a configuration
//	clearurls.go   import of ClearURLs files; clearscope.go: their URL patterns
//	default.go     the list that comes with the package
//	compile.go     Compile: lists to a Matcher, and everything that can be wrong with them
//	scope.go       which rules a host and a path call for
//	index.go       from a name to the rules that may mean it; sieve.go dismisses most names before
//	match.go       Match: drop or keep, and by which rule
//	pattern.go     patterns (a subset of regular expressions) and globs; automaton.go runs them
//	session.go     session ids in queries and paths (rules qsid and psid)
//	signed.go      the guard of signed URLs
//	campaign.go    campaign fields and click ids
//	chart.go       what the bytes of a query are, as bits
//	field.go       the fields of a query with all that is known about them, and their order
//	tidy.go        queries that need no fields
//	style.go       Declaration: how a parameter is written, in the words of OpenAPI
//	styles.go      CompileStyles: declarations made ready, and everything that can be wrong with them
//	reader.go      Reader: the parameters of a path and a query, decoded; pathreader.go: those of a path
//	keyquery.go    AppendKeyQuery: the query of a key; AppendFiltered: of a URL to fetch
//
// # Names and values
//
// A list speaks of names as a form reads them: '+' is a space, then escapes are decoded once (URL Standard §5.1). So one
// entry covers every spelling of a name. Names match without regard to ASCII case. A '?' that was escaped into the name
// (%3Futm_source, of an address pasted into another) and an "amp;" in front of it (of a link that was HTML-escaped once
// too often) are passed over, in this order and once.
//
// # Lists and where they come from
//
// Default is this project's own list, made from what the vendors document about their own parameters; it is under the
// project's licence. The rules of ClearURLs are under the LGPL-3.0: none of them is part of this package or of a program
// made from it. ParseClearURLs reads a file that the user brings. ParsePlain reads the user's own lists, and the name
// registries that are published as plain lists.
//
// # How versions travel
//
// A key whose query went through a list means something only beside that list. Every List has a name and a version
// (Default: a date; imports: what the user says, or the first 16 hex digits of the SHA-256 of the file), and
// Matcher.Versions joins them, in the order of precedence, to one string for profile ids, reports and stored keys:
// "default@2026-11-21,clearurls@d055d1e4612be57c". A change of any rule is a new version.
//
// # Purity and cost
//
// The package does no I/O and keeps no state. A Matcher is immutable and safe for concurrent use; each goroutine has a
// Scratch of its own. Site, Match, AppendKeyQuery and AppendFiltered allocate nothing but the growth of dst and Scratch.
// A name that no list could mean costs a hash of its ends and its length. Patterns run as automata, in time linear in
// the text whatever the pattern. Nothing panics on any input.
package params

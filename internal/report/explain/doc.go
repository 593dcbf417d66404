// Package explain describes a URL in full: its components, its diagnostics, the
// rules applied for the normal form and for each key, the verdicts of RFC 3986
// and of the URL Standard, and the level at which its keys become equal to the
// keys of another URL. [Explainer] collects this information; [TextWriter]
// formats it for people and [JSONWriter] for programs.
//
// # Files
//
//	explain.go, keys.go, standards.go,             the model of a URL
//	expressions.go, sentences.go
//	pair.go, difference.go                         the comparison of two URLs
//	redact.go                                      passwords and patterns, masked
//	text.go, text_*.go, draw.go                    as text
//	json.go                                        as JSON
package explain

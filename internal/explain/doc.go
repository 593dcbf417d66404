// Package explain says everything that the codec knows about one URL: its
// components, its diagnostics, each rule that changed it on the way to the normal
// form and to each key, what RFC 3986 and the URL Standard make of it, and at
// which level its keys meet those of another URL. [Explainer] finds this out;
// [TextWriter] draws it for people and [JSONWriter] writes it for programs.
package explain

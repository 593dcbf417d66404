package explain

import "github.com/urlfold/urlfold/codec"

// actionTexts says what was done about a diagnostic.
var actionTexts = map[codec.Action]string{
	codec.Kept:     "Kept as it is.",
	codec.Encoded:  "Encoded.",
	codec.Decoded:  "Decoded.",
	codec.Removed:  "Removed.",
	codec.Recased:  "Written in upper case.",
	codec.Replaced: "Written in another way.",
	codec.Rejected: "This is why the URL cannot be parsed.",
}

// changeTexts says what a class of change means.
var changeTexts = map[codec.Change]string{
	codec.Unchanged:   "the URL is in normal form",
	codec.Cosmetic:    "another spelling of the same URL in every scheme (RFC 3986 §6.2.2)",
	codec.SchemeEqual: "the same resource by the rules of its scheme (RFC 3986 §6.2.3)",
	codec.Repaired:    "read as a browser does, where the RFC keeps apart",
	codec.Lossy:       "a rule removed something",
}

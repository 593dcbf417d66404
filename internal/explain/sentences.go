package explain

import "github.com/urlfold/urlfold/codec"

// actionTexts describes the actions taken for diagnostics.
var actionTexts = map[codec.Action]string{
	codec.Kept:     "Kept unchanged.",
	codec.Encoded:  "Encoded.",
	codec.Decoded:  "Decoded.",
	codec.Removed:  "Removed.",
	codec.Recased:  "Written in upper case.",
	codec.Replaced: "Replaced by an equivalent form.",
	codec.Rejected: "Because of this, the URL cannot be parsed.",
}

// changeTexts describes the classes of changes.
var changeTexts = map[codec.Change]string{
	codec.Unchanged:   "the URL is in normal form",
	codec.Cosmetic:    "equivalent in every scheme (RFC 3986 §6.2.2)",
	codec.SchemeEqual: "equivalent by the rules of the scheme (RFC 3986 §6.2.3)",
	codec.Repaired:    "interpreted as browsers do; not equivalent by RFC 3986",
	codec.Lossy:       "a rule removed information",
}

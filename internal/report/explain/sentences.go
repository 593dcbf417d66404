package explain

import "github.com/urlfold/urlfold/codec"

// actionTexts describes what urlfold did with the part of the URL that a
// diagnostic is about.
var actionTexts = map[codec.Action]string{
	codec.Kept:     "Action: kept.",
	codec.Encoded:  "Action: percent-encoded.",
	codec.Decoded:  "Action: decoded.",
	codec.Removed:  "Action: removed.",
	codec.Recased:  "Action: written in upper case.",
	codec.Replaced: "Action: replaced.",
	codec.Rejected: "Action: URL rejected.",
}

// changeTexts describes the classes of changes.
var changeTexts = map[codec.Change]string{
	codec.Unchanged:   "the URL is in normal form",
	codec.Cosmetic:    "equivalent in every scheme (RFC 3986 §6.2.2)",
	codec.SchemeEqual: "equivalent by the rules of the scheme (RFC 3986 §6.2.3)",
	codec.Repaired:    "parsed as browsers do; not equivalent by RFC 3986",
	codec.Lossy:       "a rule removed information",
}

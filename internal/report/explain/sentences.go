package explain

import "github.com/urlfold/urlfold/codec"

// actionTexts describes what urlfold did with the part of the URL that a
// diagnostic is about.
var actionTexts = map[codec.Action]string{
	codec.ActionKept:     "Action: kept.",
	codec.ActionEncoded:  "Action: percent-encoded.",
	codec.ActionDecoded:  "Action: decoded.",
	codec.ActionRemoved:  "Action: removed.",
	codec.ActionRecased:  "Action: written in upper case.",
	codec.ActionReplaced: "Action: replaced.",
	codec.ActionRejected: "Action: URL rejected.",
}

// changeTexts describes the classes of changes.
var changeTexts = map[codec.Change]string{
	codec.ChangeUnchanged:   "the URL is in normal form",
	codec.ChangeCosmetic:    "equivalent in every scheme (RFC 3986 §6.2.2)",
	codec.ChangeSchemeEqual: "equivalent by the rules of the scheme (RFC 3986 §6.2.3)",
	codec.ChangeRepaired:    "parsed as browsers do; not equivalent by RFC 3986",
	codec.ChangeLossy:       "a rule removed information",
}

package where

import (
	"fmt"
	"strings"
)

// This file suggests replacements for syntax that comes from SQL and other
// languages.

// nothings are the lower-case names of an absent value in SQL, Python and
// JavaScript. The parser itself handles nil.
var nothings = []string{"null", "none", "undefined"}

// foreignHints maps operators and lower-case keywords of SQL and other languages
// to suggestions.
var foreignHints = map[string]string{
	"=": "use == to compare", "<>": "use != to compare", "=~": "use matches",
	"like": "use contains, startsWith, endsWith or matches", "ilike": "use matches with (?i)",
	"rlike": "use matches", "regexp": "use matches", "between": "use >= and <=", "and": "use &&", "or": "use ||", "&": "use &&", "|": "use ||",
	"/": `put text in quotes, as in path == "/a"`,
}

// foreignHint returns a suggestion for an unexpected token. at is the index of
// the token in text. The result starts with a semicolon, or is empty without a
// suggestion.
func foreignHint(text []rune, at int, token string) string {
	token, at = strings.ToLower(token), min(at, len(text))
	before, after := string(text[:at]), string(text[at:])
	switch { // the parser sees only a part of these operators
	case token == ">" && strings.HasSuffix(before, "<"):
		token = "<>"
	case strings.HasPrefix(after, "=~"):
		token = "=~"
	}
	switch token {
	case "is", "isnull", "notnull", "exists":
		return "; " + presenceHint(before)
	}
	if hint := foreignHints[token]; hint != "" {
		return "; " + hint
	}
	return ""
}

// presenceHint says how to test whether the field whose name is at the end
// of before exists.
func presenceHint(before string) string {
	words := strings.FieldsFunc(before, func(c rune) bool { return !strings.ContainsRune("_0123456789", c) && (c < 'a' || c > 'z') })
	field := "FIELD"
	if len(words) > 0 && indexOf(words[len(words)-1]) >= 0 {
		field = words[len(words)-1]
	}
	return fmt.Sprintf("test whether a field exists with has(%s), or is absent with !has(%s)", field, field)
}

package cli

import (
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/record"
)

// A place says where the URLs are in records of JSON or a table, as --url-field or --url
// does.
type place struct{ field, parts string }

// placeOf returns the place that most likely holds the URLs of the first records, or
// the zero value. If sole is set, the place must be the only one that holds URLs, and
// hold whole URLs: a rewrite must not change a path that is not a URL. An element of an array
// in the only record is no such place if other elements hold URLs, too.
func placeOf(head []byte, sole bool) place {
	paths := jsonURLFields(head)
	if len(paths) == 0 || strings.Contains(paths[0], "[0]") && arrayHint(head) != "" {
		return place{} // the URLs of the other elements must not be lost
	}
	if sole {
		if !isSole(head, paths[0]) {
			return place{}
		}
		return place{field: paths[0]}
	}
	fields := jsonFields(head)
	if parts := jsonURLParts(head, fields); parts != "" {
		return place{parts: parts}
	}
	if parts := urlParts(fields, paths[0]); parts != "" {
		return place{parts: parts}
	}
	return place{field: paths[0]}
}

// columnOf is like placeOf, for a table with a header or in headless.
func columnOf(head []byte, separator rune, sole bool) place {
	fields := columns(head, separator)
	chosen := urlField(fields)
	_, known := headless[len(fields)][chosen]
	if len(fields) == 0 || fields[0].path == "1" && !known {
		return place{}
	}
	for _, f := range fields {
		if sole && !known && (f.path == chosen) != (f.rank > 0 || strings.Contains(f.value, "://")) || sole && f.path == chosen && !absoluteURL().MatchString(f.value) {
			return place{}
		}
	}
	if parts := urlParts(fields, chosen); parts != "" && !sole {
		return place{parts: parts}
	}
	return place{field: chosen}
}

// isSole reports whether the field at path holds whole URLs, and no other field holds any.
func isSole(head []byte, path string) bool {
	for _, m := range slices.Concat(jsonRecords(head)...) {
		whole := absoluteURL().MatchString(m.value) || record.IsRequestLine(m.value)
		switch rank := urlRank(m.name, m.value); {
		case m.path != path && (rank > 0 || strings.Contains(m.value, "://")):
			return false
		case m.path == path && rank > 0 && !whole && !urlWord().MatchString(m.name):
			return false
		}
	}
	return true
}

// set sets the fields of c that name the place.
func (p place) set(c *record.Config) {
	if p.field != "" {
		c.URLField = p.field
	}
	for pair := range strings.SplitSeq(p.parts, ",") {
		if part, path, ok := strings.Cut(pair, "="); ok {
			_ = c.URL.Add(part, path) // the parts of jsonURLParts and urlParts exist
		}
	}
}

// flag returns the flag that names the place, or "".
func (p place) flag() string {
	switch {
	case p.field != "":
		return "--url-field " + shellQuote(p.field)
	case p.parts != "":
		return "--url " + shellQuote(p.parts)
	}
	return ""
}

package nats

import "strings"

// IsSubject reports whether messages can be published to s: it consists of
// tokens separated by dots that are not empty and contain no wildcards, white
// space or control characters.
func IsSubject(s string) bool { return IsFilter(s) && !strings.ContainsAny(s, "*>") }

// IsFilter reports whether s can be subscribed to: a subject whose tokens may
// be "*", and whose last token may be ">".
func IsFilter(s string) bool {
	if s == "" {
		return false
	}
	for s != "" {
		token, rest, more := strings.Cut(s, ".")
		if !isToken(token) || token == ">" && more || more && rest == "" {
			return false
		}
		s = rest
	}
	return true
}

// isToken reports whether s is one token of a filter.
func isToken(s string) bool {
	if s == "*" || s == ">" {
		return true
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f || s[i] == '*' || s[i] == '>' {
			return false
		}
	}
	return s != ""
}

// Overlap reports whether some subject matches both filters.
func Overlap(a, b string) bool {
	for {
		x, xrest, xmore := strings.Cut(a, ".")
		y, yrest, ymore := strings.Cut(b, ".")
		switch {
		case x == ">" || y == ">":
			return true
		case x != "*" && y != "*" && x != y:
			return false
		case !xmore || !ymore:
			return xmore == ymore
		}
		a, b = xrest, yrest
	}
}

// Covers reports whether filter matches every subject that sub, which may
// contain wildcards, matches.
func Covers(filter, sub string) bool {
	for {
		f, frest, fmore := strings.Cut(filter, ".")
		s, srest, smore := strings.Cut(sub, ".")
		switch {
		case f == ">":
			return true
		case s == ">", f != "*" && f != s:
			return false
		case !fmore || !smore:
			return fmore == smore
		}
		filter, sub = frest, srest
	}
}

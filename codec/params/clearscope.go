package params

import (
	"errors"
	"strings"
)

// place is the part of a URL pattern that a ListRule can express.
type place struct {
	host, path string // as in ListRule
	name       string // pattern of the required parameter; "" if none
}

// Common parts of the URL patterns of ClearURLs.
const (
	anySuffix  = `(?:\.[a-z]{2,}){1,}` // registrable suffix
	anyLabels  = `([a-z0-9-]+\.)*`     // any subdomain, in our host patterns
	queryStart = `\?`
)

// hostPrefixes lists how the patterns start a host, with the equivalent prefix
// for ListRule.Host.
var hostPrefixes = []struct{ prefix, mark string }{
	{`(?:[a-z0-9-]+\.)*?`, ""},
	{`([a-z0-9-\.])*`, ""},
	{`([a-z0-9-.]*\.)`, "*."},
	{``, "="},
}

// parseURLPattern converts a pattern for whole URLs to places.
func parseURLPattern(pattern string) ([]place, error) {
	s := strings.ReplaceAll(pattern, `\/`, "/")
	if s == ".*" {
		return []place{{}}, nil
	}
	s = strings.TrimPrefix(s, "^")
	rest, ok := strings.CutPrefix(s, "https?://")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "wss?://"); !ok {
			return nil, errors.New("unsupported pattern: must start with https?:// or wss?://")
		}
	}
	host, rest := cutHostPattern(rest)
	hosts, err := parseHosts(host)
	if err != nil {
		return nil, err
	}
	var places []place
	for _, alternative := range splitAlternatives(rest) {
		path, name := parseRest(alternative)
		if _, err := compilePath(path); err != nil {
			return nil, err
		}
		for _, h := range hosts {
			places = append(places, place{h, path, name})
		}
	}
	return places, nil
}

// cutHostPattern splits a pattern at the end of its host: at '/', at an escaped
// '?', at a group that contains either, or at a repetition that matches
// anything.
func cutHostPattern(s string) (host, rest string) {
	depth, group := 0, 0
	end := len(s)
scan:
	for i := 0; i < len(s); i++ {
		cut := i
		if depth > 0 {
			cut = group
		}
		switch {
		case s[i] == '/', strings.HasPrefix(s[i:], queryStart):
			end = cut
			break scan
		case s[i] == '\\':
			i++
		case s[i] == '[':
			i += classLen(s[i:]) - 1
		case s[i] == '(':
			if depth == 0 {
				group = i
			}
			depth++
		case s[i] == ')':
			depth--
		}
	}
	for _, loose := range []string{".*?", ".*", "[^?]*"} {
		if before, ok := strings.CutSuffix(s[:end], loose); ok {
			end = len(before)
			break
		}
	}
	return s[:end], s[end:]
}

// classLen returns the length of the class at the start of s.
func classLen(s string) int {
	for i := 2; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ']':
			return i + 1
		}
	}
	return len(s)
}

// parseHosts converts a pattern for hosts to values of ListRule.Host: names if
// there are few of them, otherwise a pattern.
func parseHosts(pattern string) ([]string, error) {
	if pattern == "[^/]+" {
		return []string{""}, nil
	}
	mark := ""
	for _, p := range hostPrefixes {
		if rest, ok := strings.CutPrefix(pattern, p.prefix); ok {
			mark, pattern = p.mark, rest
			break
		}
	}
	pattern = escapeDots(strings.ReplaceAll(pattern, anySuffix, `\.\*`))
	tree, _, err := parsePattern(pattern)
	if err != nil {
		return nil, err
	}
	texts := spellings(tree)
	if texts == nil {
		// Match the host by a pattern.
		below := map[string]string{"": anyLabels, "*.": anyLabels + `[a-z0-9-]+\.`, "=": ""}[mark]
		host := "^" + below + strings.ReplaceAll(pattern, `\.\*`, anySuffix)
		if _, err := compilePattern(host); err != nil {
			return nil, err
		}
		return []string{host}, nil
	}
	hosts := make([]string, 0, len(texts))
	for _, host := range texts {
		if mark != "" && !strings.HasSuffix(host, ".*") {
			host = mark + host
		}
		if err := checkHost(host); host == "" || err != nil {
			return nil, errors.New("host pattern can never match")
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// escapeDots escapes each '.' that is not escaped, repeated or in a class.
func escapeDots(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			b.WriteString(s[i : i+2])
			i++
		case s[i] == '[':
			size := classLen(s[i:])
			b.WriteString(s[i : i+size])
			i += size - 1
		case s[i] == '.' && (i+1 == len(s) || !strings.ContainsRune("*+?{", rune(s[i+1]))):
			b.WriteString(`\.`)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// splitAlternatives expands a group at the end of a pattern into one pattern
// per alternative, if a query begins in an alternative.
func splitAlternatives(s string) []string {
	open := strings.LastIndex(s, "(?:")
	body, ok := strings.CutSuffix(s, ")")
	if !ok || open < 0 || !strings.Contains(s[open:], queryStart) || strings.ContainsAny(s[open+3:len(body)], "()[]") {
		return []string{s}
	}
	var out []string
	for alternative := range strings.SplitSeq(body[open+3:], "|") {
		out = append(out, s[:open]+alternative)
	}
	return out
}

// parseRest converts the part after the host to a path and the pattern of a
// required parameter.
func parseRest(s string) (path, name string) {
	path, _, ok := strings.Cut(s, queryStart)
	if i := strings.LastIndexByte(s, '='); i >= 0 {
		name = s[:i]
		for _, before := range []string{queryStart, ".*?", "(?:%3F)?", "&?", "&"} {
			if j := strings.LastIndex(name, before); j >= 0 {
				name = name[j+len(before):]
			}
		}
		if !ok {
			path, _, _ = strings.Cut(s, ".*?")
		}
	}
	switch {
	case ok && path == "":
		return "^/?$", name
	case ok:
		return "^" + path + "$", name
	case path == "":
		return "", name
	}
	return "^" + path, name
}

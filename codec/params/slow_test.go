package params

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Reference implementations of the fast code, written for readability. Texts
// must be ASCII where patterns are matched.

// slowMatch implements Matcher.Match.
func slowMatch(lists []*List, host, path, name, value string) (rule int, drop bool) {
	type ranked struct {
		ListRule
		id   int
		list string
	}
	var drops, keeps []ranked
	id := 0
	for _, l := range lists {
		for _, r := range l.Rules {
			if slowHost(r.Host, host) && slowPath(r.Path, path) && slowName(r, slowBare(name)) && r.value.matches([]byte(value)) {
				if r.action == actionDrop {
					drops = append(drops, ranked{r, id, l.Name})
				} else {
					keeps = append(keeps, ranked{r, id, l.Name})
				}
			}
			id++
		}
	}
	kept := -1
	for _, d := range drops {
		i := slices.IndexFunc(keeps, func(k ranked) bool { return k.group == "" || k.group == d.group && k.list == d.list })
		if i < 0 {
			return d.id, true
		}
		if kept < 0 {
			kept = keeps[i].id
		}
	}
	return kept, false
}

func slowBare(name string) string {
	name = strings.TrimPrefix(name, "?")
	if len(name) >= 4 && strings.EqualFold(name[:4], "amp;") {
		name = name[4:]
	}
	return name
}

func slowName(r ListRule, name string) bool {
	switch r.match {
	case matchExact:
		return strings.EqualFold(r.Name, name)
	case matchPrefix:
		return len(name) >= len(r.Name) && strings.EqualFold(r.Name, name[:len(r.Name)])
	default:
		return regexp.MustCompile(`(?is)\A(?:` + r.Name + `)\z`).MatchString(name)
	}
}

func slowHost(rule, host string) bool {
	host = strings.ToLower(host)
	q := regexp.QuoteMeta
	switch {
	case rule == "":
		return true
	case rule[0] == '^':
		return regexp.MustCompile(`(?is)\A(?:` + rule[1:] + `)\z`).MatchString(host)
	case rule[0] == '=':
		return host == rule[1:]
	case strings.HasPrefix(rule, "*."):
		return strings.HasSuffix(host, rule[1:]) && len(host) >= len(rule)
	case strings.HasSuffix(rule, ".*"):
		suffix := `([a-z][^.]+|(` + strings.Join(secondLevels, "|") + `)\.[a-z][^.])`
		return regexp.MustCompile(`(?s)\A(.*\.)?` + q(strings.TrimSuffix(rule, ".*")) + `\.` + suffix + `\z`).MatchString(host)
	}
	return host == rule || strings.HasSuffix(host, "."+rule)
}

func slowPath(rule, path string) bool {
	if rule == "" {
		return true
	}
	if rule[0] == '^' {
		return regexp.MustCompile(`(?is)\A(?:` + rule[1:] + `)`).MatchString(path)
	}
	re := regexp.QuoteMeta(rule)
	re = regexp.MustCompile(`/\\\*\\\*\z`).ReplaceAllString(re, "(?:/.*)?")
	re = strings.ReplaceAll(re, `\*\*`, ".*")
	re = strings.ReplaceAll(re, `\*`, "[^/]*")
	return regexp.MustCompile(`(?s)\A` + re + `\z`).MatchString(path)
}

// slowKeyQuery implements appendKeyQuery for the separator '&'. match reports
// whether a field is dropped, kept whether an exception keeps it from qsid.
func slowKeyQuery(query string, match, kept func(name, value string) bool) (out string, present bool) {
	type param struct{ name, value, raw string }
	var all []param
	names := map[string]bool{}
	for raw := range strings.SplitSeq(query, "&") {
		n, v, _ := strings.Cut(raw, "=")
		name, value := string(AppendName(nil, []byte(n))), string(AppendName(nil, []byte(v)))
		names[strings.ToLower(slowBare(name))] = true
		raw = string(slowForm([]byte(n)))
		if v != "" {
			raw += "=" + string(slowForm([]byte(v)))
		}
		all = append(all, param{name, value, raw})
	}
	if slowSigned(names) {
		return query, true
	}
	all = slices.DeleteFunc(all, func(p param) bool {
		return p.raw == "" || slowSession(names, p.name, p.value) && !kept(p.name, p.value) || match(p.name, p.value)
	})
	slices.SortStableFunc(all, func(a, b param) int { return strings.Compare(a.name, b.name) })
	var raws []string
	for _, p := range all {
		raws = append(raws, p.raw)
	}
	return strings.Join(raws, "&"), len(all) > 0
}

func slowSigned(names map[string]bool) bool {
	return names["x-amz-signature"] || names["x-goog-signature"] || names["x-oss-signature"] || names["x-tos-signature"] ||
		names["key-pair-id"] || names["q-signature"] || names["hdnea"] || names["hdnts"] || names["hdntl"] ||
		names["auth_key"] || names["oauth_signature"] ||
		names["expires"] && (names["signature"] || names["token"] || names["md5"]) ||
		names["sig"] && (names["se"] || names["si"])
}

var (
	slowSessionAlways = regexp.MustCompile(`(?i)\A(jsessionid|phpsessid|aspsessionid[a-z]{8})\z`)
	slowSessionShaped = regexp.MustCompile(`(?i)\A(sessionid|session_id|sid)\z`)
)

func slowSession(names map[string]bool, name, value string) bool {
	name = strings.ToLower(slowBare(name))
	return slowSessionAlways.MatchString(name) ||
		slowSessionShaped.MatchString(name) && shapeToken.matches([]byte(value)) ||
		(name == "cfid" || name == "cftoken") && names["cfid"] && names["cftoken"]
}

// slowCutPathSession implements CutPathSession.
func slowCutPathSession(path string) string {
	segments := strings.SplitAfter(path, "/")
	joined := func(from int) []string { return strings.Split(strings.Join(segments[from:], ""), "/") }
	var out bytes.Buffer
	cut := false
	for i, segment := range segments {
		body, slash := strings.CutSuffix(segment, "/")
		body = slowCutParams(body)
		later := i+1 < len(segments) && slices.ContainsFunc(joined(i+1), func(s string) bool {
			name, _, _ := strings.Cut(s, ";")
			return strings.HasSuffix(strings.ToLower(name), ".aspx")
		})
		if cut = i > 0 && later && slowASP.MatchString(body); cut {
			continue
		}
		out.WriteString(body)
		if slash {
			out.WriteByte('/')
		}
	}
	return out.String()
}

var slowASP = regexp.MustCompile(`\A\(([0-9A-Za-z]{24}|([A-Za-z]\([0-9A-Za-z]{24}\))+)\)\z`)

func slowCutParams(segment string) string {
	params := strings.Split(segment, ";")
	has := map[string]bool{}
	for _, p := range params[1:] {
		if name, _, ok := strings.Cut(p, "="); ok {
			has[strings.ToLower(name)] = true
		}
	}
	kept := params[:1:1]
	for _, p := range params[1:] {
		name, value, ok := strings.Cut(p, "=")
		name = strings.ToLower(name)
		session := name == "jsessionid" || name == "phpsessid" || name == "sid" && shapeToken.matches([]byte(value)) ||
			(name == "cfid" || name == "cftoken") && has["cfid"] && has["cftoken"]
		if !ok || !session {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, ";")
}

package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/internal/record"
)

// This file derives hints about options from the first records of a JSON lines
// input. It prints the names of members but never their values, which may
// contain a password.

// A jsonMember is a string in a JSON record, with its path in the syntax of
// --url-field.
type jsonMember struct{ path, name, value string }

// rank says how likely the member holds the URL of its record. If two members
// are equally likely, the outer member wins, then the member called url. The
// members of an object called url or uri, such as url.original in the Elastic
// Common Schema, rank as if "url" were part of their names.
func (m jsonMember) rank() int {
	const most = 7
	name := m.name
	if inURL().MatchString(m.path) {
		name = "url " + name
	}
	rank := urlRank(name, m.value)
	if rank == 0 {
		return 0
	}
	return 2*(rank*(most+1)-min(most, strings.Count(m.path, ".")+strings.Count(m.path, "["))) + bareURL(m.name)
}

// maxHints is the maximum number of members that a hint names.
const maxHints = 4

// hintRecords is the number of records that hints are derived from.
const hintRecords = 50

// jsonRecords returns the strings of the first records of head, in order. If a
// record is not valid JSON, it returns the strings before the syntax error.
func jsonRecords(head []byte) (records [][]jsonMember) {
	for _, line := range firstRecords(head) {
		var members []jsonMember
		walkJSON(json.NewDecoder(bytes.NewReader(line)), jsonMember{}, 0, func(m jsonMember) { members = append(members, m) })
		records = append(records, members)
	}
	return records
}

// jsonMembers returns the strings of the first records of head, in order.
// Among the strings with the same path, it returns the first one that is not
// empty.
func jsonMembers(head []byte) (members []jsonMember) {
	seen := map[string]bool{}
	for _, m := range slices.Concat(jsonRecords(head)...) {
		if !seen[m.path] && m.value != "" {
			seen[m.path] = true
			members = append(members, m)
		}
	}
	return members
}

// maxDepth is the maximum number of nested values in which walkJSON searches. A
// path of many steps would be useless, and the paths of all values in a deep
// JSON text would take much memory.
const maxDepth = 32

// walkJSON calls visit for each string in the next value of d. at has the
// path and the name of this value, and depth is the number of values that
// contain it. It returns false at the end of the text, at a syntax error, or
// if the value is too deep.
func walkJSON(d *json.Decoder, at jsonMember, depth int, visit func(jsonMember)) bool {
	tok, err := d.Token()
	if err != nil || depth > maxDepth {
		return false
	}
	switch t := tok.(type) {
	case string:
		visit(jsonMember{at.path, at.name, t})
	case json.Delim:
		for i := 0; d.More(); i++ {
			sub, deeper := jsonMember{path: at.path + "[" + strconv.Itoa(i) + "]", name: at.name}, visit
			var element []jsonMember
			if t == '[' {
				deeper = func(m jsonMember) { element = append(element, m) }
			} else {
				key, err := d.Token()
				if err != nil {
					return false
				}
				sub.name, _ = key.(string)
				sub.path = strings.TrimPrefix(at.path+"."+pathStep(sub.name), ".")
			}
			whole := walkJSON(d, sub, depth+1, deeper)
			for _, m := range paired(element, at.path, sub.path) {
				visit(m)
			}
			if !whole {
				return false
			}
		}
		_, err = d.Token()
	}
	return err == nil
}

// paired changes the paths of the members of an element that is a pair of a
// name and a value, such as {"key":"page","value":…}. The new paths select the
// element by the name in the pair, as in params[=page].value, because the index
// of the element differs between records.
func paired(element []jsonMember, array, path string) []jsonMember {
	isName := func(m jsonMember) bool { return m.path == path+".key" || m.path == path+".name" }
	at := slices.IndexFunc(element, isName)
	if at < 0 || element[at].value == "" || strings.Contains(element[at].value, "]") {
		return element
	}
	for i := range element {
		if m := &element[i]; strings.HasPrefix(m.path, path+".value") {
			m.path, m.name = array+"[="+element[at].value+"]"+m.path[len(path):], element[at].value
		}
	}
	return element
}

// pathStep returns a member's name as a step of a field path.
func pathStep(name string) string {
	if name == "" || strings.ContainsAny(name, `.["\`) {
		return strconv.Quote(name)
	}
	return name
}

// explainField extends the error about a missing --url-field with the members or
// columns of the first records that look like URLs.
func explainField(err error, format string, head []byte) error {
	if !strings.Contains(err.Error(), "--url-field") {
		return err
	}
	if separator := separators[format]; separator != 0 {
		var names []string
		for _, c := range columns(head, separator) {
			if urlRank(c.name, c.value) > 0 && len(names) < maxHints {
				names = append(names, c.path)
			}
		}
		if len(names) == 0 {
			return err
		}
		return fmt.Errorf("%w (columns of the first rows that look like URLs: %s)", err, strings.Join(names, ", "))
	}
	if lines, ok := record.WithoutPrefix(format, head); ok {
		return explainMember(err, lines)
	}
	return err
}

// explainMember is like explainField, for JSON lines. It adds a value for --url if
// one member is a path and another member looks like the host of the path.
func explainMember(err error, head []byte) error {
	var paths []string
	path, ranks := "", map[string]int{}
	for _, m := range jsonMembers(head) {
		if path == "" && strings.HasPrefix(m.value, "/") {
			path = m.path
		}
		if rank := m.rank(); rank > 0 || strings.HasPrefix(m.value, "/") || strings.Contains(m.value, "://") {
			paths, ranks[m.path] = append(paths, m.path), rank
		}
	}
	if len(paths) == 0 {
		return err
	}
	slices.SortStableFunc(paths, func(a, b string) int { return ranks[b] - ranks[a] })
	paths = paths[:min(len(paths), maxHints)]
	compose := ""
	if host := jsonHost(head); host != "" && path != "" && !strings.Contains(host+path, ",") {
		compose = fmt.Sprintf("; to compose the URL from two members, use --url host=%s,path=%s", host, path)
	}
	if wrapped := lineFormat(jsonFields(head)); wrapped != "" && compose == "" {
		compose = "; to read lines of a log in such a member, use --from " + wrapped
	}
	return fmt.Errorf("%w (members of the first records that look like URLs: %s%s%s)", err, strings.Join(paths, ", "), compose, arrayHint(head))
}

// arrayHint returns what to do if head is one JSON value whose array holds the real
// records. A field path selects only one element of an array.
func arrayHint(head []byte) string {
	if records := jsonRecords(head); len(records) != 1 {
		return ""
	}
	arrays := map[string]int{}
	for _, m := range jsonMembers(head) {
		array, element, found := strings.Cut(m.path, "[")
		if _, member, _ := strings.Cut(element, "]"); !found || strings.ContainsAny(array+member, `[\`) || urlRank(m.name, m.value) == 0 {
			continue
		}
		if arrays[array]++; arrays[array] == 2 {
			return fmt.Sprintf("; to read the elements of %s as records, write one on each line: jq -c '.%s[]' FILE", cmp.Or(array, "the array"), array)
		}
	}
	return ""
}

// hostMembers are the names of the member that holds the request host in the
// JSON logs of various servers, in lower case and without separators, the most
// specific first.
var hostMembers = []string{"requesthost", "httphost", "host", "authority", "vhost", "virtualhost", "servername", "clientrequesthost"}

// jsonBase returns a value for --base that takes the host from a member of the
// records, or "" if no member of the first records looks like a host.
func jsonBase(head []byte) string {
	best := jsonHost(head)
	if best == "" || strings.ContainsAny(best, "[]{}'\" ") {
		return ""
	}
	return "https://{" + best + "}/"
}

// jsonHost returns the path of the member of the first records that most likely
// holds the host, or "".
func jsonHost(head []byte) string {
	best, bestRank := "", len(hostMembers)
	for _, m := range jsonMembers(head) {
		name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(m.name))
		rank := slices.Index(hostMembers, name)
		if rank >= 0 && rank < bestRank && m.value != "" && m.value != "-" && !strings.ContainsAny(m.value, "/?#@ \t") {
			best, bestRank = m.path, rank
		}
	}
	return best
}

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file reads the first record of JSON lines for hints about flags. It prints
// names of members and never their values, which may hold a password.

// A jsonMember is a string in a JSON record, with its path as --url-field has it.
type jsonMember struct{ path, name, value string }

// maxHints is how many members a hint names.
const maxHints = 4

// jsonMembers returns the strings of the first record of head, in order. Of what
// is no JSON it returns what comes before the mistake.
func jsonMembers(head []byte) (members []jsonMember) {
	first, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	walkJSON(json.NewDecoder(bytes.NewReader(first)), "", "", func(m jsonMember) { members = append(members, m) })
	return members
}

// walkJSON calls visit for each string in the next value of d. path and name are
// those of the value. It returns false at the end of the text, and at a mistake.
func walkJSON(d *json.Decoder, path, name string, visit func(jsonMember)) bool {
	tok, err := d.Token()
	if err != nil {
		return false
	}
	switch t := tok.(type) {
	case string:
		visit(jsonMember{path, name, t})
	case json.Delim:
		for i := 0; d.More(); i++ {
			member, sub := name, path+"["+strconv.Itoa(i)+"]"
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return false
				}
				member, _ = key.(string)
				sub = strings.TrimPrefix(path+"."+pathStep(member), ".")
			}
			if !walkJSON(d, sub, member, visit) {
				return false
			}
		}
		_, err = d.Token()
	}
	return err == nil
}

// pathStep returns a member's name as a step of a field path.
func pathStep(name string) string {
	if name == "" || strings.ContainsAny(name, `.["\`) {
		return strconv.Quote(name)
	}
	return name
}

// explainJSON adds to the error of a missing --url-field which members of the
// first record look like URLs.
func explainJSON(err error, format string, head []byte) error {
	if format != "jsonl" || !strings.Contains(err.Error(), "--url-field") {
		return err
	}
	var paths []string
	for _, m := range jsonMembers(head) {
		if strings.HasPrefix(m.value, "/") || strings.Contains(m.value, "://") {
			paths = append(paths, m.path)
		}
	}
	if len(paths) == 0 {
		return err
	}
	paths = paths[:min(len(paths), maxHints)]
	return errors.Join(fmt.Errorf("%w; in the first record these look like URLs: %s", err, strings.Join(paths, ", ")))
}

// hostMembers are the names that servers give the host of a request in their JSON
// logs, in lower case and without separators, the most telling first.
var hostMembers = []string{"requesthost", "httphost", "host", "authority", "vhost", "virtualhost", "servername", "clientrequesthost"}

// jsonBase returns a --base that takes the host from the records, or "".
func jsonBase(head []byte) string {
	best, bestRank := "", len(hostMembers)
	for _, m := range jsonMembers(head) {
		name := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(m.name))
		rank := slices.Index(hostMembers, name)
		if rank >= 0 && rank < bestRank && looksLikeHost(m.value) {
			best, bestRank = m.path, rank
		}
	}
	if best == "" || strings.ContainsAny(best, "{}'") {
		return ""
	}
	return "https://{" + best + "}/"
}

// looksLikeHost reports whether text could be a host with or without a port.
func looksLikeHost(text string) bool {
	return text != "" && text != "-" && !strings.ContainsAny(text, "/?#@ \t")
}

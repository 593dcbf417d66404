package psl

import (
	"os"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/internal/idna"
)

// A slowList is the readable twin of SuffixLen: the rules of the file, with
// A-labels, each with its sections.
type slowList map[string]int

// readSlowList reads the list from which the table was generated.
func readSlowList(t testing.TB) slowList {
	t.Helper()
	text, err := os.ReadFile("data/public_suffix_list.dat")
	if err != nil {
		t.Fatal(err)
	}
	list, section := slowList{}, 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch line {
		case "// ===BEGIN ICANN DOMAINS===":
			section = registry
		case "// ===BEGIN PRIVATE DOMAINS===":
			section = company
		}
		if line == "" || strings.HasPrefix(line, "//") {
			continue
		}
		name := strings.TrimLeft(line, "!*.")
		ascii, err := idna.AppendASCII(nil, []byte(name))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list[strings.TrimSuffix(line, name)+string(ascii)] |= section
	}
	if len(list) < 9000 {
		t.Fatalf("only %d rules", len(list))
	}
	return list
}

// suffixLen is the algorithm of
// https://github.com/publicsuffix/list/wiki/Format#formal-algorithm: an
// exception takes precedence, then the rule with the most labels, then "*".
func (l slowList) suffixLen(host string, private bool) (n int, listed bool) {
	has := func(rule string) bool {
		return l[rule]&registry != 0 || private && l[rule]&company != 0
	}
	labels := strings.Split(host, ".")
	from := func(i int) string { return strings.Join(labels[i:], ".") }
	for i := range labels {
		if has("!" + from(i)) {
			return len(from(i + 1)), true
		}
	}
	for i, label := range labels {
		if has(from(i)) || label != "" && has("*."+from(i+1)) {
			return len(from(i)), true
		}
	}
	return len(labels[len(labels)-1]), false
}

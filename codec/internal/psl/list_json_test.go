package psl

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"testing"
)

//go:generate go test -run ^TestListJSON$ -update .

var update = flag.Bool("update", false, "write testdata/vectors/lists/public-suffixes.json, or tables.bin and tables.go")

// listRules returns the rules of a section as the table has them, sorted.
func listRules(section uint64) (rules []string) {
	var suffix func(word uint64) string
	suffix = func(word uint64) string {
		at := word >> offsetShift & offsetMask
		name := labels[at : at+word>>lengthShift&lengthMask]
		if parent := word >> parentShift; parent > 0 {
			name += "." + suffix(nodes.At(int(parent)-1))
		}
		return name
	}
	for i := range nodes.Len() {
		word := nodes.At(i)
		for _, kind := range []struct {
			shift  int
			prefix string
		}{{ruleShift, ""}, {wildcardShift, "*."}, {exceptionShift, "!"}} {
			if word>>kind.shift&section != 0 {
				rules = append(rules, kind.prefix+suffix(word))
			}
		}
	}
	slices.Sort(rules)
	return rules
}

// TestListJSON compares testdata/vectors/lists/public-suffixes.json with the
// table, and the table with the file that it was made from. With -update it
// writes the JSON file.
func TestListJSON(t *testing.T) {
	const path = "../../../testdata/vectors/lists/public-suffixes.json"
	type list struct {
		Version string   `json:"version"`
		ICANN   []string `json:"icann"`
		Private []string `json:"private"`
	}
	l := list{Version, listRules(registry), listRules(company)}
	total := 0
	for rule, sections := range readSlowList(t) {
		for _, s := range []struct {
			bit   int
			rules []string
		}{{registry, l.ICANN}, {company, l.Private}} {
			if sections&s.bit == 0 {
				continue
			}
			total++
			if _, ok := slices.BinarySearch(s.rules, rule); !ok {
				t.Errorf("the table has no rule %q", rule)
			}
		}
	}
	if n := len(l.ICANN) + len(l.Private); n != total {
		t.Errorf("the table has %d rules, the list %d", n, total)
	}
	want, err := json.MarshalIndent(l, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(path, want, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is out of date (%v): go generate ./codec/internal/psl", path, err)
	}
}

package where

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the table of names in the reference")

// TestReference checks that the reference has all names with their kinds.
func TestReference(t *testing.T) {
	const (
		page  = "../../../docs/reference/expressions.md"
		start = "<!-- names: made from the code -->\n"
		end   = "\n<!-- end of names -->\n"
	)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), start)
	got, after, found := strings.Cut(rest, end)
	if !ok || !found {
		t.Fatalf("%s has no section of names", page)
	}
	want := "\n" + nameTable()
	if *update {
		if err := os.WriteFile(page, []byte(before+start+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("%s: the names are\n%s\nwant\n%s\nrun 'go generate ./internal/app/where'", page, got, want)
	}
}

// nameTable returns a table of all names, by kind.
func nameTable() string {
	var b strings.Builder
	b.WriteString("| kind | names |\n|---|---|\n")
	for _, k := range []kind{number, instant, text, boolean} {
		var names []string
		for _, name := range fieldNames {
			if kindOf(name) == k {
				names = append(names, "`"+name+"`")
			}
		}
		if k == boolean {
			for _, name := range conditions {
				names = append(names, "`"+name+"`")
			}
		}
		fmt.Fprintf(&b, "| %v | %s |\n", k, strings.Join(names, ", "))
	}
	return b.String()
}

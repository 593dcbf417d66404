package cli

import (
	"slices"
	"strings"
	"testing"
)

// TestDocsEnvironment checks that the page on environment variables names each
// variable that the code reads by a constant name.
func TestDocsEnvironment(t *testing.T) {
	page := strings.Join(readPage(t, "docs/reference/environment.md"), "\n")
	var names []string
	for _, c := range sourceCalls(t, "Getenv", "LookupEnv", "getenv", "env") {
		if len(c.args) == 1 && c.args[0] != "" && c.area != "internal/storage/disk" && c.area != "internal/storage/fault" { // only with build tags
			names = append(names, c.args[0])
		}
	}
	for _, name := range names {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/reference/environment.md lacks %s", name)
		}
	}
	if !slices.Contains(names, "NO_COLOR") || !slices.Contains(names, "PAGER") {
		t.Errorf("the variables of the code are %q", names)
	}
}

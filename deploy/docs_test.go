package deploy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOperations checks that the tests and experiments that the manual names as
// proofs exist, the tests in the packages that it names.
func TestOperations(t *testing.T) {
	text := read(t, "../docs/explanation/guarantees.md") + read(t, "../docs/operations.md") + read(t, "../docs/recovery.md") + read(t, "../docs/damaged-files.md")
	proof := regexp.MustCompile("`([a-z0-9/]+)`\\)?[ \n]?((?:(?:, |,\n)?\\(?Test[A-Za-z]+)+)")
	name := regexp.MustCompile(`\bTest[A-Z][A-Za-z]+`)
	found := 0
	for _, m := range proof.FindAllStringSubmatch(text, -1) {
		tests := readAll(t, "../"+m[1]+"/*_test.go")
		for _, n := range name.FindAllString(m[2], -1) {
			if found++; !strings.Contains(tests, "\nfunc "+n+"(") {
				t.Errorf("there is no %s in %s", n, m[1])
			}
		}
	}
	if all := len(name.FindAllString(text, -1)); found != all || found < 20 {
		t.Errorf("of %d tests, %d have the name of a package before them", all, found)
	}
	chaos := readAll(t, "../chaos/cmd/urlfold-chaos/*.go") + readAll(t, "../chaos/container.go")
	for _, m := range regexp.MustCompile(`chaos: ([a-z0-9, -]+)`).FindAllStringSubmatch(text, -1) {
		for e := range strings.SplitSeq(strings.TrimSpace(m[1]), ", ") {
			// The kinds of input are part of the names of kills.
			kind, isKill := strings.CutPrefix(strings.TrimSuffix(e, "-alo"), "kill-")
			if strings.Contains(chaos, `"`+e+`"`) {
				continue
			}
			if !strings.Contains(chaos, `"`+kind+`"`) || isKill && !strings.Contains(chaos, `"kill-"`) {
				t.Errorf("there is no experiment %q", e)
			}
		}
	}
}

// readAll returns the text of all files that match pattern. There must be one.
func readAll(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	var text strings.Builder
	for _, f := range files {
		text.WriteString(read(t, f))
	}
	return text.String()
}

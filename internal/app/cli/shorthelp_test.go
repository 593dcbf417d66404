package cli

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/app/cli/help"
)

// TestShortHelp checks that -h fits one screen, and that it and --help show each command
// with one job.
func TestShortHelp(t *testing.T) {
	root := newRootCmd(testCatalog(t))
	var out strings.Builder
	root.SetOut(&out)
	root.SetArgs([]string{"-h"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) > 40 {
		t.Errorf("%d lines, at most 40", len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("%d columns, at most 80: %s", n, line)
		}
	}
	var listed []string
	for _, j := range help.Jobs {
		listed = append(listed, j.Commands...)
	}
	slices.Sort(listed)
	if names := rootNames(); !slices.Equal(listed, names) {
		t.Errorf("the jobs have the commands %q\nwant %q", listed, names)
	}
}

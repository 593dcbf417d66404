package deploy

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWorkflows checks that the jobs of CI run each step of .ci/run once, and that the
// templates of issues ask for commands that exist.
func TestWorkflows(t *testing.T) {
	all := regexp.MustCompile(`(?m)^all=\((.*)\)$`).FindStringSubmatch(read(t, "../.ci/run"))
	var ci struct {
		Jobs struct {
			Check struct {
				Strategy struct {
					Matrix struct{ Steps []string }
				}
			}
		}
	}
	load(t, "../.github/workflows/ci.yml", &ci)
	var steps []string
	for _, job := range ci.Jobs.Check.Strategy.Matrix.Steps {
		steps = append(steps, strings.Fields(job)...)
	}
	want := strings.Fields(all[1])
	slices.Sort(steps)
	slices.Sort(want)
	if !slices.Equal(steps, want) {
		t.Errorf("CI runs %q, and .ci/run has %q", steps, want)
	}
	asked := 0
	for _, m := range regexp.MustCompile(`"urlfold ([a-z]+)[^"]*"`).FindAllStringSubmatch(readAll(t, "../.github/ISSUE_TEMPLATE/*.yml"), -1) {
		if run(t, nil, m[1], "--help") == run(t, nil, "--help") {
			t.Errorf("the templates ask for urlfold %s, which is no command", m[1])
		}
		asked++
	}
	if asked < 3 {
		t.Errorf("the templates ask for %d commands", asked)
	}
	for _, f := range []string{"dependabot.yml", "workflows/release.yml", "ISSUE_TEMPLATE/bug.yml", "ISSUE_TEMPLATE/feature.yml", "ISSUE_TEMPLATE/config.yml"} {
		var text map[string]any
		load(t, filepath.Join("../.github", f), &text)
	}
}

package apinames

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestClosure: docs/dependencies.md has the modules that a program links with each
// covered package.
func TestClosure(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	tr := public(t)
	for _, pkg := range slices.Sorted(maps.Keys(tr.packages)) {
		if tr.uncovered[pkg] {
			continue
		}
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./"+pkg)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list ./%s: %v", pkg, err)
		}
		modules := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
		row := fmt.Sprintf("| `%s` | %d | %s |\n", pkg, len(modules), strings.Join(modules, ", "))
		if len(modules) > 20 {
			row = fmt.Sprintf("| `%s` | %d | those of the program |\n", pkg, len(modules))
		}
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/dependencies.md has no row\n%s", row)
		}
	}
}

package main

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestMutationsFit checks that the text that each mutation replaces occurs
// exactly once in its file, and that the package still compiles with the
// mutation. The experiment itself takes minutes and would detect changed code
// only late; a short run of it uses only the first mutations.
func TestMutationsFit(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i := range mutations {
		m := &mutations[i]
		overlay, err := m.Overlay(root, filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			t.Error(err)
			continue
		}
		if testing.Short() {
			continue
		}
		build := exec.Command("go", "build", "-overlay", overlay, m.Package)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", m.Name, err, out)
		}
	}
}

package chaos

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOverlay(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	path := filepath.Join(root, "a", "b.go")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("one two two"), 0o644); err != nil {
		t.Fatal(err)
	}
	for old, want := range map[string]string{"one": "", "two": "2 times", "three": "0 times"} {
		m := Mutation{Name: "test", File: "a/b.go", Old: old, New: "1"}
		overlay, err := m.Overlay(root, dir)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", old, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(overlay)
		if err != nil || !strings.Contains(string(text), filepath.ToSlash(path)) && !strings.Contains(string(text), "b.go") {
			t.Errorf("%s, %v", text, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "b.go")); err != nil || string(text) != "1 two two" {
			t.Errorf("%s, %v", text, err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "one two two" {
		t.Errorf("the source file is %q, %v", text, err)
	}
}

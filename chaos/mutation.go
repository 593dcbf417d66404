package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Mutation is a defect in a copy of a source file. Tests built with the copy
// must fail.
type Mutation struct {
	Name string // the resulting wrong behavior
	File string // slash-separated, from the root of the module
	Old  string // occurs exactly once in File
	New  string

	Package string // package whose tests must detect the defect
	Tests   string // regular expression for go test -run that selects these tests
}

// Overlay writes the changed copy, and a file for go test -overlay, to dir. It
// returns the path of that file. The module itself is not changed.
func (m *Mutation) Overlay(root, dir string) (path string, err error) {
	name := filepath.Join(root, filepath.FromSlash(m.File))
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return "", fmt.Errorf("%s: the text to be replaced occurs %d times in %s, want 1", m.Name, n, m.File)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	changed := filepath.Join(dir, filepath.Base(name))
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), m.Old, m.New, 1)), 0o644); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {name: changed}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, overlay, 0o644)
}

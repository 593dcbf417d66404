package chaos

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Mutation is a defect to put into a copy of a source file. Tests that are built
// with the copy have to fail.
type Mutation struct {
	Name string // what is wrong then
	File string // slash-separated, from the root of the module
	Old  string // stands in it once
	New  string

	Package string // whose tests have to see it
	Tests   string // which of them: a regular expression, as go test -run takes it
}

// Overlay writes the copy, and a file for go test -overlay, below dir. It returns the
// path of the latter. The module itself stays as it is.
func (m *Mutation) Overlay(root, dir string) (path string, err error) {
	name := filepath.Join(root, filepath.FromSlash(m.File))
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return "", fmt.Errorf("%s: what is to be changed stands %d times in %s", m.Name, n, m.File)
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

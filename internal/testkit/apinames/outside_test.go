package apinames

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// copied is a test that copies a Result: finding 8.
const copied = `package outside

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
)

func TestCopied(t *testing.T) {
	var r codec.Result
	c := r
	t.Log(c.ErrAt)
}
`

// TestOutside runs the tests of testdata/outside in a module of their own: they show
// mistakes that an outsider makes. go vet finds one of them.
func TestOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/outside")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "copied_test.go"), []byte(copied), 0o600); err != nil {
		t.Fatal(err)
	}
	// Its requirements are those of the custom build, which has all of the program.
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, "deploy/custom", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(strings.Replace(string(text), "=> ../..", "=> "+module, 1)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("vet", "."); err == nil || strings.Count(out, "copied_test.go:") != 1 || strings.Contains(out, "findings_test.go:") {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	if out, err := run("test", "."); err != nil {
		t.Errorf("go test: %v\n%s", err, out)
	}
}

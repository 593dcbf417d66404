package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckIndex checks for which inputs --index can name a file.
func TestCheckIndex(t *testing.T) {
	dir := t.TempDir()
	input, link := filepath.Join(dir, "a.gz"), filepath.Join(dir, "link")
	if err := os.WriteFile(input, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(input, link); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		index  string
		inputs []string
		want   string
	}{
		{"", []string{"-", input}, ""},
		{"auto", []string{"-", input}, ""},
		{"x.gzi", []string{input}, ""},
		{"x.gzi", []string{input, input}, "single input file"},
		{"x.gzi", []string{"-"}, "single input file"},
		{link, []string{input}, "is the input"},
	} {
		err := (&settings{options: &options{runOptions: runOptions{Index: c.index}}}).checkIndex(c.inputs)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %q: %v, want %q", c.index, c.inputs, err, c.want)
		}
	}
}

package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCustom builds and runs the program in deploy/custom with the commands
// of its README, and compares what it writes with what the README shows.
// That folder is a separate module, so no other test sees it.
func TestCustom(t *testing.T) {
	readme, err := os.ReadFile("custom/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var code []string
	for line := range strings.Lines(string(readme)) {
		if text, ok := strings.CutPrefix(line, "    "); ok {
			code = append(code, text)
		}
	}
	if len(code) < 3 {
		t.Fatalf("README: %q", code)
	}
	binary := filepath.Join(t.TempDir(), "custom")
	run := func(command string) string {
		t.Helper()
		command = strings.Replace(command, "-o custom", "-buildvcs=false -o "+binary, 1)
		command = strings.Replace(command, "./custom", binary, 1)
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = "custom"
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, &stderr)
		}
		return string(out)
	}
	run("go vet .")
	run(code[0])
	if got, want := run(code[1]), strings.Join(code[2:], ""); got != want {
		t.Errorf("the program writes\n%swant\n%s", got, want)
	}
	if got := run("echo 'a|HTTP://h/%41' | ./custom --quiet"); got != "a|http://h/A\n" {
		t.Errorf("the format is not detected: %q", got)
	}
	if version := run("./custom version"); !strings.Contains(version, " in example.com/custom") {
		t.Errorf("version %s", version)
	}
	if schema := run("./custom init --schema"); !strings.Contains(schema, `"tagged"`) || !strings.Contains(schema, `"list"`) {
		t.Error("the schema does not know the source or the sink")
	}
}

// TestCustomSize keeps the example short, since it is a template to read.
func TestCustomSize(t *testing.T) {
	files, err := filepath.Glob("custom/*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(text, []byte("\n"))
	}
	if lines == 0 || lines >= 150 {
		t.Errorf("%d lines in %d files, want fewer than 150", lines, len(files))
	}
}

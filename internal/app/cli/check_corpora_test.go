//go:build unix

package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

var updateCorpora = flag.Bool("update-corpora", false, "rewrite the table of the files in the corpora")

// TestCheckCorpora compares what check says about each log, index and archive
// of the corpora with a table, and runs each command line that it suggests. To
// accept a change, run the test with -update-corpora and read the difference.
func TestCheckCorpora(t *testing.T) {
	dir := os.Getenv("URLFOLD_CORPORA")
	if dir == "" {
		t.Skip("skipped: the logs of other vendors; set URLFOLD_CORPORA to the folder of the corpora")
	}
	var got strings.Builder
	for _, path := range corporaFiles(t, dir, "attack/crowdsec", "cdx", "logs", "warc") {
		r := diagnose(t, dir, path)
		got.WriteString(corporaRow(r))
		if r.Command != "" {
			runSuggested(t, dir, r)
		}
	}
	const table = "testdata/check-corpora.want"
	if *updateCorpora {
		if err := os.WriteFile(table, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(want)) {
		lines[line] = true
	}
	for line := range strings.Lines(got.String()) {
		if !lines[line] {
			t.Errorf("not in %s: %s", table, line)
		}
		delete(lines, line)
	}
	for line := range lines {
		t.Errorf("only in %s: %s", table, line)
	}
}

// corporaFiles returns the files in folders of the corpora, in order.
func corporaFiles(t *testing.T, dir string, folders ...string) (paths []string) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(dir, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				path, err = filepath.Rel(dir, path)
				paths = append(paths, filepath.ToSlash(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// diagnose runs check on a file.
func diagnose(t *testing.T, dir, path string) (r diagnosis) {
	t.Helper()
	cmd, stderr := program(t, "check", "--to", "jsonl", path)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := code(t, err); exit != 0 && exit != command.ExitFailOn {
		t.Fatalf("%s: exit code %d\n%s", path, exit, stderr)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%s: %v: %s", path, err, out)
	}
	return r
}

// corporaRow returns the line of the table about a file: what it is, how many
// of its records are recognized, and the command line or why there is none.
func corporaRow(r diagnosis) string {
	format, last := r.Format, r.Command
	if format == "" {
		format = "unknown"
	}
	if last == "" {
		last = r.Why
	}
	if r.Damage != "" {
		last = strings.TrimSpace(last + "; " + r.Damage)
	}
	return fmt.Sprintf("%s\t%s\t%d of %d records, %d URLs\t%s\n", r.File, format, r.Recognized, r.Records, r.URLs, last)
}

// runSuggested runs the command line of a diagnosis. It must not fail, unless
// the file is damaged.
func runSuggested(t *testing.T, dir string, r diagnosis) {
	t.Helper()
	cmd := exec.Command("sh", "-c", r.Command+" > /dev/null")
	var stderr strings.Builder
	cmd.Dir, cmd.Stderr = dir, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == command.ExitFailOn && r.Damage != "" {
		return
	}
	if err != nil {
		t.Errorf("%s: %v\n%s", r.Command, err, &stderr)
	}
}

//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// fileCommands are the commands that read files named as arguments, with the
// options that they need.
var fileCommands = []string{
	"", "check --integrity", "check", "top", "count", "learn", "report --force -o report.html", "diff --against crawler", "collisions",
	"seen build new", "seen merge set", "seen query set", "check --keys",
}

// TestFileCommands checks that fileCommands has all of them, and that all have
// --allow-empty.
func TestFileCommands(t *testing.T) {
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if strings.Contains(cmd.Use, "FILE|") {
			name := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "urlfold"), " ")
			if !slices.ContainsFunc(fileCommands, func(line string) bool { return line == name || strings.HasPrefix(line, name+" ") }) {
				t.Errorf("%q reads files and is not in fileCommands", name)
			}
			if cmd.Flag("allow-empty") == nil {
				t.Errorf("%q has no --allow-empty", name)
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRootCmd(testCatalog(t)))
}

// TestNoInput checks that every command that reads files fails if there is no
// file to read, unless that is allowed, and that it accepts files without
// records.
func TestNoInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(line string, input ...string) (exit int, stderr string) {
		t.Helper()
		cmd, text := program(t, append(strings.Fields(line), input...)...)
		cmd.Dir = dir
		return code(t, cmd.Run()), text.String()
	}
	for _, name := range []string{"empty/below", "linked"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("..", filepath.Join(dir, "linked", "up")); err != nil { // a link to a folder is no file
		t.Fatal(err)
	}
	for name, text := range map[string]string{"zero": "", "urls": "http://a.b/\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if exit, text := run("seen build set urls"); exit != 0 {
		t.Fatal(text)
	}
	for _, line := range fileCommands {
		for _, input := range []string{"empty", "linked", "*.none", "linked/**"} {
			if exit, text := run(line, input); exit != command.ExitUsage || !strings.Contains(text, "no such input: "+input+": no files") {
				t.Errorf("urlfold %s %s: exit code %d, %s", line, input, exit, text)
			}
			if exit, text := run(line, input, "--allow-empty"); exit != command.ExitDone {
				t.Errorf("urlfold %s %s --allow-empty: exit code %d, %s", line, input, exit, text)
			}
			removeSet(t, dir)
		}
		for _, input := range []string{"gone", "urls gone", "zero *.none"} {
			if exit, text := run(line, strings.Fields(input)...); exit != command.ExitUsage || !strings.Contains(text, "no such input: ") {
				t.Errorf("urlfold %s %s: exit code %d, %s", line, input, exit, text)
			}
			removeSet(t, dir)
		}
		if exit, _ := run(line, "gone", "--allow-empty"); exit != command.ExitUsage {
			t.Errorf("urlfold %s gone --allow-empty: exit code %d", line, exit)
		}
		inputs := []string{"zero", "zero zero empty/../zero"}
		if line != "check" && line != "check --integrity" {
			inputs = append(inputs, "-", "")
		}
		for _, input := range inputs {
			if exit, text := run(line, strings.Fields(input)...); exit != command.ExitDone {
				t.Errorf("urlfold %s %s: exit code %d, %s", line, input, exit, text)
			}
			removeSet(t, dir)
		}
	}
	if exit, text := run("--exclude urls urls"); exit != command.ExitUsage {
		t.Errorf("all files excluded: exit code %d, %s", exit, text)
	}
	for _, line := range []string{"--exclude urls urls --allow-empty", "--shard 0/2 --shard-by path urls", "--shard 1/2 --shard-by path urls"} {
		if exit, text := run(line); exit != command.ExitDone {
			t.Errorf("urlfold %s: exit code %d, %s", line, exit, text)
		}
	}
}

// removeSet removes what "seen build new" made.
func removeSet(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
}

// TestQuietDamage checks that --quiet leaves one line about each damaged input,
// and nothing about others.
func TestQuietDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pack, err := compress.NewPack(compress.Gzip, 0)
	if err != nil {
		t.Fatal(err)
	}
	whole := pack(nil, []byte("http://a.b/1\nhttp://a.b/2\n"))
	for name, text := range map[string][]byte{"good.gz": whole, "bad.gz": whole[:len(whole)-4]} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range fileCommands {
		root := newRootCmd(testCatalog(t))
		if sub, _, err := root.Find(strings.Fields(line)); err != nil || sub.Flag("quiet") == nil || sub.Name() == "check" {
			continue // without --quiet; check writes its lines to stdout
		}
		if strings.HasPrefix(line, "seen ") {
			cmd, text := program(t, "seen", "build", "--quiet", "--force", "set", "good.gz")
			cmd.Dir = dir
			if err := cmd.Run(); err != nil || text.Len() > 0 {
				t.Fatalf("%v: %s", err, text)
			}
		}
		cmd, text := program(t, append(strings.Fields(line), "--quiet", "good.gz", "bad.gz")...)
		cmd.Dir = dir
		if exit := code(t, cmd.Run()); exit != command.ExitFailOn || !strings.HasPrefix(text.String(), "urlfold: bad.gz: truncated at byte ") || strings.Count(text.String(), "\n") != 1 {
			t.Errorf("urlfold %s: exit code %d, %q", line, exit, text)
		}
	}
}

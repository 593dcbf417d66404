package cli

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/app/cli/help"
)

// TestShortHelp checks that -h of each command fits one screen, and that the help of urlfold
// shows each command with one job.
func TestShortHelp(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		text := help.Short(c)
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("%s: %d lines, at most 40", c.CommandPath(), n)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(line) - 1; n > 80 {
				t.Errorf("%s: %d columns, at most 80: %s", c.CommandPath(), n, line)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root := newRootCmd(testCatalog(t))
	walk(root)
	for _, args := range [][]string{{"-h"}, {"top", "-h"}} {
		var out strings.Builder
		root := newRootCmd(testCatalog(t))
		root.SetOut(&out)
		root.SetArgs(args)
		c, _, err := root.Find(args[:len(args)-1])
		if err == nil {
			err = root.Execute()
		}
		if want := help.Short(c); err != nil || out.String() != want {
			t.Errorf("%v: %v\n%s\nwant\n%s", args, err, out.String(), want)
		}
	}
	var listed []string
	for _, j := range help.Jobs {
		listed = append(listed, j.Commands...)
	}
	slices.Sort(listed)
	if names := rootNames(); !slices.Equal(listed, names) {
		t.Errorf("the jobs have the commands %q\nwant %q", listed, names)
	}
}

// fullWriter is the output of a full disk.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestHelpUnwritten: a help text that cannot be written is an error.
func TestHelpUnwritten(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"top", "--help"}} {
		root := newRootCmd(testCatalog(t))
		root.SetOut(fullWriter{})
		var stderr strings.Builder
		if code := run(t.Context(), root, args, &stderr); code != command.ExitFatal || !strings.Contains(stderr.String(), "write output: no space left") {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
	}
}

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// argumentsFor holds the arguments of commands that take others than a file.
var argumentsFor = map[string][]string{
	"urlfold daemon state": nil,
	"urlfold diff":         {"--against=rfc3986", "a.log"},
	"urlfold seen build":   {"new", "a.log"},
	"urlfold seen merge":   {"set", "a.log"},
	"urlfold seen query":   {"set", "a.log"},
	"urlfold daemon tap":   {"--admin=127.0.0.1:1"},
}

// TestFlagErrors: each flag that completes to a list of values names itself in the
// error about any other.
func TestFlagErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.log"), []byte("http://example.com/\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	build, stderr := program(t, "seen", "build", "set", "a.log")
	if build.Dir = dir; build.Run() != nil {
		t.Fatal(stderr)
	}
	checked := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			complete, ok := cmd.GetFlagCompletionFunc(f.Name)
			if !ok {
				return
			}
			if values, _ := complete(cmd, nil, ""); len(values) == 0 {
				return
			}
			checked++
			rest, special := argumentsFor[cmd.CommandPath()]
			if !special {
				rest = []string{"a.log"}
			}
			args := slices.Concat(strings.Fields(cmd.CommandPath())[1:], rest, []string{"--" + f.Name + "=no-such-value"})
			run, stderr := program(t, args...)
			run.Dir = dir
			if err := run.Run(); err == nil || !strings.Contains(stderr.String(), "--"+f.Name+": ") {
				t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, stderr)
			}
		})
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRootCmd(testCatalog(t)))
	if checked < 100 {
		t.Errorf("checked only %d flags", checked)
	}
}

package cli

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/urlfold/urlfold/config/field"
)

// TestFlagTags checks the tags of the fields that are flags, which are read when the
// program runs: a help text that contains the word for the value, uses that a command
// has, bounds that are sizes.
func TestFlagTags(t *testing.T) {
	uses := []string{"readers", "count", "diff", "collisions", "seen", "query", "check", "explain"}
	fields := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[options]()) {
		if f.Tag.Get("flag") == "" {
			continue
		}
		fields++
		for use := range strings.SplitSeq(f.Tag.Get("for"), ",") {
			if use != "" && !slices.Contains(uses, use) {
				t.Errorf("%s: no command has the use %q", f.Name, use)
			}
		}
		for bound := range strings.SplitSeq(f.Tag.Get("bounds"), ",") {
			if _, err := field.ParseSize(bound); bound != "" && err != nil {
				t.Errorf("%s: bound %q: %v", f.Name, bound, err)
			}
		}
		if f.Type == reflect.TypeFor[field.Size]() && f.Tag.Get("bounds") == "" {
			t.Errorf("%s: no bounds", f.Name)
		}
	}
	o := newOptions(nil)
	cmd := &cobra.Command{}
	o.register(cmd, &o)
	flags := 0
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags++
		_, bare, _ := strings.Cut(f.Usage, "`")
		if f.Usage == "" || bare == "" && f.Value.Type() != "bool" {
			t.Errorf("--%s: the help %q does not name the value", f.Name, f.Usage)
		}
	})
	if flags != fields || flags < 60 {
		t.Errorf("%d flags of %d fields", flags, fields)
	}
}

// TestSizeFlags: an error in a size is reported with the errors of all other flags, and
// counts only if no later value replaces it.
func TestSizeFlags(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		o := newOptions(nil)
		cmd := &cobra.Command{}
		o.register(cmd, &o)
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, err := o.resolve([]string{"-"}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	f("", "--max-url", "1Ki")
	f("", "--max-url", "x", "--max-url", "1Ki")
	f("--max-url: must be at most 1.0 GiB", "--max-url", "2GiB")
	f("--max-memory: must be at least 16 MiB\n--max-record: must be greater than 0\n--max-ratio: must be greater than 0, or -1 for no limit",
		"--max-record", "0", "--max-ratio", "0", "--max-memory", "15MiB")
	f("--max-decompressed: must be a size: a number and a unit, such as 64KiB, 1.5Mi or 10GB", "--max-decompressed", "no")
}

// TestLockStepMemory: the default of --max-memory is another one with --lock-step; what
// is given counts, also if it is the usual default, however it is written.
func TestLockStepMemory(t *testing.T) {
	for text, want := range map[string]field.Size{"": 64 * field.MiB, "1GiB": field.GiB, "1024MiB": field.GiB, "32MiB": 32 * field.MiB} {
		o := newOptions(nil)
		cmd := &cobra.Command{}
		o.register(cmd, &o)
		args := []string{"--lock-step", "-f", "lines"}
		if text != "" {
			args = append(args, "--max-memory", text)
		}
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		s, err := o.resolve([]string{"-"})
		if err != nil || s.MaxMemory != want {
			t.Errorf("%q: %v, want %v; %v", text, o.MaxMemory, want, err)
		}
	}
}

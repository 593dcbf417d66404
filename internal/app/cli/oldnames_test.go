package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// An old name of an option is a usage error that gives the new name, which a command has.
func TestOldNames(t *testing.T) {
	known := map[string]bool{}
	walk(newRootCmd(nil), func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known[f.Name] = true })
	})
	for old, now := range oldNames {
		if known[old] {
			t.Errorf("--%s is still an option", old)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(now, "--"), "=")
		name, _, _ = strings.Cut(name, " ")
		if strings.HasPrefix(now, "--") && !known[name] {
			t.Errorf("--%s was renamed to %s, which is no option", old, now)
		}
		var stderr strings.Builder
		if code := Run(nil, []string{"--" + old, "x"}, &stderr); code != 2 || !strings.Contains(stderr.String(), "--"+old+" was renamed: use "+now) {
			t.Errorf("--%s: exit code %d, %s", old, code, &stderr)
		}
	}
}

// walk calls f for cmd and all commands below it.
func walk(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		walk(sub, f)
	}
}

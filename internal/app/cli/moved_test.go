package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// TestMoved: the name of a command that has gone is a usage error that names a command
// that exists.
func TestMoved(t *testing.T) {
	for _, m := range moved {
		for _, args := range [][]string{{m.old}, {m.old, "-c", "urlfold.yaml", "--unknown"}, {m.old, "--help"}} {
			var stderr bytes.Buffer
			if code := Run(testCatalog(t), args, &stderr); code != command.ExitUsage || !strings.Contains(stderr.String(), "urlfold "+m.now) {
				t.Errorf("%q: exit code %d, %s", args, code, &stderr)
			}
		}
		now, rest, err := newRootCmd(testCatalog(t)).Find(strings.Fields(m.now))
		if err != nil || !now.HasParent() || now.Hidden {
			t.Errorf("%s: no command %q", m.old, m.now)
			continue
		}
		for _, arg := range rest {
			if name, option := strings.CutPrefix(arg, "--"); option && now.Flag(name) == nil {
				t.Errorf("%s: %q has no option --%s", m.old, m.now, name)
			}
		}
	}
}

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// TestExpandedErrors: an error about a value from ${file:…} or ${NAME} names the
// reference and shows no part of the value, whatever finds the error.
func TestExpandedErrors(t *testing.T) {
	dir := t.TempDir()
	for i, value := range []string{"plain-secret-value", "s3cr\"et pass\tword", `status == "ok" && hiddenname == 2`} {
		if err := os.WriteFile(filepath.Join(dir, "mounted"), []byte(value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, reference := range []string{"${file:mounted}", "${MOUNTED}"} {
			var text strings.Builder
			text.WriteString("sources: [file: {include: [a]}]\nsinks: [file: {path: b}]\ncodec:\n")
			for _, key := range []string{"format", "dialect", "timezone", "query_encoding", "profile", "render", "base", "target"} {
				fmt.Fprintf(&text, "  %s: '%s'\n", key, reference)
			}
			text.WriteString("where: '" + reference + "'\n")
			name := filepath.Join(dir, fmt.Sprintf("c%d.yaml", i))
			if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd, stderr := program(t, "check", "-c", name)
			cmd.Env = append(os.Environ(), "MOUNTED="+value)
			if got := code(t, cmd.Run()); got != command.ExitUsage {
				t.Errorf("exit code %d", got)
			}
			for _, part := range []string{"secret", "s3cr", "hiddenname", "tword"} {
				if strings.Contains(value, part) && strings.Contains(strings.ReplaceAll(stderr.String(), "may contain a secret", ""), part) {
					t.Errorf("%s shows %q of its value:\n%s", reference, part, stderr)
				}
			}
			if !strings.Contains(stderr.String(), reference) {
				t.Errorf("no error names %s:\n%s", reference, stderr)
			}
		}
	}
}

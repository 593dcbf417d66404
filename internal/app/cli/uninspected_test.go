package cli

import (
	"strings"
	"testing"
)

// TestUninspected: the summary counts records that were not read in a run that
// hides secrets or passwords, and --fail-on uninspected makes them an exit code.
func TestUninspected(t *testing.T) {
	const line = `192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] "GET /a?token=hidden HTTP/1.1" 200 5 "http://h/?token=hidden" "x"` + "\n"
	for _, test := range []struct {
		input, flags string
		code         int
		count        bool
	}{
		{line, "--secret token --fail-on uninspected", 0, false},
		{line + "other token=hidden;\n", "--secret token --fail-on uninspected", 4, true},
		{line + "other token=hidden;\n", "--secret token", 0, true},
		{line + "other\n", "--redact passwords --fail-on uninspected", 4, true},
		{line + "other\n", "--fail-on uninspected", 0, false},
		{line + "other\n", "--fail-on damage,flags --fail-on no-url,no-field", 0, false},
		{line + "other\n", "--fail-on no-url --fail-on damage,rejected", 4, false},
		{strings.Replace(line, "/a?token=hidden", "-", 1), "--fail-on rejected,no-url", 4, false},
		{line, "--fail-on never", 2, false},
		{line, "--fail-on rejects", 2, false},
		{line, "--fail-on none,damage", 2, false},
		{line, "--redact=true", 2, false},
	} {
		cmd, stderr := program(t, append(strings.Fields(test.flags), "-f", "combined")...)
		cmd.Stdin = strings.NewReader(test.input)
		out, err := cmd.Output()
		if got := code(t, err); got != test.code || strings.Contains(stderr.String(), "uninspected  ") != test.count {
			t.Errorf("%q %s: exit code %d, want %d\n%s", test.input, test.flags, got, test.code, stderr)
		}
		if strings.Contains(test.flags, "--secret") && strings.Contains(string(out), "hidden") {
			t.Errorf("%q %s: %s", test.input, test.flags, out)
		}
	}
}

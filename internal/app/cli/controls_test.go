package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Text for people holds no control character of a file name or a URL.
func TestNoControls(t *testing.T) {
	dir := t.TempDir()
	evil := filepath.Join(dir, "evil\x1b[2J\u009b31m\x9b\rname.gz")
	if err := os.WriteFile(evil, []byte("\x1f\x8b\x08\x00garbage"), 0o600); err != nil {
		t.Skipf("the file system does not take such names: %v", err)
	}
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	urls := write("urls", "http://a.b/\x1b[31m\u009bx\nhttp://a.b/%1B%5B31m\u009bx#f\n")
	const csi = "http://a.b/\x1b[31m\u009bq?\x9b\x7f"
	for _, args := range [][]string{
		{evil}, {evil, "-o", filepath.Join(dir, "out\x1b[1m")}, {evil + "none"}, {"check", "--integrity", evil}, {"check", "--integrity", evil + "none"},
		{"explain", csi}, {"explain", "--profile", "rfc3986", csi}, {"explain", "--vs", csi + "x", csi}, {"run", "-c", evil}, {"--no\x1b[1m"}, {"-p", "x\x1b[1m", urls},
		{"diff", "-p", "equiv", "--against", "crawler", urls, evil}, {"profiles", "x\x1b[1m"}, {"flags", "x\x1b[1m"}, {"encode", "--component", "x\x1b[1m"},
	} {
		cmd, stderr := program(t, args...)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		_ = cmd.Run() // some commands fail, and their messages are checked, too
		out := stdout.String() + stderr.String()
		if out == "" {
			t.Errorf("%q says nothing", args)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }); i >= 0 || !utf8.ValidString(out) {
			t.Errorf("%q writes a control character: %q", args, out[max(0, i-40):min(len(out), max(0, i)+40)])
		}
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain /ä/日本":       "plain /ä/日本",
		"a\tb\nc":           "a\tb\nc",
		"\x1b[31mred\x1b[m": `\x1b[31mred\x1b[m`,
		"\a\b\r\v\f\x00":    `\x07\x08\x0d\x0b\x0c\x00`,
		"\x7f":              `\u007f`,
		"\u009b31m":         `\u009b31m`,
		"\x9b31m":           `\x9b31m`,
		"caf\xe9":           `caf\xe9`,
		"\ufffd":            "\ufffd",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var b bytes.Buffer
	w := &terminalWriter{w: &b}
	records := "caf\xe9\r\n\x1b]0;title\a\x9b1m\rover\n"
	if n, err := w.Write([]byte(records)); n != len(records) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got, want := b.String(), "caf\xe9\r\n"+`\x1b]0;title\x07\x9b1m\x0dover`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if forTerminal(&b) != &b {
		t.Error("what is no terminal gets other bytes")
	}
}

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
		{evil}, {evil, "-o", filepath.Join(dir, "out\x1b[1m")}, {evil + "none"}, {"verify", evil}, {"verify", evil + "none"},
		{"explain", csi}, {"explain", "--profile", "rfc3986", csi}, {"explain", "--vs", csi + "x", csi}, {"run", "-c", evil}, {"--no\x1b[1m"}, {"-p", "x\x1b[1m", urls},
		{"diff", "-p", "equiv", "--against", "crawler", urls, evil}, {"profiles", "x\x1b[1m"}, {"flags", "x\x1b[1m"}, {"encode", "--component", "x\x1b[1m"},
	} {
		cmd, stderr := command(t, args...)
		var stdout bytes.Buffer
		cmd.Stdout = &stdout
		_ = cmd.Run() // some fail, and that is as good
		out := stdout.String() + stderr.String()
		if out == "" {
			t.Errorf("%q says nothing", args)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return isUnsafe(r) }); i >= 0 || !utf8.ValidString(out) || strings.ContainsFunc(out, func(r rune) bool { return r != '\n' && r != '\t' && unicode.Is(unicode.Cc, r) }) {
			t.Errorf("%q writes a control character: %q", args, out[max(0, i-40):min(len(out), max(0, i)+40)])
		}
	}
}

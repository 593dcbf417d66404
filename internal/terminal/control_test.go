package terminal

import (
	"bytes"
	"testing"
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
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := &escaper{w: &b}
	records := "caf\xe9\r\n\x1b]0;title\a\x9b1m\rover\n"
	if n, err := w.Write([]byte(records)); n != len(records) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got, want := b.String(), "caf\xe9\r\n"+`\x1b]0;title\x07\x9b1m\x0dover`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if Writer(&b) != &b {
		t.Error("what is no terminal gets other bytes")
	}
}

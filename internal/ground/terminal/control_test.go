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
		"a\u202eb\u2066":    `a\u202eb\u2066`,
		"\u200f\u061c":      `\u200f\u061c`,
		"a\u2028b\u2029":    `a\u2028b\u2029`,
		"\U000e0041":        `\U000e0041`,
		"\u200d\ufe0f":      "\u200d\ufe0f", // joins and styles emoji
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := &screen{w: &b, records: true}
	records := "caf\xe9\r\n\x1b]0;title\a\x9b1m\rover\n"
	if n, err := w.Write([]byte(records)); n != len(records) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if got, want := b.String(), "caf\xe9\r\n"+`\x1b]0;title\x07\x9b1m\x0dover`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if Writer(&b) != &b || Screen(&b) != &b || File(&b) != &b {
		t.Error("what is no terminal gets other bytes")
	}
}

// TestScreen checks that the text of commands keeps its own colors, however it
// is cut into pieces, and nothing else.
func TestScreen(t *testing.T) {
	text := Style{Color: true}.Paint(Red, "a→b") + "\x1b[7mx\x1b[2Jy\x1b]0;t\a\u202e\r\n" + Style{Color: true}.Paint(Bold, "\u009bé") + "\x1b[1;31m\xff\x1b[31"
	want := "\x1b[31ma→b\x1b[0m" + `\x1b[7mx\x1b[2Jy\x1b]0;t\x07\u202e\x0d` + "\n\x1b[1m" + `\u009b` + "é\x1b[0m" + `\x1b[1;31m\xff`
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		w := &screen{w: &b}
		for i := 0; i < len(text); i += size {
			if _, err := w.Write([]byte(text[i:min(len(text), i+size)])); err != nil {
				t.Fatal(err)
			}
		}
		if b.String() != want {
			t.Errorf("pieces of %d bytes: %q, want %q", size, b.String(), want)
		}
	}
}

// TestPieces checks that records are shown alike, however they are cut.
func TestPieces(t *testing.T) {
	text := "é→😀\u202e\xe9\r\na\rb\xe2\x82\n"
	want := "é→😀" + `\u202e` + "\xe9\r\na" + `\x0d` + "b\xe2" + `\x82` + "\n"
	for size := 1; size <= len(text); size++ {
		var b bytes.Buffer
		w := &screen{w: &b, records: true}
		for i := 0; i < len(text); i += size {
			if _, err := w.Write([]byte(text[i:min(len(text), i+size)])); err != nil {
				t.Fatal(err)
			}
		}
		if b.String() != want {
			t.Errorf("pieces of %d bytes: %q, want %q", size, b.String(), want)
		}
	}
}

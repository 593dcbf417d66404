package charset

import (
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

// TestAppendChar decodes characters one by one and compares the text with the
// decoders of golang.org/x/text.
func TestAppendChar(t *testing.T) {
	for label, text := range map[string]string{
		"windows-1251": "\xF2\xE5\xF1\xF2 a", "latin1": "\x80\xE9", "koi8-r": "\xD4\xC5", "shift_jis": "\x93\xFA\x96{\x8C\xEA\xB1\x95\\a", "euc-jp": "\xC6\xFC\x8E\xB1\x8F\xA2\xAF",
		"gbk": "\xD6\xD0\xCE\xC4", "gb18030": "\x81\x30\x84\x36\xD6\xD0", "big5": "\xA4\xA4\xA4\xE5", "euc-kr": "\xC7\xD1\xB1\xDB", "x-user-defined": "\x80\xFF",
		"windows-1252": "a", "iso-8859-8-i": "\xE0",
	} {
		c, ok := ForDocument(label)
		if !ok || c == nil {
			t.Errorf("%s: no encoding", label)
			continue
		}
		e, err := htmlindex.Get(label)
		if err != nil {
			t.Fatal(err)
		}
		want, err := e.NewDecoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for rest := []byte(text); len(rest) > 0; {
			var n int
			got, n = c.AppendChar(got, rest)
			if n <= 0 || n > len(rest) {
				t.Fatalf("%s: a character of %d bytes", label, n)
			}
			rest = rest[n:]
		}
		if string(got) != want {
			t.Errorf("%s: got %q, want %q", label, got, want)
		}
	}
}

// TestAppendCharInvalid checks bytes that are not a character, and a character
// that is cut.
func TestAppendCharInvalid(t *testing.T) {
	for label, in := range map[string]string{"shift_jis": "\xFF", "gbk": "\x81", "big5": "\x87", "gb18030": "\x81\x30\x81", "euc-jp": "\x8F\xA2", "windows-1253": "\xAA"} {
		c, _ := ForDocument(label)
		if got, n := c.AppendChar([]byte("x"), []byte(in)); string(got) != "x\uFFFD" || n != 1 {
			t.Errorf("%s: got %q, %d", label, got, n)
		}
	}
}

// TestForDocument checks which labels have no decoder.
func TestForDocument(t *testing.T) {
	for _, label := range []string{"utf-8", "UTF8", "utf-16", "utf-16le"} {
		if c, ok := ForDocument(label); c != nil || !ok {
			t.Errorf("%s: got %v, %t", label, c, ok)
		}
	}
	for _, label := range []string{"iso-2022-jp", "x", ""} {
		if c, ok := ForDocument(label); c != nil || ok {
			t.Errorf("%s: got %v, %t", label, c, ok)
		}
	}
}

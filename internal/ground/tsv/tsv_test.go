package tsv

import (
	"bytes"
	"testing"
)

func TestEscape(t *testing.T) {
	f := func(value, escaped string) {
		t.Helper()
		if got := string(AppendEscaped(nil, []byte(value))); got != escaped {
			t.Errorf("escaped %q: got %q, want %q", value, got, escaped)
		}
		if got := string(AppendUnescaped(nil, []byte(escaped))); got != value {
			t.Errorf("unescaped %q: got %q, want %q", escaped, got, value)
		}
	}
	f("", "")
	f("plain", "plain")
	f("a\tb\nc\rd\\e", `a\tb\nc\rd\\e`)
	f(`\t`, `\\t`)
	if got := string(AppendUnescaped([]byte("-"), []byte(`a\`))); got != `-a\` {
		t.Errorf("an escape without its end: got %q", got)
	}
}

func FuzzEscape(f *testing.F) {
	f.Add([]byte("a\\\t\n\r\\"))
	f.Fuzz(func(t *testing.T, v []byte) {
		e := AppendEscaped(nil, v)
		if bytes.ContainsAny(e, "\t\n\r") || !bytes.Equal(AppendUnescaped(nil, e), v) {
			t.Errorf("%q became %q", v, e)
		}
	})
}

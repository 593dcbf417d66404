package escapes

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/app/cli/command"
)

func TestDecodeCommand(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		got, err := execEscape(newDecode(), strings.NewReader("stdin"), args...)
		if got != want || err != nil {
			t.Errorf("decode %q: %q, %v, want %q", args, got, err, want)
		}
	}
	f("stdin")
	f("my document\n", "my%20document")
	f("%41\n", "%2541") // once
	f("%zz%\na+b\n", "%zz%", "a+b")
	f("\xff\x00\n\n", "%FF%00%0a")
	f("Tom & Jerry\n", "--form", "Tom+%26+Jerry")
	f("1 + 1\n", "--standard", "form", "1+%2B+1")
	f("1 + 1\n", "--form", "--strict", "--component", "query-value", "1+%2B+1")
	f("a/b c\n", "--strict", "a/b%20c")
	f("a/b c\n", "--strict", "--component", "path", "a/b%20c")
	f("a b c\n", "--component", "path", "a b%20c") // only --strict refuses
}

func TestDecodeCommandErrors(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		_, err := execEscape(newDecode(), strings.NewReader(""), args...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("decode %q: error %v, want one with %q", args, err, want)
		}
	}
	f("argument 2: malformed percent-encoding at offset 3: truncated", "--strict", "ok", "100%")
	f("malformed percent-encoding at offset 0: percent-u", "--strict", "%u0041")
	f("malformed percent-encoding at offset 0: non-hex", "--strict", "--component", "path", "%zz a")
	f("raw byte 0x20 at offset 1 is not allowed in path-segment (rfc3986)", "--strict", "--component", "path-segment", "a b%zz")
	f("raw byte 0x26 at offset 1 is not allowed in query-value (form)", "--strict", "--form", "--component", "query-value", "a&b")
	f(`unknown standard "x"`, "--standard", "x")
	f(`unknown standard "x"`, "--standard", "x", "--component", "path")
	f(`component "port"`, "--component", "port")
	f("--form: cannot be combined with --standard whatwg", "--form", "--standard", "whatwg")
	f(`unknown component "path" for standard form`, "--form", "--component", "path")
}

// TestDecodeStrictLines checks that the error tells the line, is a [*percent.MalformedError], shows nothing of the text, and comes
// after the lines before it.
func TestDecodeStrictLines(t *testing.T) {
	out, err := execEscape(newDecode(), strings.NewReader("a%20b\nsecret%\nc"), "--strict")
	var stray *percent.MalformedError
	if !errors.As(err, &stray) || stray.Offset != 6 || err.Error() != "line 2: malformed percent-encoding at offset 6: truncated" {
		t.Errorf("error %v", err)
	}
	if e := (*command.Error)(nil); !errors.As(err, &e) || e.Code != command.ExitUsage {
		t.Errorf("the exit code is not %d: %v", command.ExitUsage, err)
	}
	if out != "a b\n" {
		t.Errorf("output %q", out)
	}
}

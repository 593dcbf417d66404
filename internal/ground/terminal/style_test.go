package terminal

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestNewStyle(t *testing.T) {
	f := func(want Style, env ...string) {
		t.Helper()
		getenv := func(name string) string {
			for _, e := range env {
				if v, ok := strings.CutPrefix(e, name+"="); ok {
					return v
				}
			}
			return ""
		}
		if got := NewStyle(&bytes.Buffer{}, getenv); got != want {
			t.Errorf("%v: %+v, want %+v", env, got, want)
		}
	}
	f(Style{Width: 80})
	f(Style{Width: 80, Unicode: true}, "LANG=en_US.UTF-8")
	f(Style{Width: 80, Unicode: true}, "LC_CTYPE=C.utf8", "LANG=C")
	f(Style{Width: 80}, "LC_ALL=C", "LANG=en_US.UTF-8") // the first that is set decides
	f(Style{Width: 100}, "COLUMNS=100")
	f(Style{Width: MaxWidth}, "COLUMNS=1000")
	f(Style{Width: minWidth}, "COLUMNS=1")
	f(Style{Width: 80}, "COLUMNS=wide")
}

func TestPaint(t *testing.T) {
	if got := (Style{Color: true}).Paint(Red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("got %q", got)
	}
	if got := (Style{}).Paint(Red, "x"); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestWrap(t *testing.T) {
	f := func(text string, width int, want ...string) {
		t.Helper()
		if got := Wrap(text, width); !slices.Equal(got, want) {
			t.Errorf("Wrap(%q, %d) = %q, want %q", text, width, got, want)
		}
	}
	f("", 10, "")
	f("a b c", 3, "a b", "c")
	f("longer than it", 4, "longer", "than", "it")
	f("§ § §", 3, "§ §", "§") // a rune is a column
}

func TestFolded(t *testing.T) {
	f := func(fold int, line, want string) {
		t.Helper()
		if got := (Style{Fold: fold}).Folded(line, 4); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(0, "a line that no terminal shows", "a line that no terminal shows")
	f(12, "  one two three  four", "  one two\n    three \n    four")
	f(12, "  averyveryverylongword b", "  averyveryverylongword\n    b")
	f(12, Style{Color: true}.Paint(Red, "one two")+" three", Style{Color: true}.Paint(Red, "one two")+"\n    three")
	f(10, "日本 日本 日本", "日本 日本\n    日本")
	f(12, "", "")
}

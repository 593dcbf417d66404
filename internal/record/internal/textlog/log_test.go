package textlog

import (
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// TestAddNumbers compares the numbers that addNumbers finds with the words of the text.
func TestAddNumbers(t *testing.T) {
	sizes := []string{"0", "7", "00", "01", "10", "2326", "1234567", "12345678", "123456789", "123456789012345678", "-", "1a", "a1", "1/", "1:", "\xb11", "12\xb1"}
	for _, status := range []string{"200", "999", "100", "099", "000", "-"} {
		for _, size := range sizes {
			for _, space := range []string{" ", "  "} {
				for _, after := range []string{"", " ", " 1", " 12345678", " abcdefghijk"} {
					body := []byte("x" + status + space + size + after)
					var f locate.Found
					f.Attrs.Needed = 1<<locate.AttrStatus | 1<<locate.AttrBytes
					addNumbers(&f, body, 1)
					got := [...]string{string(f.Attrs.Values[locate.AttrStatus].In(body)), string(f.Attrs.Values[locate.AttrBytes].In(body))}
					if want := [...]string{status, size}; got != want {
						t.Errorf("%q: %q, want %q", body, got, want)
					}
				}
			}
		}
	}
}

func TestTimeBracket(t *testing.T) {
	for text, want := range map[string]int{
		"": -1, "[": 0, "x": -1,
		"[02/Nov/2026:06:25:15 +0100":        0,
		"a - - [02/Nov/2026:06:25:15 +0100":  6,
		"a - - [02/Nov/2026:06:25:15 [+0100": 28,
		"[ - - [02/Nov/2026:06:25:15.5 +010": 6,
		"[02/Nov/2026:06:25:15 +010[":        26,
	} {
		if got := timeBracket([]byte(text)); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

package terminal

import "testing"

// plain and fancy are styles for tests.
var (
	plain = Style{Width: 80}
	fancy = Style{Width: 80, Unicode: true}
)

func TestCells(t *testing.T) {
	f := func(s Style, text, want string, width int) {
		t.Helper()
		at, columns := 0, 0
		for _, c := range s.Cells([]byte(text)) {
			if c.Start != at || c.End <= at {
				t.Fatalf("%q: a cell of bytes %d to %d follows byte %d", text, c.Start, c.End, at)
			}
			at, columns = c.End, columns+c.Width
		}
		if at != len(text) {
			t.Errorf("%q: the cells end at byte %d", text, at)
		}
		if got := s.Escape(text); got != want || columns != width {
			t.Errorf("%q: %q, %d columns; want %q, %d", text, got, columns, want, width)
		}
	}
	f(fancy, "a%zz", "a%zz", 4)
	f(fancy, "ü", "ü", 1)
	f(plain, "ü", `\u00fc`, 6)
	f(fancy, "日本", "日本", 4) // wide: Unicode Annex 11
	f(fancy, "\x00\x1b[2J\x7f", `\x00\x1B[2J\x7F`, 15)
	f(fancy, "\xff\xed\xa0\x80", `\xFF\xED\xA0\x80`, 16)
	f(fancy, "\u202eabc", `\u202eabc`, 9) // it would turn the direction of writing
	f(fancy, "e\u0301", `e\u0301`, 7)     // it would take no column
	f(fancy, "\u05d0", `\u05d0`, 6)       // it would be written from right to left
	f(plain, "\U0001f600", `\U0001f600`, 10)
}

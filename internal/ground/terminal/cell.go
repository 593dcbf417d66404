package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Cell is the representation of one character on the screen.
type Cell struct {
	Text       string
	Width      int // columns
	Start, End int // byte range of the character in the text
}

// Cells returns the cells of text. It shows bytes that are not UTF-8, and
// characters that would move the cursor or change the direction of writing, as
// escapes: \x00 for a byte, \u200f for a character.
func (s Style) Cells(text []byte) []Cell {
	var out []Cell
	for i := 0; i < len(text); {
		c := s.cell(text[i:])
		c.Start, c.End = i, i+c.End
		out = append(out, c)
		i = c.End
	}
	return out
}

// cell returns the first cell of b, with Start 0 and End its length in bytes.
func (s Style) cell(b []byte) Cell {
	r, n := utf8.DecodeRune(b)
	switch {
	case r == utf8.RuneError && n <= 1, r < ' ', r == 0x7F:
		return Cell{fmt.Sprintf(`\x%02X`, b[0]), 4, 0, 1}
	case r < utf8.RuneSelf:
		return Cell{string(r), 1, 0, 1}
	case s.Unicode && isShowable(r):
		return Cell{string(r), RuneWidth(r), 0, n}
	case r > 0xFFFF:
		return Cell{fmt.Sprintf(`\U%08x`, r), 10, 0, n}
	}
	return Cell{fmt.Sprintf(`\u%04x`, r), 6, 0, n}
}

// Escape returns text with the escapes of [Style.Cells].
func (s Style) Escape(text string) string {
	var b strings.Builder
	for _, c := range s.Cells([]byte(text)) {
		b.WriteString(c.Text)
	}
	return b.String()
}

// isShowable reports whether r is printable, takes its own column, and is
// written from left to right.
func isShowable(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Hebrew, unicode.Arabic,
		unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// RuneWidth returns the number of columns of a character: 2 for a wide or
// fullwidth one (Unicode Annex 11), else 1.
func RuneWidth(r rune) int {
	for _, b := range [...][2]rune{
		{0x1100, 0x115F}, {0x2E80, 0x303E}, {0x3041, 0xA4CF}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
		{0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
		{0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
	} {
		if r >= b[0] && r <= b[1] {
			return 2
		}
	}
	return 1
}

package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A style is how a stream is written to: with colors or not, with characters
// that are not ASCII or not, and how wide. The zero style is plain ASCII of no
// width: use newStyle.
type style struct {
	color   bool
	unicode bool
	width   int // columns
}

// Widths that are drawn for: narrower does not hold a URL, wider is hard to
// read.
const (
	minWidth     = 40
	defaultWidth = 80
	maxWidth     = 120
)

// newStyle looks at w and the environment. Colors are for terminals only, and
// not for those who set NO_COLOR (https://no-color.org) or TERM=dumb.
func newStyle(w io.Writer, getenv func(string) string) style {
	s := style{unicode: isUTF8(getenv), width: defaultWidth}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
			s.width = cols
		}
	}
	if cols, err := strconv.Atoi(getenv("COLUMNS")); err == nil && cols > 0 {
		s.width = cols
	}
	s.width = min(max(s.width, minWidth), maxWidth)
	return s
}

// isUTF8 reports whether the locale is in UTF-8: the first variable that is set
// decides (POSIX, Base Definitions §8.2).
func isUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// isTerminal reports whether f, a reader or a writer, is a terminal.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// The colors: the codes of ECMA-48 §8.3.117.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint returns text in a color, or as it is.
func (s style) paint(color, text string) string {
	if !s.color || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// pick returns the first text where characters beyond ASCII can be shown.
func (s style) pick(unicode, ascii string) string {
	if s.unicode {
		return unicode
	}
	return ascii
}

// wrap breaks text at spaces into lines of at most width columns, but for words
// that are longer. It is for the program's own sentences, where a rune is a
// column.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

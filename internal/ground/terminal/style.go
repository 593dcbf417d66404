package terminal

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A Style holds the capabilities of an output stream. The zero Style means
// plain ASCII of unknown width; see [NewStyle].
type Style struct {
	Color   bool
	Unicode bool // non-ASCII characters are supported
	Width   int  // columns
	Fold    int  // columns at which Folded breaks lines; 0 if the output is not a terminal
}

// Limits of Style.Width, in columns. Narrower screens cannot hold a URL, and
// wider text is hard to read.
const (
	minWidth     = 40
	defaultWidth = 80
	MaxWidth     = 120 // also the width of help texts
)

// NewStyle returns the style of w in an environment. Only terminals get colors,
// unless NO_COLOR (https://no-color.org) or TERM=dumb is set.
func NewStyle(w io.Writer, getenv func(string) string) Style {
	s := Style{Unicode: isUTF8(getenv), Width: defaultWidth}
	if f, ok := File(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.Color = getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
			s.Width = cols
		}
	}
	if cols, err := strconv.Atoi(getenv("COLUMNS")); err == nil && cols > 0 {
		s.Width = cols
	}
	s.Width = min(max(s.Width, minWidth), MaxWidth)
	if Is(w) {
		s.Fold = s.Width
	}
	return s
}

// isUTF8 reports whether the locale uses UTF-8. The first variable that is set
// decides (POSIX, Base Definitions §8.2).
func isUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// Colors for [Style.Paint]: codes of ECMA-48 §8.3.117.
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

const (
	colorStart = "\x1b["
	colorReset = "0"
)

// Paint returns text in a color, or unchanged if color is empty or the style
// has no colors.
func (s Style) Paint(color, text string) string {
	if !s.Color || color == "" || text == "" {
		return text
	}
	return colorStart + color + "m" + text + colorStart + colorReset + "m"
}

// colorLen returns the length of the color code at the beginning of text, or 0
// if Paint writes no such code.
func colorLen(text []byte) int {
	rest, ok := bytes.CutPrefix(text, []byte(colorStart))
	color, _, end := bytes.Cut(rest[:min(len(rest), len(Red)+1)], []byte{'m'})
	if !ok || !end {
		return 0
	}
	switch string(color) {
	case Bold, Dim, Red, Green, Yellow, Cyan, colorReset:
		return len(colorStart) + len(color) + 1
	}
	return 0
}

// Pick returns unicode if the style supports non-ASCII characters, else ascii.
func (s Style) Pick(unicode, ascii string) string {
	if s.Unicode {
		return unicode
	}
	return ascii
}

// Wrap breaks text at spaces into lines of at most width columns. Longer words
// get their own line. It counts each rune as one column, which is right for the
// program's own texts.
func Wrap(text string, width int) []string {
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

// FoldedLines returns text with each line folded. A continuation is indented
// two columns more than its line.
func (s Style) FoldedLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = s.Folded(l, len(l)-len(strings.TrimLeft(l, " "))+2)
	}
	return strings.Join(lines, "\n")
}

// Folded breaks line at spaces into lines of at most s.Fold columns. It keeps the
// indentation of the first line and indents the others by indent. The line may
// contain colors. Folded never breaks a word.
func (s Style) Folded(line string, indent int) string {
	if s.Fold == 0 {
		return line
	}
	indent = min(indent, s.Fold/2)
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(line, " ") {
		width := 0
		for _, c := range Printable(string(unpainted([]byte(word)))) {
			width += RuneWidth(c)
		}
		switch {
		case i == 0:
		case at > indent && width > 0 && at+1+width > s.Fold:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += width
	}
	return b.String()
}

// unpainted returns text without the color codes of Paint.
func unpainted(text []byte) (out []byte) {
	for i := 0; i < len(text); {
		if n := colorLen(text[i:]); n > 0 {
			i += n
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out
}

// Capital returns text with its first letter in upper case, if it is an ASCII
// letter.
func Capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}

// LowerFirst returns text with its first letter in lower case.
func LowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }

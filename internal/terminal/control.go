package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File names, URLs and records may hold control characters, by which who has made them
// could write over what is on the screen, or have the terminal do worse. Text for people
// never holds one of them. Records are bytes: they are changed only on their way to a
// terminal, where no program reads them.

// Printable returns text with its control characters as escapes, except for line feeds
// and tabs: \x1b for those of ASCII and for bytes that are no UTF-8, \u009b for the others.
func Printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || isUnsafe(r) }) {
		return text
	}
	return string(appendPrintable(nil, []byte(text), false))
}

// OneLine returns path as it is, or quoted if it holds control characters.
func OneLine(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) || !utf8.ValidString(path) {
		return strconv.Quote(path)
	}
	return path
}

// isUnsafe reports whether r is a control character of ECMA-48 (C0, C1, DEL) that is
// no line feed and no tab.
func isUnsafe(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }

// appendPrintable appends text, see [Printable]. Of bytes that are no UTF-8 those stay
// as they are that are no controls of an 8-bit terminal, if records is set, and so do
// carriage returns before line feeds.
func appendPrintable(dst, text []byte, records bool) []byte {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		b := text[i]
		switch {
		case r == utf8.RuneError && n <= 1:
			if records && b >= 0xa0 {
				dst = append(dst, b)
			} else {
				dst = fmt.Appendf(dst, `\x%02x`, b)
			}
		case records && b == '\r' && i+1 < len(text) && text[i+1] == '\n':
			dst = append(dst, b)
		case !isUnsafe(r):
			dst = append(dst, text[i:i+n]...)
		case r < utf8.RuneSelf && r != 0x7f:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		default: // as JSON has it, too
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		i += n
	}
	return dst
}

// Writer returns w, or, if that is a terminal, a writer that writes the control
// characters of records as escapes. What goes to a file or a pipe is never changed.
func Writer(w io.Writer) io.Writer {
	if !Is(w) {
		return w
	}
	return &escaper{w: w}
}

// An escaper escapes what is written to a terminal.
type escaper struct {
	w   io.Writer
	buf []byte
}

// Write implements io.Writer.
func (e *escaper) Write(p []byte) (int, error) {
	e.buf = appendPrintable(e.buf[:0], p, true)
	if _, err := e.w.Write(e.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

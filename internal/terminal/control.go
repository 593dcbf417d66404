package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File names, URLs and records may contain control characters, with which an
// attacker could overwrite the screen or control the terminal. Messages for
// people never contain any. Records are data and are changed only when they are
// written to a terminal, where no program reads them.

// Printable returns text with its control characters, except for line feeds and
// tabs, replaced by escapes: \x1b for those of ASCII and for bytes that are not
// UTF-8, \u009b for the others.
func Printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || isUnsafe(r) }) {
		return text
	}
	return string(appendPrintable(nil, []byte(text), false))
}

// OneLine returns path, quoted if it contains control characters or is not
// UTF-8.
func OneLine(path string) string {
	if strings.ContainsFunc(path, unicode.IsControl) || !utf8.ValidString(path) {
		return strconv.Quote(path)
	}
	return path
}

// isUnsafe reports whether r is a control character of ECMA-48 (C0, C1, DEL)
// other than line feed and tab.
func isUnsafe(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }

// appendPrintable appends text as [Printable] returns it. If records is set, it
// also leaves carriage returns before line feeds unchanged, and bytes that are
// not UTF-8 unless they are control characters of an 8-bit terminal.
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
		default: // the same form as in JSON
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		i += n
	}
	return dst
}

// Writer returns w or, if w is a terminal, a writer that escapes control
// characters in records. Output to files and pipes is never changed.
func Writer(w io.Writer) io.Writer {
	if !Is(w) {
		return w
	}
	return &escaper{w: w}
}

// An escaper escapes control characters for a terminal.
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

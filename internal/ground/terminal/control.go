package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File names, URLs and records may contain characters with which an attacker
// could overwrite the screen, control the terminal, or show text that differs from
// what a program reads. Human-readable messages never contain such characters.
// Records are data: urlfold replaces the characters in them only on a terminal,
// where no program reads the records.

// Printable returns text with its unsafe characters replaced by escapes: \x1b
// for control characters of ASCII and for bytes that are not UTF-8, \u202e or
// \U000e0001 for the others. Line feeds and tabs stay.
func Printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || isUnsafe(r) }) {
		return text
	}
	return string(appendText(nil, []byte(text), false, false))
}

// OneLine returns path, quoted if it contains unsafe characters, line feeds or
// tabs, or is not UTF-8.
func OneLine(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return isUnsafe(r) || r == '\n' || r == '\t' }) || !utf8.ValidString(path) {
		return strconv.Quote(path)
	}
	return path
}

// isUnsafe reports whether r changes what a terminal shows without being seen: a
// control character of ECMA-48 (C0, C1, DEL) other than line feed and tab, a
// control of the direction of writing, a separator of lines or paragraphs, or a
// tag character, which no terminal shows.
func isUnsafe(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return (r < ' ' || r == 0x7F) && r != '\n' && r != '\t'
	case r >= 0xE0000 && r <= 0xE007F:
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// appendText appends text as [Printable] returns it. If records is set, it also
// leaves carriage returns before line feeds unchanged, and bytes that are not
// UTF-8 unless they are control characters of an 8-bit terminal. If painted is
// set, it leaves the colors of [Style.Paint] unchanged.
func appendText(dst, text []byte, records, painted bool) []byte {
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
		case !isUnsafe(r), records && b == '\r' && i+1 < len(text) && text[i+1] == '\n':
			dst = append(dst, text[i:i+n]...)
		case painted && colorLen(text[i:]) > 0:
			n = colorLen(text[i:])
			dst = append(dst, text[i:i+n]...)
		case r < utf8.RuneSelf && r != 0x7f:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r > 0xFFFF:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		default: // the same form as in JSON
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		i += n
	}
	return dst
}

package locate

import "bytes"

// This file skips the escape sequences with which programs set colors (ECMA-48,
// SGR), such as ESC [ 1 ; 31 m. Some programs write them to files, too.

// ColorsEnd returns the end of the sequences at pos.
func ColorsEnd(rec []byte, pos int) int {
	for bytes.HasPrefix(rec[pos:], []byte("\x1b[")) {
		end := pos + len("\x1b[")
		for end < len(rec) && isColor(rec[end]) {
			end++
		}
		if end == len(rec) || rec[end] != 'm' {
			break
		}
		pos = end + len("m")
	}
	return pos
}

// ColorsStart returns the start of the sequences that end at end.
func ColorsStart(rec []byte, end int) int {
	for end > 0 && rec[end-1] == 'm' {
		start := end - len("m")
		for start > 0 && isColor(rec[start-1]) {
			start--
		}
		if !bytes.HasSuffix(rec[:start], []byte("\x1b[")) {
			break
		}
		end = start - len("\x1b[")
	}
	return end
}

// isColor reports whether c belongs to the numbers of a sequence.
func isColor(c byte) bool { return IsDigit(c) || c == ';' }

// BlanksEnd returns the end of the spaces and sequences at pos.
func BlanksEnd(rec []byte, pos int) int {
	for {
		for pos < len(rec) && rec[pos] == ' ' {
			pos++
		}
		end := ColorsEnd(rec, pos)
		if end == pos {
			return pos
		}
		pos = end
	}
}

// WithoutColors returns the part s of body without the sequences at its start and end.
func WithoutColors(body []byte, s Span) Span {
	s.Start = min(ColorsEnd(body[:s.End], s.Start), s.End)
	s.End = max(ColorsStart(body[:s.End], s.End), s.Start)
	return s
}

package record

import "bytes"

// This file skips the escape sequences with which programs set colors (ECMA-48, SGR),
// such as ESC [ 1 ; 31 m. Some write them to files, too.

// colorsEnd returns the end of the sequences at pos.
func colorsEnd(rec []byte, pos int) int {
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

// colorsStart returns the start of the sequences that end at end.
func colorsStart(rec []byte, end int) int {
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
func isColor(c byte) bool { return isDigit(c) || c == ';' }

// blanksEnd returns the end of the spaces and sequences at pos.
func blanksEnd(rec []byte, pos int) int {
	for {
		for pos < len(rec) && rec[pos] == ' ' {
			pos++
		}
		end := colorsEnd(rec, pos)
		if end == pos {
			return pos
		}
		pos = end
	}
}

// withoutColors returns the part s of body without the sequences at its start and end.
func withoutColors(body []byte, s span) span {
	s.start = min(colorsEnd(body[:s.end], s.start), s.end)
	s.end = max(colorsStart(body[:s.end], s.end), s.start)
	return s
}

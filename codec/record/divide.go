package record

import (
	"bytes"
)

// This file says what separates the fields of a record. Formats in which only white
// space and quotes do need no divider, because they end every hidden value.

// divider is implemented by Locators of records with other separators.
type divider interface {
	// divide appends what is between the fields of a record: ranges that stay as they
	// are, and that no hidden value goes beyond. If rec does not match the format, it
	// appends nothing; f is what Locate has found in it.
	divide(dst []span, rec []byte, f *Found) []span
}

// divide implements [divider].
func (t *tableReader) divide(dst []span, rec []byte, f *Found) []span {
	body, start := trimEnd(rec), len(dst)
	syntax := t.of(body)
	for pos := markLen(body); ; {
		_, _, next, ok := syntax.cell(body, pos)
		switch {
		case !ok && f.n == 0:
			return dst[:start]
		case !ok || next > len(body):
			return dst
		}
		dst, pos = append(dst, span{next - 1, next}), next
	}
}

// divide implements [divider].
func (l *layoutReader) divide(dst []span, rec []byte, _ *Found) []span {
	body, start := trimEnd(rec), len(dst)
	pos := markLen(body)
	for i := range l.elems {
		if lit := l.elems[i].lit; lit != nil {
			if !bytes.HasPrefix(body[pos:], lit) {
				return dst[:start]
			}
			dst = append(dst, span{pos, pos + len(lit)})
			pos += len(lit)
		} else if pos = l.fieldEnd(i, body, pos); pos < 0 {
			return dst[:start]
		}
	}
	return dst
}

// divide implements [divider]. Only the time is in brackets.
func (l *logReader) divide(dst []span, rec []byte, _ *Found) []span {
	open := requestQuote(rec)
	if open < 0 {
		return dst
	}
	const end = len(`] "`)
	time := timeBracket(rec[:open-end])
	dst = appendSpaces(dst, rec, 0, time)
	return append(dst, span{time, time + 1}, span{open - end, open})
}

// appendSpaces appends each space of rec[from:to].
func appendSpaces(dst []span, rec []byte, from, to int) []span {
	for i := from; i < to; i++ {
		if rec[i] == ' ' {
			dst = append(dst, span{i, i + 1})
		}
	}
	return dst
}

// divide implements [divider].
func (l *textLocator) divide(dst []span, rec []byte, _ *Found) []span {
	body := trimEnd(rec)
	l.marks.Read(body)
	for i := range l.compiled {
		layout := &l.compiled[i]
		n, _ := layout.split(l.spans[:len(layout.fields)], body, l.marks, l.cuts)
		if n < layout.must {
			continue
		}
		pos := 0
		for i, s := range l.spans[:n] {
			if i > 0 || !layout.floats {
				dst = append(dst, span{pos, s.start})
			}
			if sep := layout.fields[i].use.separator(); sep != 0 {
				for at := s.start; at < s.end; at++ {
					if body[at] == sep {
						dst = append(dst, span{at, at + 1})
					}
				}
			}
			pos = s.end
		}
		if pos < len(body) {
			dst = append(dst, span{pos, pos + 1}) // a quote, a bracket or a space
		}
		break
	}
	return dst
}

// separator returns the byte that separates the parts of a field, or 0.
func (u textUse) separator() byte {
	switch u {
	case useCaptures:
		return '|'
	case useLast, useServer:
		return '/'
	case useForwarded:
		return ','
	}
	return 0
}

// divide implements [divider]. A key belongs to its value: it can be the name of a
// secret.
func (r *cefLocator) divide(dst []span, rec []byte, _ *Found) []span {
	body, start := trimEnd(rec), len(dst)
	pos := bytes.Index(body, cefMark)
	if pos < 0 {
		return dst
	}
	for range cefFields {
		end := unescapedByte(body, pos, '|')
		if end < 0 {
			return dst[:start]
		}
		dst, pos = append(dst, span{end, end + 1}), end+1
	}
	for key, value := cefKey(body, pos); key.end > 0; key, value = cefKey(body, value) {
		dst = append(dst, span{max(pos, key.start-1), key.start})
	}
	return dst
}

// divide implements [divider]. The last two bytes of a prefix, such as ": ", end it.
func (l *prefixedLocator) divide(dst []span, rec []byte, f *Found) []span {
	n := l.find(rec)
	if n < 0 {
		return dst
	}
	dst = append(dst, span{max(0, n-2), n})
	if inner, ok := l.inner.(divider); ok {
		start := len(dst)
		dst = inner.divide(dst, rec[n:], f)
		for i := range dst[start:] {
			dst[start+i].start += n
			dst[start+i].end += n
		}
	}
	return dst
}

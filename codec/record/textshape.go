package record

import "bytes"

// This file reads lines of text logs by their shapes (shape.go). A line that fits the
// newest layout has a field of the shape for each of the layout, whose kind is its
// number, and one for the text before them if the layout floats.
const textFront uint8 = 255

// setSpans sets l.spans for a line that has the shape h, and returns the number of its
// fields.
func (l *textLocator) setSpans(h *shape) (n int) {
	for i := range h.uses {
		u := &h.uses[i]
		l.spans[u.use] = h.at(u)
	}
	return len(h.uses)
}

// updateShapes updates the shapes with the line, which has n fields of the newest
// layout. The last one ends before pos. The line must have all fields that are read.
func (l *textLocator) updateShapes(f *Found, n, pos int) {
	layout, rec := &l.compiled[0], l.rec
	if !l.shapes.begin(rec) {
		return
	}
	if layout.floats {
		front := span{0, layout.start(rec)}
		open := bytes.LastIndexByte(front.in(rec), '[') > bytes.LastIndexByte(front.in(rec), ']') // what follows may be in these brackets
		l.shapes.add(shapeField{span: front, kind: textFront, use: -1, slot: open})
	}
	for i, s := range l.spans[:n] {
		fd := &layout.fields[i]
		field := shapeField{span: s, kind: uint8(i), use: i, rank: l.rank(fd), check: layout.checkOf(i)}
		switch fd.style {
		case textWord, textURL: // most URLs are words; the two words after it are checked
			field.marked = 1
		case textBracket, textCaptures, textTook, textPrefix:
		case textQuoted:
			if rec[s.start-1] != '"' {
				return // a field without a value
			}
			if field.slot = i+1 == n; !field.slot { // its end depends on what follows
				field.marked = 2
			}
		default:
			field.slot = true
		}
		l.shapes.add(field)
	}
	if pos < len(rec) && rec[pos] != ' ' {
		return
	}
	l.shapes.update(rec, min(pos+len(" "), len(rec)))
}

// rank returns the rank of a field for a shapeField.
func (l *textLocator) rank(fd *textField) uint8 {
	switch fd.use {
	case useRequest, useURL:
		return rankPath
	case useMethod:
		return rankMethod
	case useHost, useCaptures, useTLS, useServer, useTransport, usePrefix:
		return rankNeeded
	case useReferer:
		if l.referer {
			return rankNeeded
		}
	}
	return rankBeside
}

// valueEnd implements [ender].
func (l *textLocator) valueEnd(kind uint8, start int) int {
	layout, rec := &l.compiled[0], l.rec
	switch {
	case kind == textFront:
		return layout.start(rec)
	case start >= len(rec):
		return -1
	}
	var end int
	i := int(kind)
	fd := &layout.fields[i]
	switch fd.style {
	case textWord:
		if end = l.marks.spaces.Next(start); end == start {
			return -1
		}
	case textBracket:
		end = start + bytes.IndexByte(rec[start:], ']')
	case textQuoted:
		end = layout.quoteEnd(i, rec, start, &l.marks)
	case textLastQuoted:
		end = bytes.LastIndexByte(rec, '"')
	case textCaptures:
		end = start + bytes.IndexByte(rec[start:], '}')
		if end >= start && bytes.IndexByte(rec[start:end], '"') >= 0 {
			return -1
		}
	default:
		if rec[start] == ' ' {
			return -1
		}
		_, end = layout.field(i, rec, start, &l.marks)
	}
	if check := layout.checkOf(i); end < start || check != nil && !check(rec[start:end]) {
		return -1
	}
	return end
}

// checkOf returns the check of field i, or nil. A layout that floats would start
// elsewhere if there were a bracket before that of the time, and textTook ends before a
// parenthesis.
func (l *textLayout) checkOf(i int) func([]byte) bool {
	switch {
	case l.floats && i < l.time:
		return func(s []byte) bool { return bytes.IndexByte(s, '[') < 0 }
	case i > 0 && l.fields[i-1].style == textTook:
		return func(s []byte) bool { return s[0] == '(' }
	}
	return l.fields[i].check
}

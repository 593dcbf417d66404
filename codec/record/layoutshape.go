package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// This file reads records of a log format by their shapes (shape.go). Each field of the
// log format is a field of the shape, whose kind is the number of its element.

// layoutLocator is a layoutReader with scratch memory.
type layoutLocator struct {
	*layoutReader
	rec    []byte
	marks  shapeMarks // of spaces and quotes
	shapes shapes
}

// Locator implements [Reader].
func (l *layoutReader) Locator() Locator { return &layoutLocator{layoutReader: l} }

// Locate implements [Locator].
func (l *layoutLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	l.marks[0], l.marks[1] = scan.MarkTwo(l.marks[0], l.marks[1], rec, ' ', '"')
	return l.locateShaped(f, rec, l.shapeOf(rec, nil))
}

// readLine implements [shaper].
func (l *layoutLocator) readLine(in, _ []byte) (size int) {
	l.marks[0], l.marks[1], size = scan.MarkLine(l.marks[0], l.marks[1], in, ' ', '"')
	return size
}

// shapeOf implements [shaper].
func (l *layoutLocator) shapeOf(rec, _ []byte) *shape {
	l.rec = rec
	l.marks[0].End(len(rec))
	l.marks[1].End(len(rec))
	return l.shapes.match(rec, &l.marks, l)
}

// locateShaped implements [shaper].
func (l *layoutLocator) locateShaped(f *Found, rec []byte, h *shape) (Reason, int) {
	if h != nil {
		for i := range h.uses {
			u := &h.uses[i]
			l.add(f, u.use, rec, h.at(u))
		}
		return 0, 0
	}
	update := len(l.elems) <= maxKinds && l.shapes.begin(rec)
	why, pos := l.read(f, rec, update)
	if update && why == 0 {
		l.shapes.update(rec)
	}
	return why, pos
}

// addField adds field i to the record for the update.
func (l *layoutLocator) addField(f *Found, i int, at span) {
	e := &l.elems[i]
	field := shapeField{span: at, kind: uint8(i), use: -1}
	if e.kind > fkSkip && (e.kind != fkAttr || f.attrs.wanted) {
		field.use, field.rank = i, l.rank(e)
	}
	switch lit := l.literalAfter(i); {
	case i+2 >= len(l.elems): // at the end of the record
	case lit[0] == ' ':
		field.slot = l.seeksVersion(i)
		if !field.slot {
			field.marked = 1
		}
	case lit[0] == '"':
		field.marked = 2
		if l.dialect.escapesQuotes() {
			field.check = endsUnescaped
		}
	}
	l.shapes.add(field)
}

// endsUnescaped reports whether a byte after s is certainly not escaped.
func endsUnescaped(s []byte) bool { return s[len(s)-1] != '\\' }

// literalAfter returns the literal after field i, or nil.
func (l *layout) literalAfter(i int) []byte {
	if i+1 == len(l.elems) {
		return nil
	}
	return l.elems[i+1].lit
}

// rank returns the rank of a field for a shapeField.
func (l *layoutReader) rank(e *element) uint8 {
	switch {
	case e.kind == fkRequest, e.kind == fkTarget, e.kind == fkWhole, e.kind == fkHostTarget:
		return rankPath
	case e.kind == fkMethod:
		return rankMethod
	case e.kind == fkAttr, e.kind == fkReferer && !l.referer:
		return rankBeside
	}
	return rankNeeded
}

// valueEnd implements [ender].
func (l *layoutLocator) valueEnd(kind uint8, start int) int {
	return l.fieldEnd(int(kind), l.rec, start)
}

// add stores field i, whose range is at.
func (l *layoutReader) add(f *Found, i int, rec []byte, at span) {
	n := f.n
	f.take(&l.elems[i], rec, at, l)
	if f.n > n && i+1 < len(l.elems) {
		f.sites[n].stop = l.elems[i+1].lit[0]
	}
}

// read reads a record against the layout from left to right, without backtracking. A
// field ends at the next unescaped occurrence of the literal that follows it. The last
// literal must be at the end of the record, so that raw quotes in a user agent do no
// harm.
func (l *layoutLocator) read(f *Found, rec []byte, update bool) (Reason, int) {
	pos := 0
	if l.elems[0].kind == fkLiteral { // fieldEnd finds the others
		if !bytes.HasPrefix(rec, l.elems[0].lit) {
			return Unparsed, 0
		}
		pos = len(l.elems[0].lit)
	}
	for i := range l.elems {
		e := &l.elems[i]
		if e.kind == fkLiteral {
			continue
		}
		end := l.fieldEnd(i, rec, pos)
		if end < 0 {
			return Unparsed, pos
		}
		if e.kind > fkSkip && (e.kind != fkAttr || f.attrs.wanted) {
			l.add(f, i, rec, span{pos, end})
		}
		if update {
			l.addField(f, i, span{pos, end})
		}
		pos = end + len(l.literalAfter(i))
	}
	if pos != len(rec) {
		return Unparsed, pos
	}
	return 0, 0
}

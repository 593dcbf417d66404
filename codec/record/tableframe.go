package record

// This file finds the end of a table's record and the ends of its cells in one
// pass, so that Locate need not search for them again.

// framed is a record that tableLocator.next has framed. The caller of Worker.Next
// passes the record on to Worker.Append before it changes the bytes, and so the
// record is known by its address. It is forgotten as soon as it has been read,
// because after that the memory can hold other bytes.
type framed struct {
	first *byte // nil if there is none
	len   int
}

// take reports whether rec is the record, which it forgets.
func (f *framed) take(rec []byte) bool {
	is := len(rec) > 0 && &rec[0] == f.first && len(rec) == f.len
	*f = framed{}
	return is
}

// begins reports whether in begins with the record, which it forgets.
func (f *framed) begins(in []byte) bool { return f.len <= len(in) && f.take(in[:f.len]) }

// next implements [framer].
func (l *tableLocator) next(in []byte) int {
	if l.ahead.begins(in) {
		return l.line.len
	}
	if n := l.look(in); n > 0 {
		return n
	}
	return l.Next(in)
}

// look is next for a record that is a line of its own. It returns 0 if it gives
// up.
func (l *tableLocator) look(in []byte) int {
	l.body, l.line = framed{}, framed{}
	if l.scan == nil || markLen(in) > 0 {
		return 0
	}
	n := l.ends.readLine(&l.tableSyntax, in)
	if n > 0 {
		l.found(in, n)
	}
	return n
}

// found remembers that l.ends belongs to the record in the first n bytes of in.
func (l *tableLocator) found(in []byte, n int) {
	l.body, l.line = framed{&in[0], len(trimEnd(in[:n]))}, framed{&in[0], n}
}

// isLine implements [framer].
func (l *tableLocator) isLine(rec []byte) bool { return l.line.take(rec) }

// hasEnds reports whether l.ends has the ends of the cells of body. It returns
// false the second time.
func (l *tableLocator) hasEnds(body []byte) bool {
	if !l.body.take(body) {
		return false
	}
	l.ends.close(body)
	return true
}

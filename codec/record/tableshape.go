package record

// This file keeps records whose URL is composed of several cells by their shapes
// (shape.go).

// Kinds of cells.
const (
	cellBare uint8 = iota
	cellQuoted
)

// keepsParts is keeps for a composed URL.
func (l *tableLocator) keepsParts(n *normalizer, body []byte) bool {
	l.ends.close(body)
	h := l.shapes.match(body, &shapeMarks{l.ends.ends, l.ends.quotes}, l)
	if h != nil && n.keepsUsual(h, body) {
		return true
	}
	n.found.reset()
	var why Reason
	if h != nil {
		l.takeShaped(h)
		why, _ = l.composer.compose(n.found, body, l.values)
	} else {
		why, _ = l.locateParts(n.found, body)
		l.updateShapes(body)
	}
	if why != 0 || !n.keepsFound(body) {
		return false
	}
	if h != nil {
		h.settle(n, body)
	}
	return true
}

// takeShaped stores the values of the record that match has read last.
func (l *tableLocator) takeShaped(h *shape) {
	copy(l.values, h.values)
	for i := range h.uses {
		u := &h.uses[i]
		v := textValue(h.at(u))
		if v.dialect = l.plain; u.kind == cellQuoted {
			v.dialect = l.quoted
		}
		l.values[u.use] = v
	}
}

// updateShapes updates the shapes with a record.
func (l *tableLocator) updateShapes(body []byte) {
	if !l.shapes.begin(body) {
		return
	}
	pos := 0
	for _, value := range l.wanted {
		if pos > len(body) {
			break
		}
		at, _, next, ok := l.ends.cell(&l.tableSyntax, body, pos)
		if !ok {
			return
		}
		f := shapeField{span: at, kind: cellBare, use: value, marked: 1, not: l.quote}
		if at.start > pos {
			f.kind, f.marked, f.not = cellQuoted, 2, 0
		}
		if value >= 0 {
			f.rank = l.composer.rank(value)
		}
		l.shapes.add(f)
		pos = next
	}
	h := l.shapes.update(body, min(pos, len(body)))
	h.values = append(h.values[:0], l.values...)
}

// valueEnd implements [ender]. It gives up on doubled quotes.
func (l *tableLocator) valueEnd(kind uint8, start int) int {
	switch {
	case kind == cellQuoted:
		end := l.ends.quotes.Next(start)
		if end == l.ends.size || l.ends.quotes.Next(end+1) == end+1 && end+1 < l.ends.size {
			return -1
		}
		return end
	case l.ends.quotes.Next(start) == start && start < l.ends.size:
		return -1
	}
	return l.ends.ends.Next(start)
}

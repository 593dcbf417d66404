package record

import "bytes"

// canKeep implements [keeper].
func (l *tableLocator) canKeep(*Job) bool {
	return l.scan != nil && !l.base.wanted() && !l.host.wanted()
}

// wanted reports whether the column is configured.
func (c column) wanted() bool { return c.name != nil || c.index != noColumn }

// keep implements [keeper].
func (l *tableLocator) keep(n *normalizer, in, head []byte) int {
	l.ahead = framed{}
	if markLen(in) > 0 {
		return 0
	}
	size := l.ends.readLine(&l.tableSyntax, in)
	if size == 0 {
		return 0
	}
	body := trimEnd(in[:size])
	if l.composer != nil {
		l.body = framed{&in[0], len(body)}
	}
	if l.keeps(n, body, head) {
		return size
	}
	l.found(in, size)
	l.ahead = l.line
	return 0
}

// keeps reports whether n keeps the URL of body, which look has found.
func (l *tableLocator) keeps(n *normalizer, body, head []byte) bool {
	if l.named {
		if bytes.Equal(body, trimEnd(head)) {
			return false
		}
		l.columns(head)
	}
	if l.composer != nil {
		return l.keepsParts(n, body)
	}
	url, ok := l.urlOf(body)
	return ok && n.keeps(url)
}

// urlOf returns the text of the cell with the URL. ok is false if there is none,
// or if the text has escapes.
func (l *tableLocator) urlOf(body []byte) (url []byte, ok bool) {
	if l.urlColumn < 0 {
		return nil, false
	}
	l.ends.close(body)
	if l.ends.bare {
		pos := l.ends.skip(body, l.urlColumn)
		if pos > len(body) {
			return nil, false
		}
		return body[pos:l.ends.ends.Next(pos)], true
	}
	var s span
	for i, pos := 0, 0; i <= l.urlColumn; i++ {
		if pos > len(body) {
			return nil, false
		}
		if s, _, pos, ok = l.ends.cell(&l.tableSyntax, body, pos); !ok {
			return nil, false
		}
	}
	url = s.in(body)
	return url, bytes.IndexByte(url, l.quote) < 0
}

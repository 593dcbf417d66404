package codec

// This file is the part of onePass for dots in a path. The survey marks a '.'
// only if it may begin a dot segment.

// dot treats a '.' in the path. It returns the offset of the next byte to
// examine.
func (p *pass) dot(i int) int {
	if n := p.dotSegment(i); n > 0 {
		return p.cutDots(i, n)
	}
	p.traversal(i)
	return i + 1
}

// traversal records the encoded traversal that may begin with the '.' at i.
func (p *pass) traversal(i int) {
	if next := i + 1; next < len(p.text) && (p.text[next] == '.' || p.text[next] == '%') {
		p.scan(i)
	}
}

// dotSegment returns the length of the dot segment that begins at i, or 0.
func (p *pass) dotSegment(i int) int {
	if p.text[i-1] != '/' { // i > 0, because a path begins with '/'
		return 0
	}
	return dotSegment(p.text[i:])
}

// cutDots removes the dot segment text[i:i+n] and, if it is "..", the segment
// before it. It returns the offset after it and its '/'.
func (p *pass) cutDots(i, n int) int {
	if p.table == verbatimWalk {
		p.markDots(i, n, Kept)
		return i + n
	}
	p.markDots(i, n, Removed)
	p.note(RemoveDots)
	p.noteDotEscapes(p.text[i : i+n])
	p.flush(i, i)
	if dotLen(p.text[i:]) < n { // ".."
		p.cutSegment()
	}
	i += n
	if i < len(p.text) {
		i++ // dst already ends in a '/'
	}
	p.from = i
	return i
}

// noteDotEscapes records the rules for the escapes in a removed dot segment:
// RFC 3986 decodes them before it removes the segment.
func (p *pass) noteDotEscapes(seg []byte) {
	if p.profile.Standard == WHATWG {
		return
	}
	for i, c := range seg {
		if c == '%' {
			p.applied |= 1 << DecodeUnreserved
			p.applied.set(UpperEscapes, hasLowerHex(seg[i:]))
		}
	}
}

// markDots records a diagnostic for the dot segment text[i:i+n] if it is the
// first one of the path, and diagnostics for its escapes.
func (p *pass) markDots(i, n int, a Action) {
	if !p.dots {
		p.dots = true
		p.mark(i, DotSegments, a, 0)
	}
	for end := i + n; i < end; i += dotLen(p.text[i:]) {
		if p.text[i] == '%' {
			p.markNeedless(i)
		}
	}
}

// cutSegment removes the last segment from dst, but not the '/' before it.
func (p *pass) cutSegment() {
	end := len(p.dst) - 1
	for end > p.pathAt && p.dst[end-1] != '/' {
		end--
	}
	p.dst = p.dst[:max(end, p.pathAt+1)]
	if p.r == nil {
		return
	}
	s := &p.r.scratch
	for len(s.kept) > 0 && int(s.kept[len(s.kept)-1]) >= len(p.dst)-p.base {
		s.kept = s.kept[:len(s.kept)-1]
	}
}

package table

import "slices"

// Packed is a sequence of numbers and texts. Each method takes something from its
// beginning, and panics if that is not there: the bytes come from a generator.
type Packed string

// Uint takes an unsigned integer in base 128, the low digits first.
func (p *Packed) Uint() (n uint32) {
	for shift := 0; ; shift += 7 {
		b := (*p)[0]
		*p = (*p)[1:]
		n |= uint32(b&0x7F) << shift
		if b < 0x80 {
			return n
		}
	}
}

// A Span is a range of code points, both ends included, with a value.
type Span struct {
	Lo, Hi rune
	Value  uint8
}

// compare compares s with a code point.
func (s Span) compare(r rune) int {
	switch {
	case s.Hi < r:
		return -1
	case s.Lo > r:
		return 1
	}
	return 0
}

// Find returns the value of the span that contains r. The spans must be in ascending order.
func Find(spans []Span, r rune) (value uint8, found bool) {
	i, found := slices.BinarySearchFunc(spans, r, Span.compare)
	if !found {
		return 0, false
	}
	return spans[i].Value, true
}

// Spans takes the number of spans and the spans, in ascending order: for each
// span, the distance from the end of the previous span, its length without its
// first code point, and its value.
func (p *Packed) Spans() []Span {
	list, at := make([]Span, p.Uint()), rune(0)
	for i := range list {
		s := &list[i]
		s.Lo = at + rune(p.Uint())
		s.Hi = s.Lo + rune(p.Uint())
		s.Value = uint8(p.Uint())
		at = s.Hi
	}
	return list
}

// A TextMap maps code points to texts.
type TextMap struct {
	Keys []rune   // in ascending order
	ends []uint16 // ends of the texts
	text string
}

// TextMap takes the number of texts, the distance of each code point from the previous code
// point, the length of each text, and the texts.
func (p *Packed) TextMap() (m TextMap) {
	n := int(p.Uint())
	m.Keys, m.ends = make([]rune, n), make([]uint16, n)
	key, end := rune(0), uint16(0)
	for i := range m.Keys {
		key += rune(p.Uint())
		m.Keys[i] = key
	}
	for i := range m.ends {
		end += uint16(p.Uint())
		m.ends[i] = end
	}
	m.text = p.Bytes(int(end))
	return m
}

// Text returns the text of Keys[i].
func (m *TextMap) Text(i int) string {
	start := uint16(0)
	if i > 0 {
		start = m.ends[i-1]
	}
	return m.text[start:m.ends[i]]
}

// Bytes takes n bytes.
func (p *Packed) Bytes(n int) string {
	text := string((*p)[:n])
	*p = (*p)[n:]
	return text
}

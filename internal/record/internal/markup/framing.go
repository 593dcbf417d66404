package markup

// documents is the framing of documents, whose records have any length. The
// function returns the length of the first record of b, or 0 if b does not show
// where it ends.
type documents func(b []byte) int

// Extracts implements [locate.Extractor].
func (documents) Extracts() {}

// Multiline implements [locate.LineCounter].
func (documents) Multiline() {}

// Attributes implements [locate.Attributed].
func (documents) Attributes() uint16 { return 0 }

// Head implements [locate.Framing]. Directives take the place of a header.
func (documents) Head([]byte) int { return 0 }

// Cut implements [locate.Framing].
func (first documents) Cut(block []byte) int {
	for at := 0; ; {
		n := first(block[at:])
		if n == 0 {
			return at
		}
		at += n
	}
}

// Next implements [locate.Reader].
func (first documents) Next(in []byte) int {
	if n := first(in); n > 0 {
		return n
	}
	return len(in)
}

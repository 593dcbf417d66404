package locate

import "bytes"

// DirectiveLines is the Framing of a format in which each line is a record or,
// if it begins with Prefix, a directive. It implements Director, and the
// methods of Reader except Locator. Embed it in a Reader.
type DirectiveLines struct {
	LineFraming
	Prefix string
}

// Head implements [Framing]. The head is the lines at the start of the stream
// that are blank or begin with a number sign, up to and including the first
// directive.
func (d DirectiveLines) Head(block []byte) int {
	for pos := MarkLen(block); pos < len(block); {
		n := bytes.IndexByte(block[pos:], '\n') + 1
		line := block[pos : pos+n]
		switch {
		case n == 0:
			return 0
		case bytes.HasPrefix(line, []byte(d.Prefix)):
			return pos + n
		case line[0] != '#' && !IsBlank(line):
			return 0
		}
		pos += n
	}
	return 0
}

// Directive implements [Director]. It searches from the start, because
// bytes.IndexByte is faster than bytes.LastIndexByte.
func (d DirectiveLines) Directive(_, block []byte) (last []byte) {
	for pos := 0; ; {
		n := bytes.IndexByte(block[pos:], '#')
		if n < 0 {
			return last
		}
		pos += n
		if !HasPrefix(block[pos:], d.Prefix) || pos > MarkLen(block) && block[pos-1] != '\n' {
			pos++
			continue
		}
		last = FirstLine(block[pos:])
		pos += len(last)
	}
}

// HasPrefix is bytes.HasPrefix for a string.
func HasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

// FirstLine returns the first line of block with its line feed, if it has one.
func FirstLine(block []byte) []byte {
	n := bytes.IndexByte(block, '\n') + 1
	if n == 0 {
		n = len(block)
	}
	return block[:n:n]
}

var _ Director = DirectiveLines{}

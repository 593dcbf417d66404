package record

import "bytes"

// directiveLines is the framing of lines among which those with a prefix are
// directives. It implements Reader except for Locator, and Director. Embed it in
// a Reader.
type directiveLines struct {
	LineFraming
	prefix string
}

// Head implements [Framing]. The head is every line that begins with a number
// sign up to the first directive.
func (d directiveLines) Head(block []byte) int {
	for pos := 0; pos < len(block); {
		n := bytes.IndexByte(block[pos:], '\n') + 1
		line := block[pos : pos+n]
		switch {
		case n == 0:
			return 0
		case bytes.HasPrefix(line, []byte(d.prefix)):
			return pos + n
		case line[0] != '#' && !isBlank(line):
			return 0
		}
		pos += n
	}
	return 0
}

// Directive implements [Director].
func (d directiveLines) Directive(_, block []byte) []byte {
	for end := len(block); end > 0; {
		at := bytes.LastIndex(block[:end], []byte(d.prefix))
		if at < 0 {
			return nil
		}
		if at == 0 || block[at-1] == '\n' {
			n := bytes.IndexByte(block[at:], '\n') + 1
			if n == 0 {
				n = len(block) - at
			}
			return block[at : at+n : at+n]
		}
		end = at
	}
	return nil
}

// Interface guards.
var (
	_ Director = directiveLines{}
	_ Director = (*w3cReader)(nil)
	_ Director = (*zeekReader)(nil)
	_ Director = cdxReader{}
	_ Director = (*htmlReader)(nil)
)

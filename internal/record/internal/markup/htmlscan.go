package markup

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file divides an HTML document into records by the tokenization of the
// HTML Standard (https://html.spec.whatwg.org/#tokenization). Every record
// begins in the data state, so that a document can be cut between any two:
//
//	text │ <a href="…"> │ text │ </a> │ <!-- comment --> │ <script src="…"> content │ </script>
//
// golang.org/x/net/html, with which the tests compare this file, does not
// report offsets of attributes, cannot start within a document, and allocates
// for each tag.

// MaxHTMLText is the length at which a record of text ends even if no tag
// follows. Text contains no URLs, so it can be cut anywhere.
const MaxHTMLText = 4 << 10

// htmlRecord returns the length of the first record of b, or 0 if b does not
// show where it ends.
func htmlRecord(b []byte) int {
	end := htmlToken(b)
	if end == 0 || !isStartTag(b) {
		return end
	}
	n := 0
	if name := tagName(b); isForeign(name) && !isClosed(b[:end]) {
		n = foreignContent(b[end:], name, nil)
	} else {
		n = rawContent(name, b[end:])
	}
	if n < 0 {
		return 0
	}
	return end + n
}

// htmlToken returns the length of the first piece of text, tag, comment or
// declaration of b, or 0 if b does not show where it ends.
func htmlToken(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case b[0] != '<' || !isMarkup[b[1]]:
		return htmlText(b)
	case b[1] == '!' && bytes.HasPrefix(b, commentStart):
		return htmlComment(b)
	case b[1] == '!' && len(b) < len(commentStart) && bytes.HasPrefix(commentStart, b):
		return 0
	case b[1] == '!', b[1] == '?', b[1] == '/' && len(b) > 2 && !locate.IsLetter(b[2]): // document type, bogus comment
		return bytes.IndexByte(b, '>') + 1
	case b[1] == '/' && len(b) < 3:
		return 0
	}
	t := newTagScan(b)
	return t.skip()
}

// isStartTag reports whether b starts with a start tag.
func isStartTag(b []byte) bool { return len(b) > 1 && b[0] == '<' && locate.IsLetter(b[1]) }

// isClosed reports whether a tag ends with "/>".
func isClosed(tag []byte) bool { return bytes.HasSuffix(tag, []byte("/>")) }

// tagName returns the name of the tag at the start of b.
func tagName(b []byte) []byte {
	t := newTagScan(b)
	return t.name.In(b)
}

var commentStart = []byte("<!--")

// isMarkup is the set of bytes that start markup after a '<'.
var isMarkup = func() (t [256]bool) {
	for c := range 256 {
		t[c] = locate.IsLetter(byte(c)) || c == '/' || c == '!' || c == '?'
	}
	return t
}()

// htmlText returns the length of the text at the start of b: up to the next
// markup, or to MaxHTMLText.
func htmlText(b []byte) int {
	for pos := 0; ; {
		i := bytes.IndexByte(b[pos:min(len(b), MaxHTMLText)], '<')
		if i < 0 {
			break
		}
		if pos += i; pos+1 == len(b) {
			return 0
		}
		if isMarkup[b[pos+1]] && pos > 0 {
			return pos
		}
		pos++
	}
	if len(b) < MaxHTMLText {
		return 0
	}
	return MaxHTMLText
}

// htmlComment returns the length of the comment at the start of b, or 0. It
// ends with "-->" or "--!>"; "<!-->" and "<!--->" are comments too.
func htmlComment(b []byte) int {
	rest := b[len(commentStart):]
	switch {
	case bytes.HasPrefix(rest, []byte(">")):
		return len(commentStart) + 1
	case bytes.HasPrefix(rest, []byte("->")):
		return len(commentStart) + 2
	}
	for pos := len(commentStart); ; {
		i := bytes.Index(b[pos:], []byte("--"))
		if i < 0 {
			return 0
		}
		pos += i + 2
		switch rest := b[pos:]; {
		case bytes.HasPrefix(rest, []byte(">")):
			return pos + 1
		case bytes.HasPrefix(rest, []byte("!>")):
			return pos + 2
		}
		pos-- // "--->"
	}
}

// rawContent returns the length of the content of the element name, which
// begins at the start of b, if it is raw text: up to the end tag. It returns -1
// if b does not show the end, and 0 for other elements.
func rawContent(name, b []byte) int {
	switch {
	case len(name) < len("xmp") || !has(rawElements, name):
		return 0
	case locate.EqualLower(name, "script"):
		return scriptContent(b)
	case locate.EqualLower(name, "plaintext"):
		return -1
	}
	for pos := 0; ; {
		i := bytes.Index(b[pos:], endTagOpen)
		if i < 0 {
			return -1
		}
		pos += i
		if isEndTag(b[pos:], name) {
			return pos
		}
		pos += len(endTagOpen)
	}
}

var endTagOpen = []byte("</")

// rawElements are the elements whose content is text without tags. noscript is missing,
// because urlfold runs no scripts.
var rawElements = names("script style title textarea xmp iframe noembed noframes plaintext")

// isEndTag reports whether b starts with the end tag of an element.
func isEndTag(b, name []byte) bool {
	n := len(endTagOpen) + len(name)
	return len(b) > n && b[1] == '/' && endsTagName[b[n]] && bytes.EqualFold(b[len(endTagOpen):n], name)
}

// endsTagName is the set of bytes that end the name of a tag.
var endsTagName = [256]bool{'\t': true, '\n': true, '\f': true, '\r': true, ' ': true, '/': true, '>': true}

// scriptContent is rawContent for scripts, in which "<!--" hides the end tags
// of nested scripts (https://html.spec.whatwg.org/#script-data-escaped-state
// and the states that follow).
func scriptContent(b []byte) int {
	const data, escaped, doubleEscaped = 0, 1, 2
	state := data
	for pos := 0; pos < len(b); pos++ {
		if state == data {
			i := bytes.IndexByte(b[pos:], '<')
			if i < 0 {
				return -1
			}
			pos += i
		}
		switch rest := b[pos:]; {
		case b[pos] == '-' && state != data:
			if bytes.HasPrefix(rest, []byte("-->")) {
				state = data
			}
		case b[pos] != '<':
		case isEndTag(rest, scriptName):
			if state != doubleEscaped {
				return pos
			}
			state = escaped
		case state == data && bytes.HasPrefix(rest, commentStart):
			state = escaped
			pos++ // its dashes can belong to "-->"
		case state == escaped && isTag(rest, "script"):
			state = doubleEscaped
		}
	}
	return -1
}

var scriptName = []byte("script")

// tagScan reads the attributes of a tag.
type tagScan struct {
	b    []byte // starts with the tag
	name locate.Span
	pos  int
	end  int // length of the tag; 0 until the end is found
}

// newTagScan returns a tagScan of the start tag or end tag at the start of b.
func newTagScan(b []byte) tagScan {
	start := 1
	if b[1] == '/' {
		start = 2
	}
	end := start
	for end < len(b) && !endsTagName[b[end]] {
		end++
	}
	return tagScan{b: b, name: locate.Between(start, end), pos: end}
}

// skip reads the rest of the tag and returns its length, or 0 if b does not
// hold all of it.
func (t *tagScan) skip() int {
	for {
		if _, _, ok := t.next(); !ok {
			return t.end
		}
	}
}

// next returns the ranges of the name and value of the next attribute. It
// returns false at the end of the tag or of b.
func (t *tagScan) next() (name, value locate.Span, ok bool) {
	b := t.b
	for t.pos < len(b) && (locate.IsHTMLSpace[b[t.pos]] || b[t.pos] == '/') {
		t.pos++
	}
	if t.pos == len(b) {
		return name, value, false
	}
	if b[t.pos] == '>' {
		t.end = t.pos + 1
		return name, value, false
	}
	name = locate.Between(t.pos, t.pos+1) // the first byte can be '='
	for name.End < len(b) && !endsName[b[name.End]] {
		name.End++
	}
	t.pos = name.End
	t.space()
	if t.pos == len(b) {
		return name, value, false
	}
	if b[t.pos] != '=' {
		return name, locate.Between(t.pos, t.pos), true
	}
	t.pos++
	t.space()
	return t.value(name)
}

// endsName is the set of bytes that end the name of an attribute.
var endsName = func() [256]bool {
	t := endsTagName
	t['='] = true
	return t
}()

// value reads the value at t.pos, after the '='.
func (t *tagScan) value(name locate.Span) (_, value locate.Span, ok bool) {
	b := t.b
	if t.pos == len(b) {
		return name, value, false
	}
	if c := b[t.pos]; c == '"' || c == '\'' {
		start := t.pos + 1
		n := bytes.IndexByte(b[start:], c)
		if n < 0 {
			t.pos = len(b)
			return name, value, false
		}
		t.pos = start + n + 1
		return name, locate.Between(start, start+n), true
	}
	value = locate.Between(t.pos, t.pos)
	for value.End < len(b) && !locate.IsHTMLSpace[b[value.End]] && b[value.End] != '>' {
		value.End++
	}
	t.pos = value.End
	return name, value, t.pos < len(b)
}

func (t *tagScan) space() {
	for t.pos < len(t.b) && locate.IsHTMLSpace[t.b[t.pos]] {
		t.pos++
	}
}

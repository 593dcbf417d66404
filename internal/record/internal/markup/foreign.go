package markup

import (
	"bytes"
	"strings"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// SVG and MathML within HTML are foreign content: "<title/>" is closed, CDATA
// sections exist, and no element has raw text
// (https://html.spec.whatwg.org/#parsing-main-inforeign). A record begins in HTML
// content, so an svg or math element is one record with its content.

// maxForeign is the length at which the record of a foreign element ends even if
// the element does not.
const maxForeign = 256 << 10

// maxOpen is the number of foreign elements and integration points within one
// another that are tracked.
const maxOpen = 16

func isForeign(name []byte) bool {
	return locate.EqualLower(name, "svg") || locate.EqualLower(name, "math")
}

// integrationPoints are the foreign elements with HTML content, and breakouts the
// HTML elements that end foreign content.
var (
	integrationPoints = names("foreignobject desc title annotation-xml mi mo mn ms mtext")
	breakouts         = names("b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var")
)

// names returns the set of the names in list.
func names(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}

// has reports whether set, of names in lower case, has name.
func has(set map[string]bool, name []byte) bool {
	var lower [16]byte
	if len(name) > len(lower) {
		return false
	}
	for i, c := range name {
		if c-'A' < 26 {
			c |= 0x20
		}
		lower[i] = c
	}
	return set[string(lower[:len(name)])]
}

// foreignContent returns the length of the content of a foreign element, which
// begins at the start of b, including the end tag. It returns -1 if b does not
// show the end. It calls visit, if not nil, with the offset of each token in b.
func foreignContent(b, name []byte, visit func(at int)) int {
	var open [maxOpen]struct {
		name []byte
		html bool // the content is HTML
	}
	open[0].name = name
	for pos, depth := 0, 1; ; {
		top := &open[depth-1]
		rest := b[pos:]
		n := foreignToken(rest, top.html)
		if pos+max(n, 1) > maxForeign && pos > 0 || n == 0 && len(b) >= maxForeign {
			return pos
		}
		if visit != nil && (n > 0 || len(rest) > 0) {
			visit(pos)
		}
		if n == 0 {
			return -1
		}
		pos += n
		switch {
		case isEndTag(rest, top.name):
			if depth--; depth == 0 {
				return pos
			}
		case !isStartTag(rest) || isClosed(rest[:n]):
		case !top.html && has(breakouts, tagName(rest)):
			for depth > 0 && !open[depth-1].html {
				depth--
			}
			if depth == 0 {
				return pos
			}
		default:
			inner := tagName(rest)
			points := !top.html && has(integrationPoints, inner)
			if (points || isForeign(inner)) && depth < maxOpen {
				open[depth].name, open[depth].html = inner, points
				depth++
			}
		}
	}
}

// foreignToken returns the length of the first token of b in foreign content or,
// if html is set, of its first record in HTML content.
func foreignToken(b []byte, html bool) int {
	if !html {
		if bytes.HasPrefix(b, cdataStart) {
			if n := bytes.Index(b, cdataEnd); n >= 0 {
				return n + len(cdataEnd)
			}
			return 0
		}
		return htmlToken(b)
	}
	n := htmlToken(b)
	if n == 0 || !isStartTag(b) {
		return n
	}
	raw := rawContent(tagName(b), b[n:])
	if raw < 0 {
		return 0
	}
	return n + raw
}

var cdataStart, cdataEnd = []byte("<![CDATA["), []byte("]]>")

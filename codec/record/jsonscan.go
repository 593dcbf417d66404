package record

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A step of a field path is a member's name or, if the name is nil, an index.
type step struct {
	name  []byte
	index int
}

// parsePath reads a field path: names with dots between them, and indexes in
// brackets, counted from 0: request.headers.Referer[0]. A name that holds a dot,
// a bracket or a quote stands in quotes, "a.b".c, or has a backslash before each
// of them, a\.b.c.
func parsePath(text string) ([]step, error) {
	var path []step
	for s := text; ; {
		st, rest, err := parseStep(s)
		if err != nil {
			return nil, fmt.Errorf("the field path %q: %w", text, err)
		}
		path = append(path, st)
		switch {
		case rest == "":
			return path, nil
		case rest[0] == '.':
			s = rest[1:]
		case rest[0] == '[':
			s = rest
		default:
			return nil, fmt.Errorf("the field path %q: a dot or a bracket must follow %q", text, strings.TrimSuffix(text, rest))
		}
	}
}

// parseStep reads one step at the start of s.
func parseStep(s string) (st step, rest string, err error) {
	switch {
	case s == "":
		return st, "", errors.New("a name is empty")
	case s[0] == '[':
		digits, rest, ok := strings.Cut(s[1:], "]")
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || n < 0 {
			return st, "", errors.New("an index is a number in brackets")
		}
		return step{index: n}, rest, nil
	case s[0] == '"':
		name := []byte{}
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '"':
				return step{name: name}, s[i+1:], nil
			case s[i] == '\\' && i+1 < len(s):
				i++
			}
			name = append(name, s[i])
		}
		return st, "", errors.New("a quote is not closed")
	}
	name, i := []byte{}, 0
	for ; i < len(s) && s[i] != '.' && s[i] != '['; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		name = append(name, s[i])
	}
	if i == 0 {
		return st, "", errors.New("a name is empty")
	}
	return step{name: name}, s[i:], nil
}

// maxDepth is how deep the values of a record may nest. Beyond it the record
// does not parse.
const maxDepth = 256

// A scanner walks over one JSON text (RFC 8259) and allocates nothing once its
// scratch has grown. It is strict about all that it walks over: once broken, it
// stays broken, and pos is where.
type scanner struct {
	b       []byte
	pos     int
	broken  bool
	scratch []byte // for names with escapes
	runs    []run
}

// find returns the span of the value at path, quotes and brackets included, and
// whether there is one. Of members with the same name the first counts. Nothing
// behind the value is looked at.
func (s *scanner) find(b []byte, path []step) (span, bool) {
	s.b, s.pos, s.broken = b, 0, false
	s.space()
	for i := range path {
		if !s.enter(&path[i]) {
			return span{}, false
		}
	}
	start := s.pos
	s.skip()
	return span{start, s.pos}, !s.broken
}

// enter moves from the start of a value to the start of its member or element
// st. It is false if there is none.
func (s *scanner) enter(st *step) bool {
	open, end := byte('{'), byte('}')
	if st.name == nil {
		open, end = '[', ']'
	}
	if s.peek() != open {
		s.skip() // of another type: no such field, if it is a value at all
		return false
	}
	s.pos++
	s.space()
	if s.peek() == end {
		s.pos++
		return false
	}
	for n := 0; ; n++ {
		found := st.name == nil && n == st.index
		if st.name != nil {
			found = s.name(st.name)
		}
		if s.broken || found {
			return found && !s.broken
		}
		s.skip()
		s.space()
		switch {
		case s.broken:
			return false
		case s.peek() == ',':
			s.pos++
			s.space()
		case s.peek() == end:
			s.pos++
			return false
		default:
			s.broken = true
			return false
		}
	}
}

// name reads a member's name and the colon, and reports whether it is want.
func (s *scanner) name(want []byte) bool {
	raw := s.rawName()
	return !s.broken && len(raw) >= len(want) && bytes.Equal(s.plain(raw), want)
}

// rawName reads a member's name and the colon, and returns the name as it stands
// there.
func (s *scanner) rawName() []byte {
	start := s.pos
	if s.str(); s.broken {
		return nil
	}
	raw := s.b[start+1 : s.pos-1]
	s.colon()
	return raw
}

// plain returns a name without its escapes.
func (s *scanner) plain(raw []byte) []byte {
	name, runs, escaped := jsonDialect.unescape(s.scratch, raw, s.runs)
	if escaped {
		s.scratch, s.runs = name, runs
	}
	return name
}

func (s *scanner) colon() {
	s.space()
	if s.expect(':'); !s.broken {
		s.space()
	}
}

// peek returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.b) {
		return s.b[s.pos]
	}
	return 0
}

func (s *scanner) expect(c byte) {
	if s.pos < len(s.b) && s.b[s.pos] == c {
		s.pos++
		return
	}
	s.broken = true
}

// space walks over white space, RFC 8259 §2.
func (s *scanner) space() {
	for s.pos < len(s.b) {
		switch s.b[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// skip walks over one value.
func (s *scanner) skip() {
	var isObject [maxDepth]bool
	for depth := 0; ; {
		if c := s.peek(); c == '{' || c == '[' {
			if depth == maxDepth {
				s.broken = true
				return
			}
			s.pos++
			s.space()
			isObject[depth] = c == '{'
			depth++
			if s.peek() != c+2 { // '}' and ']' are two behind '{' and '['
				if c == '{' {
					s.member()
				}
				if s.broken {
					return
				}
				continue
			}
		} else {
			s.scalar()
		}
		for depth > 0 && !s.broken {
			s.space()
			c := s.peek()
			if c == ',' {
				s.pos++
				s.space()
				if isObject[depth-1] {
					s.member()
				}
				break
			}
			if isObject[depth-1] {
				s.expect('}')
			} else {
				s.expect(']')
			}
			depth--
		}
		if s.broken || depth == 0 {
			return
		}
	}
}

// member walks over a member's name and its colon.
func (s *scanner) member() {
	if s.str(); !s.broken {
		s.colon()
	}
}

// scalar walks over a string, a number or a literal name.
func (s *scanner) scalar() {
	switch c := s.peek(); {
	case c == '"':
		s.str()
	case c == '-' || isDigit(c):
		s.number()
	case c == 't':
		s.word("true")
	case c == 'f':
		s.word("false")
	case c == 'n':
		s.word("null")
	default:
		s.broken = true
	}
}

func (s *scanner) word(w string) {
	if len(s.b)-s.pos >= len(w) && string(s.b[s.pos:s.pos+len(w)]) == w {
		s.pos += len(w)
		return
	}
	s.broken = true
}

// number walks over a number, RFC 8259 §6.
func (s *scanner) number() {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else {
		s.digits()
	}
	if s.peek() == '.' {
		s.pos++
		s.digits()
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		s.digits()
	}
}

// digits walks over at least one digit.
func (s *scanner) digits() {
	start := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	s.broken = s.broken || s.pos == start
}

// str walks over a string, RFC 8259 §7. Bytes that are no UTF-8 are let pass:
// logs hold them, and a reader may not change what it does not understand.
func (s *scanner) str() {
	if s.expect('"'); s.broken {
		return
	}
	for ; s.pos < len(s.b); s.pos++ {
		c := s.b[s.pos]
		switch {
		case plainJSON[c] || c >= 0x80:
		case c == '"':
			s.pos++
			return
		case c == '\\':
			rest := s.b[s.pos:]
			if _, ok := hex4(rest); ok {
				s.pos += 5
			} else if len(rest) > 1 && jsonEscapes[rest[1]] != 0 {
				s.pos++
			} else {
				s.broken = true
				return
			}
		default:
			s.broken = true
			return
		}
	}
	s.broken = true
}

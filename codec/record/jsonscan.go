package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec/internal/scan"
)

// step is one step of a field path: a member name or, if name is nil, an array
// index.
type step struct {
	name  []byte
	index int
}

// parsePath parses a field path: names separated by dots, and indexes in
// brackets, counted from 0, as in request.headers.Referer[0]. A name that
// contains a dot, a bracket or a quote must be quoted, as in "a.b".c, or have a
// backslash before each of these characters, as in a\.b.c.
func parsePath(text string) ([]step, error) {
	var path []step
	for s := text; ; {
		st, rest, err := parseStep(s)
		if err != nil {
			return nil, fmt.Errorf("invalid field path %q: %w", text, err)
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
			return nil, fmt.Errorf("invalid field path %q: missing dot or bracket after %q", text, strings.TrimSuffix(text, rest))
		}
	}
}

// parseStep parses the step at the start of s.
func parseStep(s string) (st step, rest string, err error) {
	switch {
	case s == "":
		return st, "", errors.New("empty name")
	case s[0] == '[':
		digits, rest, ok := strings.Cut(s[1:], "]")
		n, err := strconv.Atoi(digits)
		if !ok || err != nil || n < 0 {
			return st, "", errors.New("an index must be a non-negative number in brackets")
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
		return st, "", errors.New("missing closing quote")
	}
	name, i := []byte{}, 0
	for ; i < len(s) && s[i] != '.' && s[i] != '['; i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		name = append(name, s[i])
	}
	if i == 0 {
		return st, "", errors.New("empty name")
	}
	return step{name: name}, s[i:], nil
}

// maxDepth is the maximum nesting depth of the values in a record. A record
// with deeper values counts as malformed.
const maxDepth = 256

// scanner reads a JSON text (RFC 8259) without allocating once its scratch has
// grown. It checks the syntax of everything that it reads. After a syntax
// error, broken remains set and pos is the offset of the error.
type scanner struct {
	b       []byte
	marks   scan.Marks // of the bytes of b that are not in plainText; nil if they are not known
	pos     int
	broken  bool
	scratch []byte // for unescaped names
	runs    []run
}

// begin starts to read b. Most records have so many short strings that it pays
// to mark where they can end.
func (s *scanner) begin(b []byte) {
	s.b, s.pos, s.broken = b, 0, false
	s.marks = plainText.Mark(s.marks, b)
}

// find returns the range of the value at path, including quotes and brackets,
// and whether the value exists. If several members have the same name, find
// uses the first one. It does not read anything after the value.
func (s *scanner) find(b []byte, path []step) (span, bool) {
	s.begin(b)
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
// st. It returns false if there is none.
func (s *scanner) enter(st *step) bool {
	open, end := byte('{'), byte('}')
	if st.name == nil {
		open, end = '[', ']'
	}
	if s.peek() != open {
		s.skip() // another type has no such member; check its syntax
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

// name reads a member name and the colon, and reports whether the name is want.
func (s *scanner) name(want []byte) bool {
	raw, escaped := s.rawName()
	if escaped && len(raw) >= len(want) {
		raw = s.plain(raw)
	}
	return !s.broken && string(raw) == string(want)
}

// rawName reads a member name and the colon. It returns the name with its
// escapes, and whether it can have any.
func (s *scanner) rawName() (raw []byte, escaped bool) {
	start := s.pos + 1
	if end := s.plainEnd(); end >= 0 {
		if s.pos = end + 1; s.peek() == ':' {
			s.pos++
			s.space()
			return s.b[start:end], false
		}
	} else if s.str(); s.broken {
		return nil, false
	}
	raw = s.b[start : s.pos-1]
	s.colon()
	return raw, true
}

// plainEnd returns the offset of the quote that closes the string at s.pos, or
// -1 if the string has anything but plain text, or if there are no marks.
func (s *scanner) plainEnd() int {
	if s.marks == nil || s.pos >= len(s.b) || s.b[s.pos] != '"' {
		return -1
	}
	end := s.marks.Next(s.pos + 1)
	if end >= len(s.b) || s.b[end] != '"' {
		return -1
	}
	return end
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

// space skips white space, RFC 8259 §2.
func (s *scanner) space() {
	if s.pos < len(s.b) && s.b[s.pos] <= ' ' {
		s.skipSpace()
	}
}

func (s *scanner) skipSpace() {
	for s.pos < len(s.b) {
		switch s.b[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// skip skips one value.
func (s *scanner) skip() {
	if c := s.peek(); c == '{' || c == '[' {
		s.skipNested()
	} else {
		s.scalar()
	}
}

// skipNested skips an object or an array.
func (s *scanner) skipNested() {
	var isObject depths
	for depth := 0; ; {
		if c := s.peek(); c == '{' || c == '[' {
			if depth == maxDepth {
				s.broken = true
				return
			}
			s.pos++
			s.space()
			isObject.set(depth, c == '{')
			depth++
			if s.peek() != c+2 { // in ASCII, '}' is '{'+2 and ']' is '['+2
				if c == '[' || !s.members() {
					if s.broken {
						return
					}
					continue
				}
				depth--
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
				if isObject.has(depth-1) && s.members() {
					depth--
					continue
				}
				break
			}
			if isObject.has(depth - 1) {
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

// depths is a set of depths, which is cheaper to clear than an array of bools.
type depths [maxDepth / 64]uint64

func (d *depths) has(depth int) bool { return d[depth>>6&(len(d)-1)]>>(depth&63)&1 != 0 }

func (d *depths) set(depth int, in bool) {
	word, bit := &d[depth>>6&(len(d)-1)], uint64(1)<<(depth&63)
	if *word &^= bit; in {
		*word |= bit
	}
}

// members skips members up to the end of their object, and returns true. Otherwise it
// stops before the first value that is nested or unusual.
func (s *scanner) members() (closed bool) {
	var none *fieldTree
	closed = none.plainMembers(s, nil, nil)
	if !closed && !s.broken {
		s.member()
	}
	return closed
}

// member skips a member name and its colon.
func (s *scanner) member() {
	if s.str(); !s.broken {
		s.colon()
	}
}

// scalar skips a string, a number or a literal name.
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

// number skips a number.
func (s *scanner) number() {
	var ok bool
	s.pos, ok = numberEnd(s.b, s.pos)
	s.broken = s.broken || !ok
}

// numberEnd returns the end of the number at pos, RFC 8259 §6. ok is false if there is
// none.
func numberEnd(b []byte, pos int) (end int, ok bool) {
	if short := shortNumber(b, pos); short > 0 {
		return pos + short, true
	}
	if pos < len(b) && b[pos] == '-' {
		pos++
	}
	ok = true
	if pos < len(b) && b[pos] == '0' {
		pos++
	} else {
		pos, ok = digitsEnd(b, pos, ok)
	}
	if pos < len(b) && b[pos] == '.' {
		pos, ok = digitsEnd(b, pos+1, ok)
	}
	if pos < len(b) && b[pos]|0x20 == 'e' {
		if pos++; pos < len(b) && (b[pos] == '+' || b[pos] == '-') {
			pos++
		}
		pos, ok = digitsEnd(b, pos, ok)
	}
	return pos, ok
}

// digitsEnd returns the end of the digits at pos, and ok if there are any.
func digitsEnd(b []byte, pos int, ok bool) (int, bool) {
	start := pos
	for pos+8 <= len(b) {
		n := leadingDigits(binary.LittleEndian.Uint64(b[pos:]))
		if pos += n; n < 8 {
			break
		}
	}
	for pos < len(b) && isDigit(b[pos]) {
		pos++
	}
	return pos, ok && pos > start
}

// str skips a string, RFC 8259 §7. It accepts bytes that are not valid UTF-8,
// because logs contain them and they must reach the output unchanged.
func (s *scanner) str() {
	if end := s.plainEnd(); end >= 0 {
		s.pos = end + 1
		return
	}
	if s.expect('"'); s.broken {
		return
	}
	for s.pos = plainText.End(s.b, s.pos); s.pos < len(s.b); s.pos++ {
		c := s.b[s.pos]
		switch {
		case plainJSON[c] || c >= 0x80:
		case c == '"':
			s.pos++
			return
		case c == '\\':
			n := escapeLen(s.b[s.pos:])
			if n == 0 {
				s.broken = true
				return
			}
			s.pos += n - 1
		default:
			s.broken = true
			return
		}
	}
	s.broken = true
}

// escapeLen returns the length of the escape with which rest begins, or 0.
func escapeLen(rest []byte) int {
	switch {
	case rest[0] != '\\':
	case len(rest) > 1 && jsonEscapes[rest[1]] != 0:
		return 2
	default:
		if _, ok := hex4(rest); ok {
			return 6
		}
	}
	return 0
}

// more reads the text between two members or elements. It returns false at the
// end, after it has read the bracket.
func (s *scanner) more(end byte) bool {
	if s.broken {
		return false
	}
	s.space()
	if s.peek() == ',' {
		s.pos++
		s.space()
		return true
	}
	s.expect(end)
	return false
}

// enterEmpty reads the bracket at the start of an object or array, and the one
// at its end if it is empty.
func (s *scanner) enterEmpty(end byte) bool {
	s.pos++
	s.space()
	if s.peek() != end {
		return false
	}
	s.pos++
	return true
}

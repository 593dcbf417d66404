package jsonlines

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Step is one step of a field path: a member name or, if Name is nil, an array
// element.
type Step struct {
	Name  []byte
	Index int
	Pair  string // if set, the element is the object with this name; see ParsePath
}

// ParsePath parses a field path: names separated by dots, and indexes in
// brackets, counted from 0, as in request.headers.Referer[0]. A name that
// contains a dot, a bracket or a quote must be quoted, as in "a.b".c, or have a
// backslash before each of these characters, as in a\.b.c.
//
// The step [=NAME] is the object in an array whose member name or key is NAME, in any
// case. headers[=Host] is short for headers[=Host].value, which is the text in
// {"headers":[{"name":"Host","value":"www.example.com"}]}.
func ParsePath(text string) ([]Step, error) {
	var path []Step
	for s := text; ; {
		st, rest, err := parseStep(s)
		if err != nil {
			return nil, fmt.Errorf("invalid field path %q: %w", text, err)
		}
		path = append(path, st)
		switch {
		case rest == "":
			if st.Pair != "" {
				path = append(path, Step{Name: []byte("value")})
			}
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
func parseStep(s string) (st Step, rest string, err error) {
	switch {
	case s == "":
		return st, "", errors.New("empty name")
	case s[0] == '[':
		index, rest, ok := strings.Cut(s[1:], "]")
		if name, paired := strings.CutPrefix(index, "="); ok && paired && name != "" {
			return Step{Pair: strings.Map(lower, name)}, rest, nil
		}
		n, err := strconv.Atoi(index)
		if !ok || err != nil || n < 0 {
			return st, "", errors.New("an index must be a non-negative number in brackets")
		}
		return Step{Index: n}, rest, nil
	case s[0] == '"':
		name := []byte{}
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '"':
				return Step{Name: name}, s[i+1:], nil
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
	return Step{Name: name}, s[i:], nil
}

// lower returns an ASCII letter in lower case.
func lower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// MaxDepth is the maximum nesting depth of the values in a record. A record
// with deeper values counts as malformed.
const MaxDepth = 256

// Scanner reads a JSON text (RFC 8259) without allocating once its scratch has
// grown. It checks the syntax of everything that it reads. After a syntax
// error, Broken remains set and Pos is the offset of the error.
type Scanner struct {
	B       []byte
	marks   scan.Marks // marks of the bytes of B outside PlainText; nil if not known
	Pos     int
	Broken  bool
	scratch []byte // for unescaped names
	runs    []locate.Run
}

// Begin starts to read b. Most records have so many short strings that it pays
// to mark where they can end.
func (s *Scanner) Begin(b []byte) {
	s.B, s.Pos, s.Broken = b, 0, false
	s.marks = locate.PlainText.Mark(s.marks, b)
}

// Find returns the range of the value at path, including quotes and brackets,
// and whether the value exists. If several members have the same name, Find
// uses the first one. It does not read anything after the value.
func (s *Scanner) Find(b []byte, path []Step) (locate.Span, bool) {
	s.Begin(b)
	s.Space()
	for i := range path {
		if !s.enter(&path[i]) {
			return locate.Span{}, false
		}
	}
	start := s.Pos
	s.Skip()
	return locate.Between(start, s.Pos), !s.Broken
}

// enter moves from the start of a value to the start of its member or element
// st. It returns false if the value lacks it.
func (s *Scanner) enter(st *Step) bool {
	open, end := byte('{'), byte('}')
	if st.Name == nil {
		open, end = '[', ']'
	}
	if s.Peek() != open {
		s.Skip() // another type cannot have the member; check its syntax
		return false
	}
	if s.EnterEmpty(end) {
		return false
	}
	for n := 0; ; n++ {
		var found bool
		switch {
		case st.Name != nil:
			found = s.name(st.Name)
		case st.Pair != "":
			found = locate.EqualLower(elementName(s.B, s.Pos), st.Pair)
		default:
			found = n == st.Index
		}
		if s.Broken || found {
			return found && !s.Broken
		}
		if s.Skip(); !s.More(end) {
			return false
		}
	}
}

// elementName returns the text of the member "name" or "key" of the object at
// start, with its escapes. It returns nil if the object has no such member.
func elementName(b []byte, start int) []byte {
	s := Scanner{B: b, Pos: start}
	if s.Peek() != '{' {
		return nil
	}
	for more := !s.EnterEmpty('}'); more && !s.Broken; more = s.More('}') {
		member, _ := s.RawName()
		from := s.Pos
		s.Skip()
		if v := string(member); (v == "name" || v == "key") && !s.Broken && b[from] == '"' {
			return b[from+1 : s.Pos-1]
		}
	}
	return nil
}

// name reads a member name and the colon, and reports whether the name is want.
func (s *Scanner) name(want []byte) bool {
	raw, escaped := s.RawName()
	if escaped && len(raw) >= len(want) {
		raw = s.Plain(raw)
	}
	return !s.Broken && string(raw) == string(want)
}

// RawName reads a member name and the colon. It returns the name with its
// escapes, and whether the name can have escapes.
func (s *Scanner) RawName() (raw []byte, escaped bool) {
	start := s.Pos + 1
	if end := s.plainEnd(); end >= 0 {
		if s.Pos = end + 1; s.Peek() == ':' {
			s.Pos++
			s.Space()
			return s.B[start:end], false
		}
	} else if s.Str(); s.Broken {
		return nil, false
	}
	raw = s.B[start : s.Pos-1]
	s.colon()
	return raw, true
}

// plainEnd returns the offset of the quote that closes the string at s.Pos, or
// -1 if the string has anything but plain text, or if there are no marks.
func (s *Scanner) plainEnd() int {
	if s.marks == nil || s.Pos >= len(s.B) || s.B[s.Pos] != '"' {
		return -1
	}
	end := s.marks.Next(s.Pos + 1)
	if end >= len(s.B) || s.B[end] != '"' {
		return -1
	}
	return end
}

// Plain returns a name without its escapes.
func (s *Scanner) Plain(raw []byte) []byte {
	name, runs, escaped := locate.JSONDialect.Unescape(s.scratch, raw, s.runs)
	if escaped {
		s.scratch, s.runs = name, runs
	}
	return name
}

func (s *Scanner) colon() {
	s.Space()
	if s.Expect(':'); !s.Broken {
		s.Space()
	}
}

// Peek returns the next byte, or 0 at the end.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.B) {
		return s.B[s.Pos]
	}
	return 0
}

// Expect reads the byte c. If another byte follows, it sets s.Broken.
func (s *Scanner) Expect(c byte) {
	if s.Pos < len(s.B) && s.B[s.Pos] == c {
		s.Pos++
		return
	}
	s.Broken = true
}

// Space skips white space, RFC 8259 §2.
func (s *Scanner) Space() {
	if s.Pos < len(s.B) && s.B[s.Pos] <= ' ' {
		s.skipSpace()
	}
}

func (s *Scanner) skipSpace() {
	for s.Pos < len(s.B) {
		switch s.B[s.Pos] {
		case ' ', '\t', '\n', '\r':
			s.Pos++
		default:
			return
		}
	}
}

// Skip skips one value.
func (s *Scanner) Skip() {
	if c := s.Peek(); c == '{' || c == '[' {
		s.skipNested()
	} else {
		s.scalar()
	}
}

// skipNested skips an object or an array.
func (s *Scanner) skipNested() {
	var isObject depths
	for depth := 0; ; {
		if c := s.Peek(); c == '{' || c == '[' {
			if depth == MaxDepth {
				s.Broken = true
				return
			}
			s.Pos++
			s.Space()
			isObject.set(depth, c == '{')
			depth++
			if s.Peek() != c+2 { // in ASCII, '}' is '{'+2 and ']' is '['+2
				if c == '[' || !s.members() {
					if s.Broken {
						return
					}
					continue
				}
				depth--
			}
		} else {
			s.scalar()
		}
		for depth > 0 && !s.Broken {
			s.Space()
			c := s.Peek()
			if c == ',' {
				s.Pos++
				s.Space()
				if isObject.has(depth-1) && s.members() {
					depth--
					continue
				}
				break
			}
			if isObject.has(depth - 1) {
				s.Expect('}')
			} else {
				s.Expect(']')
			}
			depth--
		}
		if s.Broken || depth == 0 {
			return
		}
	}
}

// depths is a set of depths, which is cheaper to clear than an array of bools.
type depths [MaxDepth / 64]uint64

func (d *depths) has(depth int) bool { return d[depth>>6&(len(d)-1)]>>(depth&63)&1 != 0 }

func (d *depths) set(depth int, in bool) {
	word, bit := &d[depth>>6&(len(d)-1)], uint64(1)<<(depth&63)
	if *word &^= bit; in {
		*word |= bit
	}
}

// members skips members up to the end of their object, and returns true. If a value is
// nested or unusual, it stops before the first such value and returns false.
func (s *Scanner) members() (closed bool) {
	var none *fieldTree
	closed = none.plainMembers(s, nil, nil)
	if !closed && !s.Broken {
		s.member()
	}
	return closed
}

// member skips a member name and its colon.
func (s *Scanner) member() {
	if s.Str(); !s.Broken {
		s.colon()
	}
}

// scalar skips a string, a number or a literal name.
func (s *Scanner) scalar() {
	switch c := s.Peek(); {
	case c == '"':
		s.Str()
	case c == '-' || locate.IsDigit(c):
		s.number()
	case c == 't':
		s.word("true")
	case c == 'f':
		s.word("false")
	case c == 'n':
		s.word("null")
	default:
		s.Broken = true
	}
}

func (s *Scanner) word(w string) {
	if len(s.B)-s.Pos >= len(w) && string(s.B[s.Pos:s.Pos+len(w)]) == w {
		s.Pos += len(w)
		return
	}
	s.Broken = true
}

// number skips a number.
func (s *Scanner) number() {
	var ok bool
	s.Pos, ok = numberEnd(s.B, s.Pos)
	s.Broken = s.Broken || !ok
}

// numberEnd returns the end of the number at pos, RFC 8259 §6. ok is false if
// no number is there.
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

// digitsEnd returns the end of the digits at pos. It returns false if ok is false or if
// there are no digits.
func digitsEnd(b []byte, pos int, ok bool) (int, bool) {
	start := pos
	for pos+8 <= len(b) {
		n := locate.LeadingDigits(binary.LittleEndian.Uint64(b[pos:]))
		if pos += n; n < 8 {
			break
		}
	}
	for pos < len(b) && locate.IsDigit(b[pos]) {
		pos++
	}
	return pos, ok && pos > start
}

// Str skips a string, RFC 8259 §7. It accepts bytes that are not valid UTF-8,
// because logs contain them and they must reach the output unchanged.
func (s *Scanner) Str() {
	if end := s.plainEnd(); end >= 0 {
		s.Pos = end + 1
		return
	}
	if s.Expect('"'); s.Broken {
		return
	}
	for s.Pos = locate.PlainText.End(s.B, s.Pos); s.Pos < len(s.B); s.Pos++ {
		c := s.B[s.Pos]
		switch {
		case locate.PlainJSON[c] || c >= 0x80:
		case c == '"':
			s.Pos++
			return
		case c == '\\':
			n := escapeLen(s.B[s.Pos:])
			if n == 0 {
				s.Broken = true
				return
			}
			s.Pos += n - 1
		default:
			s.Broken = true
			return
		}
	}
	s.Broken = true
}

// escapeLen returns the length of the escape with which rest begins, or 0.
func escapeLen(rest []byte) int {
	switch {
	case rest[0] != '\\':
	case len(rest) > 1 && locate.JSONEscapes[rest[1]] != 0:
		return 2
	case len(rest) >= len(`\xHH`) && rest[1] == 'x' && locate.Unhex[rest[2]] < 16 && locate.Unhex[rest[3]] < 16:
		return len(`\xHH`) // nginx writes this escape: see locate.DecodeJSON
	default:
		if _, ok := locate.Hex4(rest); ok {
			return 6
		}
	}
	return 0
}

// More reads the text between two members or elements. After the last member or
// element, it reads the closing bracket end and returns false.
func (s *Scanner) More(end byte) bool {
	if s.Broken {
		return false
	}
	s.Space()
	if s.Peek() == ',' {
		s.Pos++
		s.Space()
		return true
	}
	s.Expect(end)
	return false
}

// EnterEmpty reads the opening bracket of an object or array. If nothing is in
// the brackets, it also reads the closing bracket end, and returns true.
func (s *Scanner) EnterEmpty(end byte) bool {
	s.Pos++
	s.Space()
	if s.Peek() != end {
		return false
	}
	s.Pos++
	return true
}

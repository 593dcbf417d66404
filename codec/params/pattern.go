package params

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(c byte)      { s[c>>6] |= 1 << (c & 63) }
func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

func (s *byteSet) addRange(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		s.add(byte(c))
	}
}

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// fold adds the other case of every letter in s.
func (s *byteSet) fold() {
	for c := byte('a'); c <= 'z'; c++ {
		if s.has(c) || s.has(c-32) {
			s.add(c)
			s.add(c - 32)
		}
	}
}

// nodeKind is the kind of a node.
type nodeKind uint8

const (
	nodeByte   nodeKind = iota // one byte of set
	nodeConcat                 // all of subs in order; the empty text if there are none
	nodeAlt                    // one of subs
	nodeRepeat                 // subs[0], min to max times; max < 0 means no limit
)

// node is a node of a parsed pattern.
type node struct {
	kind     nodeKind
	set      byteSet
	subs     []*node
	min, max int
}

// maxRepeat and maxDepth limit the size of an expanded pattern and the stack of
// its parser.
const (
	maxRepeat = 1000
	maxDepth  = 100
)

// patternError reports a part of a pattern that is invalid or not supported.
type patternError struct {
	at     int
	reason string
}

func (e *patternError) Error() string {
	return fmt.Sprintf("unsupported pattern: %s at byte %d", e.reason, e.at)
}

// patternParser parses patterns, see Rule, by recursive descent: alternatives,
// concatenations, atoms.
type patternParser struct {
	src   string
	at    int
	depth int
	fold  bool // letters match both cases
}

// parsePattern parses a whole pattern. It ignores a '^' at the start and a '$'
// at the end. anchored reports whether there was a '$'.
func parsePattern(src string, fold bool) (n *node, anchored bool, err error) {
	p := &patternParser{src: src, fold: fold}
	if strings.HasPrefix(src, "^") {
		p.at = 1
	}
	if p.endsInDollar() {
		p.src, anchored = src[:len(src)-1], true
	}
	n, err = p.alternatives()
	if err == nil && p.at < len(p.src) {
		err = p.fail("unmatched ')'")
	}
	if err != nil {
		return nil, false, err
	}
	return n, anchored, nil
}

// endsInDollar reports whether the last byte is an unescaped '$'.
func (p *patternParser) endsInDollar() bool {
	rest, ok := strings.CutSuffix(p.src[p.at:], "$")
	return ok && (len(rest)-len(strings.TrimRight(rest, `\`)))%2 == 0
}

func (p *patternParser) fail(reason string) error { return &patternError{p.at, reason} }

// peek returns the next byte, or 0 at the end.
func (p *patternParser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *patternParser) alternatives() (*node, error) {
	alt := &node{kind: nodeAlt}
	for {
		n, err := p.concat()
		if err != nil {
			return nil, err
		}
		alt.subs = append(alt.subs, n)
		if p.peek() != '|' {
			break
		}
		p.at++
	}
	if len(alt.subs) == 1 {
		return alt.subs[0], nil
	}
	return alt, nil
}

func (p *patternParser) concat() (*node, error) {
	cat := &node{kind: nodeConcat}
	for p.at < len(p.src) && p.peek() != '|' && p.peek() != ')' {
		n, err := p.atom()
		if err == nil {
			n, err = p.repeated(n)
		}
		if err != nil {
			return nil, err
		}
		cat.subs = append(cat.subs, n)
	}
	return cat, nil
}

// repeated parses the repetition after an atom, if there is one.
func (p *patternParser) repeated(atom *node) (*node, error) {
	lo, hi := 0, -1
	switch p.peek() {
	case '*':
	case '+':
		lo = 1
	case '?':
		hi = 1
	case '{':
		var size int
		if lo, hi, size = braces(p.src[p.at:]); size == 0 {
			return nil, p.fail("'{' without a valid count (the maximum is " + strconv.Itoa(maxRepeat) + ")")
		}
		p.at += size - 1
	default:
		return atom, nil
	}
	p.at++
	if p.peek() == '?' { // lazy: matches the same texts
		p.at++
	}
	if c := p.peek(); c == '*' || c == '+' || c == '?' || c == '{' {
		return nil, p.fail("nested repetition")
	}
	return &node{kind: nodeRepeat, subs: []*node{atom}, min: lo, max: hi}, nil
}

// braces parses {n}, {n,} or {n,m}. It returns the size 0 if s does not start
// with a valid one.
func braces(s string) (lo, hi, size int) {
	inner, _, ok := strings.Cut(s[1:], "}")
	from, to, comma := strings.Cut(inner, ",")
	lo, ok1 := repeatCount(from)
	hi, ok2 := lo, true
	switch {
	case comma && to == "":
		hi = -1
	case comma:
		hi, ok2 = repeatCount(to)
		ok2 = ok2 && lo <= hi
	}
	if !ok || !ok1 || !ok2 {
		return 0, 0, 0
	}
	return lo, hi, len(inner) + 2
}

func repeatCount(s string) (n int, ok bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= 0 && n <= maxRepeat && s[0] != '+' && s[0] != '-'
}

func (p *patternParser) atom() (*node, error) {
	n := &node{kind: nodeByte}
	switch c := p.peek(); c {
	case '(':
		return p.group()
	case '[':
		return p.class()
	case '.':
		n.set.invert()
	case '\\':
		if err := p.escape(&n.set); err != nil {
			return nil, err
		}
	case '*', '+', '?', '{':
		return nil, p.fail("nothing to repeat")
	case '^', '$':
		return nil, p.fail("assertion")
	default:
		if c >= utf8.RuneSelf {
			return p.character(), nil
		}
		n.set.add(c)
	}
	p.at++
	if p.fold {
		n.set.fold()
	}
	return n, nil
}

// character parses the bytes of one non-ASCII character as a unit, so that a
// repetition applies to all of them.
func (p *patternParser) character() *node {
	_, size := utf8.DecodeRuneInString(p.src[p.at:])
	cat := &node{kind: nodeConcat}
	for ; size > 0; size-- {
		b := &node{kind: nodeByte}
		b.set.add(p.src[p.at])
		cat.subs = append(cat.subs, b)
		p.at++
	}
	return cat
}

// escape adds the bytes that the escape after a '\' matches to set, and leaves
// the parser at the last byte of the escape.
func (p *patternParser) escape(set *byteSet) error {
	p.at++
	c := p.peek()
	var s byteSet
	switch c {
	case 'd', 'D', 'w', 'W':
		s.addRange('0', '9')
		if c|32 == 'w' {
			s.addRange('a', 'z')
			s.addRange('A', 'Z')
			s.add('_')
		}
	case 's', 'S':
		for _, space := range []byte("\t\n\f\r ") {
			s.add(space)
		}
	default:
		if p.at >= len(p.src) || c >= 0x80 || kinds[c]&kindAlnum != 0 {
			return p.fail(`escape other than \d, \w, \s and punctuation`)
		}
		s.add(c)
	}
	if c == 'D' || c == 'W' || c == 'S' {
		s.invert()
	}
	for i := range set {
		set[i] |= s[i]
	}
	return nil
}

func (p *patternParser) group() (*node, error) {
	p.at++
	if p.peek() == '?' {
		if !strings.HasPrefix(p.src[p.at:], "?:") {
			return nil, p.fail("assertion, group name or flag")
		}
		p.at += 2
	}
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail("groups are nested too deeply")
	}
	n, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	p.depth--
	if p.peek() != ')' {
		return nil, p.fail("missing ')'")
	}
	p.at++
	return n, nil
}

// class parses [...]. A '-' at either end is literal, as is a ']' at the start.
func (p *patternParser) class() (*node, error) {
	n := &node{kind: nodeByte}
	p.at++
	negated := p.peek() == '^'
	if negated {
		p.at++
	}
	for first := true; p.peek() != ']' || first; first = false {
		if err := p.classItem(&n.set); err != nil {
			return nil, err
		}
	}
	p.at++
	if p.fold {
		n.set.fold()
	}
	if negated {
		n.set.invert()
	}
	return n, nil
}

// classItem parses one byte, range or escape of a class.
func (p *patternParser) classItem(set *byteSet) error {
	lo, err := p.classByte(set)
	if err != nil {
		return err
	}
	if lo < 0 || p.peek() != '-' || p.at+1 >= len(p.src) || p.src[p.at+1] == ']' {
		if lo >= 0 {
			set.add(byte(lo))
		}
		return nil
	}
	p.at++
	var ignored byteSet
	hi, err := p.classByte(&ignored)
	if err != nil {
		return err
	}
	if hi < lo {
		return p.fail("range with its ends in the wrong order")
	}
	set.addRange(byte(lo), byte(hi))
	return nil
}

// classByte parses a byte of a class. It adds a class escape such as \d to set
// and returns -1.
func (p *patternParser) classByte(set *byteSet) (int, error) {
	c := p.peek()
	switch {
	case p.at >= len(p.src):
		return 0, p.fail("missing ']'")
	case c >= 0x80:
		return 0, p.fail("non-ASCII character in a class")
	case c == '[' && strings.HasPrefix(p.src[p.at:], "[:"):
		return 0, p.fail("named class")
	case c == '\\':
		if err := p.escape(set); err != nil {
			return 0, err
		}
		c = p.src[p.at]
		p.at++
		if kinds[c]&kindAlnum != 0 {
			return -1, nil
		}
		return int(c), nil
	}
	p.at++
	return int(c), nil
}

// parseGlob parses a rule's path that is not a pattern, see Rule.
func parseGlob(src string) *node {
	cat := &node{kind: nodeConcat}
	folder, isFolder := strings.CutSuffix(src, "/**")
	if isFolder {
		src = folder
	}
	for i := 0; i < len(src); i++ {
		n := &node{kind: nodeByte}
		switch {
		case src[i] != '*':
			n.set.add(src[i])
		case strings.HasPrefix(src[i:], "**"):
			n = anything()
			i++
		default:
			n = anything()
			n.subs[0].set[0] &^= 1 << '/'
		}
		cat.subs = append(cat.subs, n)
	}
	if isFolder {
		slash := &node{kind: nodeByte}
		slash.set.add('/')
		below := &node{kind: nodeConcat, subs: []*node{slash, anything()}}
		cat.subs = append(cat.subs, &node{kind: nodeRepeat, subs: []*node{below}, max: 1})
	}
	return cat
}

// anything returns the pattern that matches any text.
func anything() *node {
	any1 := &node{kind: nodeByte}
	any1.set.invert()
	return &node{kind: nodeRepeat, subs: []*node{any1}, max: -1}
}

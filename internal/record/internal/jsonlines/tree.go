package jsonlines

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// fieldTree finds the values of many field paths in one pass over a JSON text.
// It is immutable once built, and safe for concurrent use.
type fieldTree struct {
	nodes  []treeNode // the first one is the root
	Values int        // number of different paths
	paired bool       // a path has a pair: see Step.Pair
}

// clone returns a copy of the nodes.
func (t *fieldTree) clone() []treeNode {
	nodes := slices.Clone(t.nodes)
	for i := range nodes {
		nodes[i].members = slices.Clone(nodes[i].members)
	}
	return nodes
}

// treeNode is a step of one or several paths.
type treeNode struct {
	Step
	value    int   // index of the value of the path that ends here; -1 if none does
	next     int   // next child of the same parent, with the same hash if it has a name; 0 if none
	elements int   // first child that is an index; 0 if none
	pairs    int   // first child that is a pair; 0 if none
	members  []int // first child for each hash of a name; nil if none
}

// numHashes is the number of different hashes of names, a power of two.
const numHashes = 64

// hashName returns a hash of a name that is not empty.
func hashName(name []byte) int {
	return (len(name)*5 + int(name[0])*3 + int(name[len(name)-1])*11) & (numHashes - 1)
}

// add adds a path and returns the index of its value. The same path has the
// same index.
func (t *fieldTree) add(path []Step) int {
	if t.nodes == nil {
		t.nodes = []treeNode{{value: -1}}
	}
	at := 0
	for _, st := range path {
		at = t.child(at, st)
	}
	n := &t.nodes[at]
	if n.value < 0 {
		n.value = t.Values
		t.Values++
	}
	return n.value
}

// child returns the child of a node for a step, and adds it if necessary.
func (t *fieldTree) child(at int, st Step) int {
	n := &t.nodes[at]
	head := &n.elements
	if st.Pair != "" {
		head, t.paired = &n.pairs, true
	}
	if st.Name != nil {
		if n.members == nil {
			n.members = make([]int, numHashes)
		}
		head = &n.members[hashStep(st.Name)]
	}
	for i := *head; i != 0; i = t.nodes[i].next {
		if c := &t.nodes[i]; bytes.Equal(c.Name, st.Name) && c.Index == st.Index && c.Pair == st.Pair {
			return i
		}
	}
	i := len(t.nodes)
	next := *head
	*head = i
	t.nodes = append(t.nodes, treeNode{Step: st, value: -1, next: next})
	return i
}

// hashStep is hashName for a name that may be empty.
func hashStep(name []byte) int {
	if len(name) == 0 {
		return 0
	}
	return hashName(name)
}

// Find stores the values of the paths in the JSON text that begins at s.Pos. It
// reads all of that text. values must have an element for each path, with
// ValueMissing as its kind. If several members have the same name, the first
// one counts.
func (t *fieldTree) Find(s *Scanner, values []locate.FieldValue) { t.walk(s, 0, values) }

// walk reads the value of a node.
func (t *fieldTree) walk(s *Scanner, at int, values []locate.FieldValue) {
	n := &t.nodes[at]
	start, c := s.Pos, s.Peek()
	switch {
	case c == '{' && n.members != nil:
		t.object(s, n, values)
	case c == '[' && n.elements|n.pairs != 0:
		t.array(s, n, values)
	default:
		s.Skip()
	}
	if n.value >= 0 && !s.Broken && values[n.value].Kind == locate.ValueMissing {
		values[n.value] = valueOf(s.B, start, s.Pos)
	}
}

// valueOf returns the value in the range from start to end. The span of a
// string is its inside.
func valueOf(b []byte, start, end int) locate.FieldValue {
	switch c := b[start]; {
	case c == 'n' || c == 'f':
		return locate.FieldValue{Kind: locate.ValueEmpty}
	case c == '"':
		return textValue(locate.Between(start+1, end-1))
	case c == '-' || locate.IsDigit(c):
		return textValue(locate.Between(start, end))
	}
	return locate.FieldValue{Span: locate.Between(start, end), Kind: locate.ValueOther}
}

// textValue returns the value with the text at the given place.
func textValue(at locate.Span) locate.FieldValue {
	v := locate.FieldValue{Span: at, Kind: locate.ValueText, Dialect: locate.JSONDialect}
	if at.End == at.Start {
		v.Kind = locate.ValueEmpty
	}
	return v
}

// object reads an object whose members n names.
func (t *fieldTree) object(s *Scanner, n *treeNode, values []locate.FieldValue) {
	s.Pos++
	s.Space()
	if s.Peek() == '}' {
		s.Pos++
		return
	}
	for {
		if t.plainMembers(s, n, values) || s.Broken {
			return
		}
		raw, escaped := s.RawName()
		if s.Broken {
			return
		}
		if escaped {
			raw = s.Plain(raw)
		}
		i := t.member(n, raw)
		if end := s.plainEnd(); end >= 0 { // the form of most values
			t.Text(i, locate.Between(s.Pos+1, end), values)
			s.Pos = end + 1
		} else if i != 0 {
			t.walk(s, i, values)
		} else {
			s.Skip()
		}
		if !s.More('}') {
			return
		}
	}
}

// plainMembers reads the members at s.Pos up to the end of their object, if
// they have the usual form: a plain name, a plain string, a number or a literal
// name, and at most one space after a colon and a comma. It returns false at
// the start of the first member with another form. If t is nil, it stores no
// values.
//
// An error in a value is an error of the text, and sets s.Broken.
//
// plainMembers goes from mark to mark. The marks do not depend on what it has
// read, so the processor need not wait for the previous step.
func (t *fieldTree) plainMembers(s *Scanner, n *treeNode, values []locate.FieldValue) (closed bool) {
	b, m, pos := s.B, s.marks, s.Pos
	if m == nil {
		return false
	}
	for k, w := m.From(pos); ; {
		var name, end, value int
		name, k, w = m.Step(k, w)
		if name != pos || pos >= len(b) {
			break
		}
		end, k, w = m.Step(k, w)
		if value = end + len(`":`); value >= len(b) || b[end] != '"' || b[end+1] != ':' || b[name] != '"' {
			break
		}
		if b[value] == ' ' {
			if value++; value == len(b) {
				break
			}
		}
		node := 0
		if t != nil {
			node = t.member(n, b[name+1:end])
		}
		switch c := b[value]; {
		case c == '"':
			_, k, w = m.Step(k, w)
			end, k, w = m.Step(k, w)
			if end >= len(b) || b[end] != '"' {
				s.Pos = pos
				return false
			}
			if end++; node != 0 {
				t.Text(node, locate.Between(value+1, end-1), values)
			}
		case c <= ' ', t == nil && (c == '{' || c == '['):
			s.Pos = pos
			return false
		default:
			s.Pos = value
			if t.plainValue(s, node, values); s.Broken {
				return false
			}
			if end = s.Pos; c == '{' || c == '[' {
				k, w = m.From(end)
			}
		}
		if end == len(b) {
			break
		}
		if b[end] == '}' {
			s.Pos = end + 1
			return true
		}
		if b[end] != ',' {
			break
		}
		if pos = end + 1; pos < len(b) && b[pos] == ' ' {
			pos++
		}
	}
	s.Pos = pos
	s.Space()
	return false
}

// plainValue reads the value at s.Pos, which is no string. node is 0 if no path
// leads to the value.
func (t *fieldTree) plainValue(s *Scanner, node int, values []locate.FieldValue) {
	if node != 0 {
		t.walk(s, node, values)
	} else if short := shortNumber(s.B, s.Pos); short > 0 {
		s.Pos += short
	} else {
		s.Skip()
	}
}

// shortNumber returns the length of the integer at pos, or 0 if there is no
// integer of at most 7 digits before a comma or a closing brace.
func shortNumber(b []byte, pos int) int {
	if pos+8 > len(b) {
		return 0
	}
	n := locate.LeadingDigits(binary.LittleEndian.Uint64(b[pos:]))
	if n == 8 || b[pos] == '0' && n > 1 || b[pos+n] != ',' && b[pos+n] != '}' {
		return 0
	}
	return n
}

// Text stores a string without escapes as the value of a node, unless no path
// ends at the node, or its value is already stored. at is the inside of the
// string.
func (t *fieldTree) Text(node int, at locate.Span, values []locate.FieldValue) {
	i := t.nodes[node].value // -1 if no path ends at the node, as at the root
	if i < 0 || values[i].Kind != locate.ValueMissing {
		return
	}
	values[i] = textValue(at)
}

// member returns the child of n for a name without escapes, or 0.
func (t *fieldTree) member(n *treeNode, name []byte) int {
	for i := n.members[hashStep(name)]; i != 0; i = t.nodes[i].next {
		if string(t.nodes[i].Name) == string(name) {
			return i
		}
	}
	return 0
}

// array reads an array whose elements n names.
func (t *fieldTree) array(s *Scanner, n *treeNode, values []locate.FieldValue) {
	s.Pos++
	s.Space()
	if s.Peek() == ']' {
		s.Pos++
		return
	}
	for index := 0; ; index++ {
		i := n.elements
		for i != 0 && t.nodes[i].Index != index {
			i = t.nodes[i].next
		}
		start := s.Pos
		if i != 0 {
			t.walk(s, i, values)
		} else {
			s.Skip()
		}
		if n.pairs != 0 && !s.Broken {
			t.pair(s, n, start, values)
		}
		if !s.More(']') {
			return
		}
	}
}

// pair reads the object from start to s.Pos again if n has a pair with the name
// of the object.
func (t *fieldTree) pair(s *Scanner, n *treeNode, start int, values []locate.FieldValue) {
	name, end := elementName(s.B, start), s.Pos
	for i := n.pairs; i != 0; i = t.nodes[i].next {
		if locate.EqualLower(name, t.nodes[i].Pair) {
			s.Pos = start
			t.walk(s, i, values)
		}
	}
	s.Pos = end
}

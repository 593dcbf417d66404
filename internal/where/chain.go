package where

import (
	"bytes"
	"strconv"

	"github.com/expr-lang/expr/ast"

	"github.com/urlfold/urlfold/codec/record"
)

// chain is a list of conditions that && or || joins.
type chain struct {
	links []link
	stop  bool // the result of a condition after which no other counts
}

// link is a condition of a chain: a function, or the comparison of a field with a
// constant. That is what most chains have, and a call would take longer than the
// comparison.
type link struct {
	keep     predicate // nil for a comparison
	field    int
	value    []byte
	accepted outcomes
	integer  bool   // a longer text is greater
	number   uint64 // the value, if integer is set
}

// holds evaluates the chain.
func (c *chain) holds(v *record.View) bool {
	for i := range c.links {
		l := &c.links[i]
		holds := false
		if l.integer {
			if n, ok := v.Integer(l.field); ok {
				holds = l.accepted.hasOrder(n, l.number)
			} else {
				holds = l.compare(v)
			}
		} else if l.keep != nil {
			holds = l.keep(v)
		} else {
			holds = l.compare(v)
		}
		if holds == c.stop {
			return c.stop
		}
	}
	return !c.stop
}

// compare compares the field with the constant.
func (l *link) compare(v *record.View) bool {
	t, ok := v.Field(l.field)
	switch {
	case !ok:
		return false
	case l.integer:
		return l.accepted.has(compareDigits(t, l.value))
	case l.accepted == equal:
		return string(t) == string(l.value)
	case l.accepted == less|greater:
		return string(t) != string(l.value)
	}
	return l.accepted.has(bytes.Compare(t, l.value))
}

// compareDigits compares two integers without needless zeros.
func compareDigits(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}

// chainOf compiles a node that must be a condition. If that is not a chain, it is
// one of a single condition.
func (c *compiler) chainOf(n ast.Node) (chain, error) {
	var all chain
	b, ok := n.(*ast.BinaryNode)
	if !ok || !isLogical(b) {
		return all, c.link(n, &all)
	}
	all.stop = !isAnd(b)
	return all, c.chain(b, isAnd(b), &all)
}

// logical compiles &&, || and their synonyms.
func (c *compiler) logical(n *ast.BinaryNode) (predicate, error) {
	all, err := c.chainOf(n)
	return all.holds, err
}

func isAnd(n *ast.BinaryNode) bool { return n.Operator == "&&" || n.Operator == "and" }

func isLogical(n *ast.BinaryNode) bool {
	switch n.Operator {
	case "&&", "and", "||", "or":
		return true
	}
	return false
}

// chain compiles the conditions that n joins, also those of operators of the
// same kind on its left.
func (c *compiler) chain(n *ast.BinaryNode, and bool, all *chain) error {
	if left, ok := n.Left.(*ast.BinaryNode); ok && isLogical(left) && isAnd(left) == and {
		if err := c.chain(left, and, all); err != nil {
			return err
		}
	} else if err := c.link(n.Left, all); err != nil {
		return err
	}
	return c.link(n.Right, all)
}

// link compiles one condition of a chain.
func (c *compiler) link(n ast.Node, all *chain) error {
	l, ok := c.constant(n)
	if !ok {
		p, err := c.condition(n)
		if err != nil {
			return err
		}
		l = link{keep: p}
	}
	all.links = append(all.links, l)
	return nil
}

// constant compiles a comparison of a text with a text, or of an integer with an
// integer that is not negative. It returns false for anything else.
func (c *compiler) constant(n ast.Node) (link, bool) {
	b, ok := n.(*ast.BinaryNode)
	if !ok || comparisons[b.Operator] == 0 {
		return link{}, false
	}
	left, right, swapped, err := c.pair(b)
	if err != nil || left.kind != right.kind || right.isField {
		return link{}, false
	}
	l := link{field: left.field, value: right.value, accepted: outcomesOf(b.Operator, swapped)}
	if left.kind == text {
		return l, true
	}
	l.integer = true
	l.number, err = strconv.ParseUint(string(right.value), 10, 64)
	return l, err == nil && isInteger(left.field)
}

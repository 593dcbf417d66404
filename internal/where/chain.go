package where

import (
	"math"
	"strconv"

	"github.com/expr-lang/expr/ast"

	"github.com/urlfold/urlfold/codec/record"
)

// chain is a list of conditions that && or || joins. No condition depends on another,
// so those that take the least time are first.
type chain struct {
	bounds record.Bounds
	odd    []oddBound // the same, for records that do not have all integers
	others []predicate
}

// oddBound is a bound, and its condition for records that are not known to have its
// integer.
type oddBound struct {
	record.Bound
	other predicate
}

// add adds a bound.
func (c *chain) add(b oddBound) {
	c.bounds.Add(b.Bound)
	c.odd = append(c.odd, b)
}

// Bounds returns all conditions if they are bounds, otherwise nil.
func (c *chain) Bounds() *record.Bounds {
	if len(c.others) > 0 || len(c.odd) == 0 {
		return nil
	}
	return &c.bounds
}

// Keep implements [record.Condition]. It does not allocate.
func (c *chain) Keep(v *record.View) bool {
	have, stop := v.Integers(), c.bounds.Any
	for i := range c.odd {
		b := &c.odd[i]
		holds, known := b.Holds(have)
		if !known {
			holds = b.other(v)
		}
		if holds == stop {
			return stop
		}
	}
	for _, holds := range c.others {
		if holds(v) == stop {
			return stop
		}
	}
	return !stop
}

// boundOf returns the bound of an integer n for which accepted has the result of
// comparing n with value. ok is false if there is no such n.
func boundOf(integer uint8, accepted outcomes, value uint64) (b record.Bound, ok bool) {
	b, ok = record.Bound{Integer: integer}, true
	switch accepted {
	case less:
		b.Width, ok = value-1, value > 0
	case less | equal:
		b.Width = value
	case equal:
		b.Least = value
	case less | greater:
		b.Least, b.Width = value+1, math.MaxUint64-1
	case greater:
		b.Least, b.Width, ok = value+1, math.MaxUint64-value-1, value < math.MaxUint64
	default:
		b.Least, b.Width = value, math.MaxUint64-value
	}
	return b, ok
}

// chainOf compiles a node that must be a condition. If that is not a chain, it is
// one of a single condition.
func (c *compiler) chainOf(n ast.Node) (chain, error) {
	var all chain
	b, ok := n.(*ast.BinaryNode)
	if !ok || !isLogical(b) {
		return all, c.link(n, &all)
	}
	all.bounds.Any = !isAnd(b)
	return all, c.chain(b, isAnd(b), &all)
}

// logical compiles &&, || and their synonyms.
func (c *compiler) logical(n *ast.BinaryNode) (predicate, error) {
	all, err := c.chainOf(n)
	return all.Keep, err
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
	if b, ok := c.bound(n); ok {
		all.add(b)
		return nil
	}
	p, err := c.condition(n)
	all.others = append(all.others, p)
	return err
}

// bound compiles a node that compares a field with an integer that is not negative, or
// with an empty text. It returns false for anything else, and for a comparison that is
// always false.
func (c *compiler) bound(n ast.Node) (oddBound, bool) {
	b, ok := n.(*ast.BinaryNode)
	if !ok || comparisons[b.Operator] == 0 {
		return oddBound{}, false
	}
	left, right, swapped, err := c.pair(b)
	if err != nil || left.kind != right.kind || right.isField {
		return oddBound{}, false
	}
	accepted := outcomesOf(b.Operator, swapped)
	if left.kind == text && len(right.value) == 0 {
		return lengthBound(left.field, accepted)
	}
	if left.kind != number || !isInteger(left.field) {
		return oddBound{}, false
	}
	value, err := strconv.ParseUint(string(right.value), 10, 64)
	if err != nil {
		return oddBound{}, false
	}
	is, ok := boundOf(record.IntegerOf(left.field), accepted, value)
	return oddBound{is, compareNumber(left.field, right.value, accepted)}, ok
}

// lengthBound compiles the comparison of a field with an empty text.
func lengthBound(field int, accepted outcomes) (oddBound, bool) {
	length, known := record.LengthOf(field)
	is, ok := boundOf(length, accepted, 0)
	return oddBound{is, compareText(field, "", accepted)}, known && ok
}

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
	bounds []bound
	others []predicate
	stop   bool // the result of a condition after which no other counts
}

// bound is the comparison of a field with an integer that is not negative.
type bound struct {
	field record.IntegerField
	interval
	other predicate // the same, for records whose field is not known to be an integer
}

// interval is the set of the integers that a comparison with a constant accepts: those
// from least to least+width, or all others.
type interval struct {
	least, width uint64
	others       bool
}

// intervalOf returns the integers n for which accepted has the result of comparing n with
// value.
func intervalOf(accepted outcomes, value uint64) interval {
	switch accepted {
	case less:
		return interval{value, math.MaxUint64 - value, true}
	case less | equal:
		return interval{0, value, false}
	case equal:
		return interval{value, 0, false}
	case less | greater:
		return interval{value, 0, true}
	case greater:
		return interval{0, value, true}
	}
	return interval{value, math.MaxUint64 - value, false}
}

// has reports whether n is in the set.
func (i *interval) has(n uint64) bool { return (n-i.least <= i.width) != i.others }

// Keep implements [record.Condition]. It does not allocate.
func (c *chain) Keep(v *record.View) bool {
	bounds, others, stop := c.bounds, c.others, c.stop
	for i := range bounds {
		b := &bounds[i]
		n, ok := v.Integer(b.field)
		holds := b.has(n)
		if !ok {
			holds = b.other(v)
		}
		if holds == stop {
			return stop
		}
	}
	for _, holds := range others {
		if holds(v) == stop {
			return stop
		}
	}
	return !stop
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
		all.bounds = append(all.bounds, b)
		return nil
	}
	p, err := c.condition(n)
	all.others = append(all.others, p)
	return err
}

// bound compiles a node that compares a field with an integer that is not negative. It
// returns false for anything else.
func (c *compiler) bound(n ast.Node) (bound, bool) {
	b, ok := n.(*ast.BinaryNode)
	if !ok || comparisons[b.Operator] == 0 {
		return bound{}, false
	}
	left, right, swapped, err := c.pair(b)
	if err != nil || left.kind != number || right.kind != number || right.isField || !isInteger(left.field) {
		return bound{}, false
	}
	value, err := strconv.ParseUint(string(right.value), 10, 64)
	if err != nil {
		return bound{}, false
	}
	accepted := outcomesOf(b.Operator, swapped)
	return bound{record.IntegerFieldOf(left.field), intervalOf(accepted, value), compareNumber(left.field, right.value, accepted)}, true
}

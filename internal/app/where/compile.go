package where

import (
	"bytes"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// compiler turns a syntax tree into functions.
type compiler struct {
	zone     *time.Location
	fields   []int       // indexes of the fields that the expression reads, with repetitions
	tested   []int       // indexes of the fields in has(FIELD)
	at       map[int]int // by field: where its name first begins, in runes of the expression
	inside   bool        // the answers of a condition around the node are remembered
	computed []*record.Computed
}

// condition compiles a node that must be a condition.
func (c *compiler) condition(n ast.Node) (predicate, error) {
	field := -1
	if !c.inside {
		field = soleField(n)
	}
	if field < 0 {
		return c.test(n)
	}
	c.inside = true
	p, err := c.test(n)
	if c.inside = false; err != nil {
		return nil, err
	}
	return remember(p, field), nil
}

// test is condition without remembering answers.
func (c *compiler) test(n ast.Node) (predicate, error) {
	switch n := n.(type) {
	case *ast.BoolNode:
		value := n.Value
		return func(*record.View) bool { return value }, nil
	case *ast.IdentifierNode:
		switch n.Value {
		case changed:
			return (*record.View).Changed, nil
		case bot:
			c.reads(agentField, n)
			return isBot, nil
		}
		if _, err := c.operand(n); err != nil {
			return nil, err
		}
		return nil, mistake(n, "%s is %v, not a condition: compare it, or test it with has(%[1]s)", n.Value, kindOf(n.Value))
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			p, err := c.condition(n.Node)
			return func(v *record.View) bool { return !p(v) }, err
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and", "||", "or":
			return c.logical(n)
		case "==", "!=":
			if isCondition(n.Left) || isCondition(n.Right) {
				return c.sameTruth(n)
			}
			return c.comparison(n)
		case "<", "<=", ">", ">=":
			return c.comparison(n)
		case "contains", "startsWith", "endsWith":
			return c.search(n)
		case "matches":
			return c.match(n)
		case "in":
			return c.membership(n)
		}
		return nil, mistake(n, "unknown operator %s; operators: ==, !=, <, <=, >, >=, &&, ||, !, contains, startsWith, endsWith, matches, in", n.Operator)
	case *ast.CallNode:
		return c.call(n)
	case *ast.BuiltinNode:
		return nil, mistake(n, "%s", unknownFunction(n.Name))
	}
	return nil, mistake(n, "expected a condition such as status == 200")
}

// isCondition reports whether the node can only be a condition.
func isCondition(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return slices.Contains(conditions, n.Value)
	case *ast.UnaryNode:
		return n.Operator == "!" || n.Operator == "not"
	case *ast.BoolNode, *ast.BinaryNode:
		return true
	case *ast.CallNode:
		name, ok := n.Callee.(*ast.IdentifierNode)
		return !ok || slices.Contains(functions, name.Value)
	}
	return false
}

// logical compiles &&, || and their synonyms.
func (c *compiler) logical(n *ast.BinaryNode) (predicate, error) {
	left, err := c.condition(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.condition(n.Right)
	if n.Operator == "&&" || n.Operator == "and" {
		return func(v *record.View) bool { return left(v) && right(v) }, err
	}
	return func(v *record.View) bool { return left(v) || right(v) }, err
}

// sameTruth compiles the comparison of two conditions.
func (c *compiler) sameTruth(n *ast.BinaryNode) (predicate, error) {
	left, err := c.condition(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := c.condition(n.Right)
	same := n.Operator == "=="
	return func(v *record.View) bool { return left(v) == right(v) == same }, err
}

// call compiles has(FIELD) and flag("NAME").
func (c *compiler) call(n *ast.CallNode) (predicate, error) {
	name, ok := n.Callee.(*ast.IdentifierNode)
	if o, is, err := c.computedOperand(n); is {
		if err == nil {
			err = mistake(n, "%s is %v, not a condition: compare it", c.nameOf(o), o.kind)
		}
		return nil, err
	}
	switch {
	case !ok:
		return nil, mistake(n, "expected a condition such as status == 200")
	case !slices.Contains(functions, name.Value):
		return nil, mistake(n, "%s", unknownFunction(name.Value))
	case len(n.Arguments) != 1:
		return nil, mistake(n, "%s takes one argument, not %d", name.Value, len(n.Arguments))
	case name.Value == "flag":
		return c.flag(n.Arguments[0])
	}
	return c.has(n.Arguments[0])
}

func (c *compiler) has(n ast.Node) (predicate, error) {
	o, err := c.operand(n)
	switch {
	case err != nil:
		return nil, err
	case !o.isField:
		return nil, mistake(n, "has takes the name of a field, without quotes, such as has(referer)")
	}
	i := o.field
	if i >= len(fieldNames) {
		i = c.computed[i-len(fieldNames)].Source()
	}
	c.tested = append(c.tested, i)
	i = o.field
	return func(v *record.View) bool { return v.Has(i) }, nil
}

func (c *compiler) flag(n ast.Node) (predicate, error) {
	name, ok := n.(*ast.StringNode)
	if !ok {
		return nil, mistake(n, `flag takes the name of a flag in quotes, such as flag("non-hex")`)
	}
	flag, err := codec.ParseFlag(name.Value)
	if err != nil {
		return nil, mistake(n, "%s", unknownFlag(name.Value))
	}
	return func(v *record.View) bool { return v.HasFlag(flag) }, nil
}

// operand is one side of a comparison: a field or a constant.
type operand struct {
	kind    kind
	isField bool
	field   int
	value   []byte // value of a constant: its text, or its canonical decimal form
}

// operand compiles a node that must be a field or a constant.
func (c *compiler) operand(n ast.Node) (operand, error) {
	if o, is, err := c.computedOperand(n); is {
		return o, err
	}
	switch n := n.(type) {
	case *ast.IdentifierNode:
		i := indexOf(n.Value)
		switch {
		case slices.Contains(conditions, n.Value):
			return operand{}, mistake(n, "%s is a condition, not a field", n.Value)
		case i < 0:
			return operand{}, mistake(n, "%s", unknownName(n.Value))
		}
		c.reads(i, n)
		return operand{kind: kindOf(n.Value), isField: true, field: i}, nil
	case *ast.StringNode:
		return operand{kind: text, value: []byte(n.Value)}, nil
	case *ast.IntegerNode:
		return operand{kind: number, value: strconv.AppendInt(nil, int64(n.Value), 10)}, nil
	case *ast.FloatNode:
		return operand{kind: number, value: strconv.AppendFloat(nil, n.Value, 'f', -1, 64)}, nil
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			return c.signed(n)
		}
	case *ast.NilNode:
		return operand{}, mistake(n, "comparisons with nil are always false: test a field with has(FIELD)")
	case *ast.BuiltinNode:
		return operand{}, mistake(n, "%s", unknownFunction(n.Name))
	case *ast.BinaryNode:
		return operand{}, mistake(n, "expected a field, a string or a number; a condition in a comparison needs parentheses")
	}
	return operand{}, mistake(n, "expected a field, a string or a number")
}

// reads notes that the expression reads a field, by the name at n.
func (c *compiler) reads(field int, n ast.Node) {
	c.fields = append(c.fields, field)
	if _, known := c.at[field]; !known {
		c.at[field] = n.Location().From
	}
}

// signed compiles a number with a sign.
func (c *compiler) signed(n *ast.UnaryNode) (operand, error) {
	o, err := c.operand(n.Node)
	switch {
	case err != nil:
		return o, err
	case o.isField || o.kind != number:
		return o, mistake(n, "a sign needs a number after it")
	case n.Operator == "-" && o.value[0] == '-':
		o.value = o.value[1:]
	case n.Operator == "-" && string(o.value) != "0":
		o.value = append([]byte{'-'}, o.value...)
	}
	return o, nil
}

// pair compiles both sides of a comparison. left is always a field: if the
// constant is on the left, pair swaps the sides and sets swapped.
func (c *compiler) pair(n *ast.BinaryNode) (left, right operand, swapped bool, err error) {
	if left, err = c.operand(n.Left); err != nil {
		return
	}
	if right, err = c.operand(n.Right); err != nil {
		return
	}
	if !left.isField {
		left, right, swapped = right, left, true
	}
	if !left.isField {
		err = mistake(n, "comparison of two constants: one side must be a field")
	}
	return
}

// comparison compiles ==, !=, <, <=, > and >=.
func (c *compiler) comparison(n *ast.BinaryNode) (predicate, error) {
	left, right, swapped, err := c.pair(n)
	if err != nil {
		return nil, err
	}
	if !right.isField && left.kind == instant && right.kind == text {
		at, err := c.literal(n, right.value)
		return compareTime(left.field, at, outcomesOf(n.Operator, swapped)), err
	}
	if left.kind != right.kind {
		return nil, c.mismatch(n, left, right)
	}
	accepted := outcomesOf(n.Operator, swapped)
	switch {
	case right.isField:
		return compareFields(left, right, accepted), nil
	case left.kind == text:
		return compareText(left.field, string(right.value), accepted), nil
	}
	return compareNumber(left.field, right.value, accepted), nil
}

// mismatch returns the error for operands of different kinds.
func (c *compiler) mismatch(n *ast.BinaryNode, left, right operand) error {
	name, hint := c.nameOf(left), ""
	switch {
	case right.isField:
		return mistake(n, "%s is %v and %s is %v: they cannot be compared", name, left.kind, c.nameOf(right), right.kind)
	case left.kind == number && right.kind == text && isDecimal(right.value):
		hint = ": write " + string(right.value) + " without quotes"
	case left.kind == text:
		hint = ": write " + strconv.Quote(string(right.value))
	case left.kind == instant:
		hint = `: write a time such as "2024-01-31" or "2024-01-31T12:00:00Z"`
	}
	return mistake(n, "%s is %v and cannot be compared with %v%s", name, left.kind, right.kind, hint)
}

// search compiles contains, startsWith and endsWith.
func (c *compiler) search(n *ast.BinaryNode) (predicate, error) {
	left, right, swapped, err := c.pair(n)
	switch {
	case err != nil:
		return nil, err
	case swapped:
		return nil, mistake(n, "the field must be on the left of %s", n.Operator)
	case !left.isText() || !right.isText():
		return nil, mistake(n, "%s requires strings, but %s is %v", n.Operator, c.describe(left, right), number)
	}
	return searchText(left, right, searches[n.Operator]), nil
}

func (o *operand) isText() bool { return o.kind == text || o.kind == instant }

// describe returns the operand that is not a text.
func (c *compiler) describe(left, right operand) string {
	switch {
	case left.isText() && right.isField:
		return c.nameOf(right)
	case left.isText():
		return string(right.value)
	}
	return c.nameOf(left)
}

// match compiles the operator matches, whose pattern must be a constant.
func (c *compiler) match(n *ast.BinaryNode) (predicate, error) {
	left, err := c.operand(n.Left)
	if err != nil {
		return nil, err
	}
	pattern, ok := n.Right.(*ast.StringNode)
	switch {
	case !left.isField || !left.isText():
		return nil, mistake(n, "matches needs a field with text on the left, such as path matches \"^/api/\"")
	case !ok:
		return nil, mistake(n.Right, "matches needs a regular expression in quotes on the right")
	}
	p, err := newPattern(pattern.Value)
	if err != nil {
		return nil, mistake(pattern, "invalid regular expression: %v", err)
	}
	i := left.field
	return func(v *record.View) bool {
		t, ok := v.Field(i)
		return ok && p.match(t)
	}, nil
}

// membership compiles the operator in.
func (c *compiler) membership(n *ast.BinaryNode) (predicate, error) {
	left, err := c.operand(n.Left)
	if err != nil {
		return nil, err
	}
	list, ok := n.Right.(*ast.ArrayNode)
	one, isText := n.Right.(*ast.StringNode)
	switch {
	case !left.isField:
		return nil, mistake(n, "in needs a field on the left, such as status in [200, 304]")
	case isText && left.kind == text:
		net, err := parseNetwork(one.Value)
		if err != nil {
			return nil, mistake(one, "%v", err)
		}
		return inNetworks(left.field, []netip.Prefix{net}, nil), nil
	case !ok:
		return nil, mistake(n.Right, "in needs a list on the right, such as [200, 304]")
	}
	var times []moment
	var nets []netip.Prefix
	values := map[string]bool{}
	for _, e := range list.Nodes {
		o, err := c.operand(e)
		switch {
		case err != nil:
			return nil, err
		case o.isField:
			return nil, mistake(e, "a list holds strings or numbers, not fields")
		case left.kind == instant && o.kind == text:
			at, err := c.literal(e, o.value)
			if err != nil {
				return nil, err
			}
			times = append(times, at)
		case o.kind != left.kind:
			return nil, mistake(e, "%s is %v, and the list has %v", c.nameOf(left), left.kind, o.kind)
		}
		values[string(o.value)] = true
		if net, err := parseNetwork(string(o.value)); left.kind == text && bytes.IndexByte(o.value, '/') > 0 && err == nil {
			nets = append(nets, net)
		}
	}
	if left.kind == instant {
		return func(v *record.View) bool {
			t, ok := v.Field(left.field)
			if !ok {
				return false
			}
			at := parseMoment(t)
			for _, value := range times {
				if at.compare(value) == 0 {
					return true
				}
			}
			return false
		}, nil
	}
	if len(nets) > 0 {
		return inNetworks(left.field, nets, values), nil
	}
	return func(v *record.View) bool {
		t, ok := v.Field(left.field)
		return ok && values[string(t)] // each number has exactly one text
	}, nil
}

// literal returns the point in time that a constant means.
func (c *compiler) literal(n ast.Node, value []byte) (moment, error) {
	at, ok := parseLiteral(string(value), c.zone)
	if !ok {
		return at, mistake(n, `invalid time %q: must be a date such as "2024-01-31", or a date and time such as "2024-01-31T12:00:00+01:00"`, value)
	}
	return at, nil
}

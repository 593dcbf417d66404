package where

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record"
)

// kind is the type of a value.
type kind uint8

const (
	text kind = iota
	number
	instant // a point in time; operators for text apply to its text
	boolean // a condition
)

// String returns the kind with its article, for error messages.
func (k kind) String() string { return [...]string{"a text", "a number", "a time", "a condition"}[k] }

// kindOf returns the kind of an output field.
func kindOf(field string) kind {
	i := indexOf(field)
	if i < 0 {
		return text
	}
	return kinds[record.Fields()[i].Kind]
}

// kinds are the kinds of fields that are not texts.
var kinds = map[record.ColumnKind]kind{record.ColumnInt: number, record.ColumnDecimal: number, record.ColumnTime: instant}

// Names that are conditions.
const (
	changed = "changed"
	bot     = "bot"
)

// conditions lists these names.
var conditions = []string{changed, bot}

// functions are the names of the functions.
var functions = []string{"has", "flag"}

// fieldNames holds the names of the fields, by index.
var fieldNames = record.FieldNames()

// indexOf returns the index of a field, or -1.
func indexOf(name string) int { return slices.Index(fieldNames, record.FieldName(name)) }

// unknownName returns the text of the error for a name that does not exist.
func unknownName(name string) string {
	names := append(slices.Clone(fieldNames), conditions...)
	hint := ""
	if slices.Contains(slices.Concat(functions, calls), name) {
		hint = fmt.Sprintf(" (%s is a function: write %s(…))", name, name)
	} else if slices.Contains(nothings, strings.ToLower(name)) {
		return fmt.Sprintf("unknown name %q: %s", name, presenceHint(""))
	} else if near := suggest.Nearest(names, name); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Sprintf("unknown name %q%s; names: %s", name, hint, strings.Join(names, ", "))
}

// unknownFunction returns the text of the error for a function that does not
// exist.
func unknownFunction(name string) string {
	return fmt.Sprintf(`unknown function %q; functions: has(FIELD), flag("NAME"), param("NAME"), hour(time), day(time), week(time), month(time)`, name)
}

// unknownFlag returns the text of the error for a flag that does not exist.
func unknownFlag(name string) string {
	names := codec.AllFlags().Names()
	if near := suggest.Nearest(names, name); near != "" {
		return fmt.Sprintf("unknown flag %q (did you mean %q?); 'urlfold help flags' lists all", name, near)
	}
	return fmt.Sprintf("unknown flag %q; 'urlfold help flags' lists all", name)
}

// calls are the functions whose result is a field.
var calls = []string{"param", "hour", "day", "week", "month"}

// computedOperand compiles a field that is computed, such as hour(time) or
// campaign.source. is reports whether n is one.
func (c *compiler) computedOperand(n ast.Node) (o operand, is bool, err error) {
	name := ""
	switch n := n.(type) {
	case *ast.MemberNode:
		of, isName := n.Node.(*ast.IdentifierNode)
		member, isMember := n.Property.(*ast.StringNode)
		if !isName || !isMember || of.Value != "campaign" {
			return o, false, nil
		}
		name = of.Value + "." + member.Value
	case *ast.CallNode:
		function, isName := n.Callee.(*ast.IdentifierNode)
		if !isName || !slices.Contains(calls, function.Value) {
			return o, false, nil
		}
		name = function.Value
		if len(n.Arguments) == 1 {
			switch arg := n.Arguments[0].(type) {
			case *ast.IdentifierNode:
				if function.Value != "param" { // the name of a param is a text here
					name += "(" + arg.Value + ")"
				}
			case *ast.StringNode:
				name += "(" + strconv.Quote(arg.Value) + ")"
			}
		}
	case *ast.IdentifierNode:
		if name = n.Value; name != "decoded" {
			return o, false, nil
		}
	default:
		return o, false, nil
	}
	f, ok := record.ParseComputed(name)
	if !ok {
		return o, true, mistake(n, `invalid field %s: write param("NAME"), hour(time), day(time), week(time), month(time), or campaign.source`, name)
	}
	source := f.Source()
	c.fields = append(c.fields, source)
	if _, known := c.at[source]; !known {
		c.at[source] = n.Location().From
	}
	c.computed = append(c.computed, f)
	o = operand{isField: true, field: len(fieldNames) + len(c.computed) - 1}
	if f.IsNumber() {
		o.kind = number
	}
	return o, true, nil
}

// nameOf returns the name of an operand that is a field.
func (c *compiler) nameOf(o operand) string {
	if i := o.field - len(fieldNames); i >= 0 {
		return c.computed[i].Name()
	}
	return fieldNames[o.field]
}

package where

import (
	"fmt"
	"slices"
	"strings"

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
	i := slices.Index(fieldNames, field)
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

// conditions are these names.
var conditions = []string{changed, bot}

// functions are the names of the functions.
var functions = []string{"has", "flag"}

// fieldNames holds the names of the fields, by index.
var fieldNames = record.FieldNames()

// unknownName returns the text of the error for a name that does not exist.
func unknownName(name string) string {
	names := append(slices.Clone(fieldNames), conditions...)
	hint := ""
	if slices.Contains(functions, name) {
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
	return fmt.Sprintf(`unknown function %q; functions: has(FIELD), flag("NAME")`, name)
}

// unknownFlag returns the text of the error for a flag that does not exist.
func unknownFlag(name string) string {
	names := codec.AllFlags().Names()
	if near := suggest.Nearest(names, name); near != "" {
		return fmt.Sprintf("unknown flag %q (did you mean %q?); 'urlfold flags' lists all", name, near)
	}
	return fmt.Sprintf("unknown flag %q; 'urlfold flags' lists all", name)
}

package where

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record"
)

// outcomes is a set of results of a comparison: less, equal, greater.
type outcomes uint8

const (
	less outcomes = 1 << iota
	equal
	greater
)

// has reports whether the result c of a compare function is in the set.
func (o outcomes) has(c int) bool {
	switch {
	case c < 0:
		return o&less != 0
	case c > 0:
		return o&greater != 0
	}
	return o&equal != 0
}

// ofAbsent reports whether the comparison is true of an absent field: only !=
// is, because it is the negation of ==.
func (o outcomes) ofAbsent() bool { return o == less|greater }

// comparisons maps operators to the results for which they are true.
var comparisons = map[string]outcomes{
	"==": equal, "!=": less | greater, "<": less, "<=": less | equal, ">": greater, ">=": equal | greater,
}

// outcomesOf returns the results for which an operator is true. swapped says
// that its operands have been exchanged.
func outcomesOf(operator string, swapped bool) outcomes {
	o := comparisons[operator]
	if swapped {
		o = o&equal | o&less<<2 | o&greater>>2
	}
	return o
}

// compareText compares a field with a text.
func compareText(field int, value string, accepted outcomes) predicate {
	switch accepted {
	case equal:
		return func(v *record.View) bool {
			t, ok := v.Field(field)
			return ok && string(t) == value
		}
	case less | greater:
		return func(v *record.View) bool {
			t, ok := v.Field(field)
			return !ok || string(t) != value
		}
	}
	bound := []byte(value)
	return func(v *record.View) bool {
		t, ok := v.Field(field)
		return ok && accepted.has(bytes.Compare(t, bound))
	}
}

// compareNumber compares a field with a number.
func compareNumber(field int, value []byte, accepted outcomes) predicate {
	if value[0] == '-' { // no field is negative
		return func(v *record.View) bool {
			_, ok := v.Field(field)
			return ok && accepted.has(1) || !ok && accepted.ofAbsent()
		}
	}
	point := pointIn(value)
	return func(v *record.View) bool {
		t, ok := v.Field(field)
		if !ok {
			return accepted.ofAbsent()
		}
		c := pointIn(t) - point
		if c == 0 {
			c = bytes.Compare(t, value)
		}
		return accepted.has(c)
	}
}

// compareTime compares a field with a point in time.
func compareTime(field int, value moment, accepted outcomes) predicate {
	return func(v *record.View) bool {
		t, ok := v.Field(field)
		if !ok {
			return accepted.ofAbsent()
		}
		return accepted.has(parseMoment(t).compare(value))
	}
}

// compareFields compares two fields of the same kind.
func compareFields(left, right operand, accepted outcomes) predicate {
	compare := bytes.Compare
	switch left.kind {
	case number:
		compare = compareDecimal
	case instant:
		compare = func(a, b []byte) int { return parseMoment(a).compare(parseMoment(b)) }
	}
	return func(v *record.View) bool {
		a, b, ok := v.Pair(left.field, right.field)
		if !ok {
			return accepted.ofAbsent()
		}
		return accepted.has(compare(a, b))
	}
}

// searches maps operators to the functions that they call.
var searches = map[string]func(t, part []byte) bool{
	"contains": bytes.Contains, "startsWith": bytes.HasPrefix, "endsWith": bytes.HasSuffix,
}

// searchText looks for a constant or a field in another field.
func searchText(left, right operand, found func(t, part []byte) bool) predicate {
	if right.isField {
		return func(v *record.View) bool {
			a, b, ok := v.Pair(left.field, right.field)
			return ok && found(a, b)
		}
	}
	return func(v *record.View) bool {
		t, ok := v.Field(left.field)
		return ok && found(t, right.value)
	}
}

// compareDecimal compares two decimal numbers in canonical form: without
// needless zeros, and with a sign only before negative ones. It compares their
// texts, so that numbers of any length are exact.
func compareDecimal(a, b []byte) int {
	minus := len(a) > 0 && a[0] == '-'
	switch other := len(b) > 0 && b[0] == '-'; {
	case minus && other:
		return compareDecimal(b[1:], a[1:])
	case minus:
		return -1
	case other:
		return 1
	}
	i, j := pointIn(a), pointIn(b)
	switch {
	case i < j:
		return -1
	case i > j:
		return 1
	}
	return bytes.Compare(a, b) // a point sorts before a digit
}

// pointIn returns the number of digits before the decimal point.
func pointIn(n []byte) int {
	for i, c := range n {
		if c == '.' {
			return i
		}
	}
	return len(n)
}

// isDecimal reports whether t is a decimal number without a sign.
func isDecimal(t []byte) bool {
	point := pointIn(t)
	for i, c := range t {
		if i != point && c-'0' > 9 {
			return false
		}
	}
	return point > 0 && point != len(t)-1
}

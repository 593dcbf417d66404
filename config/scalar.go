package config

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// scalarValue fills v, which isScalar or can be read from a text, from a scalar.
func (d *decoder) scalarValue(v reflect.Value, n ast.Node, at string, r rules) {
	if v.Kind() == reflect.Bool && !isText(v.Type()) {
		v.SetBool(d.bool(n))
		d.keepRaw(n, at)
		return
	}
	text, expanded, ok := d.scalar(n)
	if !ok {
		return
	}
	if expanded {
		d.keepRaw(n, at)
	}
	if expanded && (isSecret(v) || hasCredentials(text)) {
		d.exp.hide()
	}
	if _, isString := n.(*ast.StringNode); isString && !expanded && isNumber(v.Type()) {
		d.failAt(n, numberReason(v.Type()))
		return
	}
	if len(r.enum) > 0 && !slices.Contains(r.enum, text) {
		d.failAt(n, noSuch("value", r.enum, text))
		return
	}
	if reason := setText(v, text); reason != "" {
		d.failAt(n, reason)
		return
	}
	if v.Kind() == reflect.Struct {
		d.words[at] = text
	}
	d.bounds(v, n, r)
}

// hasCredentials reports whether text may be a URL with a user and a password, or
// several.
func hasCredentials(text string) bool {
	return strings.Contains(text, "://") && strings.Contains(text, "@")
}

// keepRaw remembers a scalar with an expansion as it was written, since its value
// is not for printing.
func (d *decoder) keepRaw(n ast.Node, at string) {
	if s, ok := n.(*ast.StringNode); ok && strings.Contains(s.Value, "${") {
		d.raw[at] = s.Value
	}
}

// isNumber reports whether the type is a number that is written as one.
func isNumber(t reflect.Type) bool {
	switch {
	case t == durationType, isText(t):
		return false
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return true
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

func numberReason(t reflect.Type) string {
	if k := t.Kind(); k == reflect.Float32 || k == reflect.Float64 {
		return "must be a number"
	}
	return "must be a whole number"
}

// setText sets v to what a text says, or returns the reason why it cannot, which
// may repeat the text: the text of a secret is never refused.
func setText(v reflect.Value, text string) (reason string) {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			return clean(err.Error())
		}
		return ""
	}
	if v.Type() == durationType {
		return setDuration(v, text)
	}
	var err error
	switch k := v.Kind(); {
	case k == reflect.String:
		v.SetString(text)
	case k == reflect.Float32 || k == reflect.Float64:
		var x float64
		if x, err = strconv.ParseFloat(text, v.Type().Bits()); x-x != 0 {
			return numberReason(v.Type()) // NaN and infinities are none
		}
		v.SetFloat(x)
	case k >= reflect.Int && k <= reflect.Int64:
		var x int64
		x, err = strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(x)
	default:
		var x uint64
		x, err = strconv.ParseUint(text, 10, v.Type().Bits())
		v.SetUint(x)
	}
	if err != nil {
		return numberReason(v.Type()) + tooLarge(v.Type(), err)
	}
	return ""
}

// tooLarge says what is wrong with a number that is one.
func tooLarge(t reflect.Type, err error) string {
	switch {
	case strings.HasSuffix(err.Error(), strconv.ErrRange.Error()):
		return fmt.Sprintf(" of %d bits", t.Bits())
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return ", and not negative"
	}
	return ""
}

func setDuration(v reflect.Value, text string) (reason string) {
	x, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return "a duration is a number and a unit, such as 50ms, 10s or 1m30s"
	case x < 0:
		return "a duration is not negative"
	}
	v.SetInt(int64(x))
	return ""
}

// bounds checks v against the least and the greatest that the tags allow.
func (d *decoder) bounds(v reflect.Value, n ast.Node, r rules) {
	least, low := compareBound(v, r.min)
	most, high := compareBound(v, r.max)
	if least >= 0 && most <= 0 {
		return
	}
	what := "must be"
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		what = "must have"
		low, high = low+ofWhat(v.Kind(), r.max == "", low), high+ofWhat(v.Kind(), true, high)
	}
	switch {
	case r.min == r.max:
		d.failAt(n, what+" "+high)
	case r.min != "" && r.max != "":
		d.failAt(n, what+" from "+low+" to "+high)
	case r.min != "":
		d.failAt(n, what+" at least "+low)
	default:
		d.failAt(n, what+" at most "+high)
	}
}

// ofWhat names what the length of a list or string counts.
func ofWhat(k reflect.Kind, last bool, n string) string {
	s := "s"
	if n == "1" {
		s = ""
	}
	switch {
	case !last:
		return ""
	case k == reflect.String:
		return " byte" + s
	}
	return " element" + s
}

// compareBound compares v, or its length, with a bound as tags have it, and is 0
// if there is none.
func compareBound(v reflect.Value, bound string) (order int, text string) {
	if bound == "" {
		return 0, ""
	}
	if k := v.Kind(); k == reflect.Slice || k == reflect.Map || k == reflect.String {
		n, _ := strconv.Atoi(bound)
		return cmp.Compare(v.Len(), n), bound
	}
	b := reflect.New(v.Type()).Elem()
	if setText(b, bound) != "" {
		return 0, bound
	}
	switch {
	case v.CanInt():
		return cmp.Compare(v.Int(), b.Int()), bound
	case v.CanUint():
		return cmp.Compare(v.Uint(), b.Uint()), bound
	case v.CanFloat():
		return cmp.Compare(v.Float(), b.Float()), bound
	}
	return 0, bound
}

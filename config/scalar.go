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

	"github.com/urlfold/urlfold/codec"
)

// scalarValue fills v from a scalar. The type of v is a scalar, or a struct
// that implements encoding.TextUnmarshaler.
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
	} else {
		d.doubt(v.Type(), n, text)
	}
	if _, isString := n.(*ast.StringNode); isString && !expanded && isNumber(v.Type()) {
		d.failAt(n, numberReason(v.Type()))
		return
	}
	text = canonical(r.enum, text)
	if reason := setText(v, text); reason != "" { // first, because its reason is more specific
		d.failAt(n, reason)
		return
	}
	if len(r.enum) > 0 && !slices.Contains(r.enum, text) {
		d.failAt(n, noSuch("invalid value", r.enum, text))
		return
	}
	if v.Kind() == reflect.Struct {
		d.words[at] = text
	}
	if r.path != "" {
		d.locate(v, at, r.path)
	}
	d.bounds(v, n, r)
}

// canonical returns text. If text is the short name of a key level, it returns the full
// name.
func canonical(enum []string, text string) string {
	if lv, err := codec.ParseLevel(text); err == nil && slices.Contains(enum, lv.String()) {
		return lv.String()
	}
	return text
}

// accepted returns enum, and the short names of the key levels in it.
func accepted(enum []string) []string {
	all := slices.Clone(enum)
	for _, short := range []string{"k0", "k1", "k2", "k3", "surface"} {
		if canonical(enum, short) != short {
			all = append(all, short)
		}
	}
	return all
}

// keepRaw stores a scalar with an expansion as it was written, because the
// expanded value must not be printed.
func (d *decoder) keepRaw(n ast.Node, at string) {
	if s, ok := n.(*ast.StringNode); ok && strings.Contains(s.Value, "${") {
		d.raw[at] = s.Value
	}
}

// isNumber reports whether values of the type are written as YAML numbers.
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
	return "must be an integer"
}

// setText parses text into v, or returns why it cannot. The reason may repeat
// the text; this cannot disclose a secret, because parsing a secret never
// fails.
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
			return numberReason(v.Type()) // NaN or infinite
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

// tooLarge returns an addition to numberReason: the range of the type.
func tooLarge(t reflect.Type, err error) string {
	switch {
	case strings.HasSuffix(err.Error(), strconv.ErrRange.Error()):
		return fmt.Sprintf(" that fits in %d bits", t.Bits())
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return " and not negative"
	}
	return ""
}

const durationReason = "must be a duration: a number and a unit, such as 50ms, 1m30s or 7d"

func setDuration(v reflect.Value, text string) (reason string) {
	var days time.Duration
	if d, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(d, 10, 16) // 65,535 days fit into a Duration
		if err != nil {
			return durationReason
		}
		days, text = time.Duration(n)*24*time.Hour, cmp.Or(rest, "0")
	}
	x, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return durationReason
	case x < 0:
		return "must not be negative"
	}
	x += days
	v.SetInt(int64(x))
	return ""
}

// bounds checks v, or its length, against the bounds of the tags.
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
		d.failAt(n, what+" between "+low+" and "+high)
	case r.min != "":
		d.failAt(n, what+" at least "+low)
	default:
		d.failAt(n, what+" at most "+high)
	}
}

// ofWhat returns the unit of the length of a list or string, after a space.
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

// compareBound compares v, or its length, with the bound of a tag. It returns 0
// if the bound is empty.
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

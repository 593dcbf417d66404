package config

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// String returns the configuration as YAML, with all keys that were written and
// all non-empty defaults. Secrets and credentials in URLs appear as "***"; a
// scalar with an expansion appears as it was written: "${PASSWORD}".
func (f *File) String() string {
	p := printer{f.d}
	return string(p.structure(nil, reflect.ValueOf(f).Elem(), "", ""))
}

// A printer formats YAML. Its methods append to dst and return the extended
// slice.
type printer struct{ d *decoder }

// step is the indentation of one level.
const step = "  "

// structure appends the keys of a struct, each on its own line.
func (p printer) structure(dst []byte, v reflect.Value, at, indent string) []byte {
	fields, _ := fieldsOf(v.Type()) // cannot fail: v has been filled by way of fieldsOf
	for _, f := range fields {
		path := in(at, f.name)
		if _, written := p.d.places[path]; written || !isEmpty(v.FieldByIndex(f.index)) {
			dst = append(dst, indent+f.name+":"...)
			dst = p.value(dst, v.FieldByIndex(f.index), path, indent)
		}
	}
	return dst
}

// isEmpty reports whether v holds nothing that is worth printing.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		if isScalar(v.Type()) {
			return v.IsZero()
		}
		fields, _ := fieldsOf(v.Type())
		for _, f := range fields {
			if !isEmpty(v.FieldByIndex(f.index)) {
				return false
			}
		}
		return wordOf(v) == ""
	}
	return v.IsZero()
}

// wordOf returns the scalar form of a struct, or "".
func wordOf(v reflect.Value) string {
	if v.Kind() == reflect.Struct && isText(v.Type()) {
		if m, ok := v.Interface().(encoding.TextMarshaler); ok {
			text, err := m.MarshalText()
			if err == nil {
				return string(text)
			}
		}
	}
	return ""
}

// value appends the value of a key, from after the colon to the line end.
func (p printer) value(dst []byte, v reflect.Value, at, indent string) []byte {
	t := v.Type()
	switch {
	case t == componentType:
		return p.component(append(dst, '\n'), v.Addr().Interface().(*Component), indent+step)
	case t.Kind() == reflect.Pointer:
		return p.value(dst, v.Elem(), at, indent)
	case isScalar(t):
		return p.scalar(dst, v, at)
	case p.word(v, at) != "":
		return p.text(dst, p.word(v, at), at)
	case t.Kind() == reflect.Struct && isEmpty(v):
		return append(dst, " {}\n"...)
	case t.Kind() == reflect.Struct:
		return p.structure(append(dst, '\n'), v, at, indent+step)
	case t.Kind() == reflect.Map:
		return p.table(dst, v, at, indent)
	}
	return p.list(dst, v, at, indent)
}

// word returns the scalar form of a struct, or "" if it lacks one or was
// written as a mapping.
func (p printer) word(v reflect.Value, at string) string {
	if v.Kind() != reflect.Struct || !isText(v.Type()) {
		return ""
	}
	fields, _ := fieldsOf(v.Type())
	for _, f := range fields {
		if _, ok := p.d.places[in(at, f.name)]; ok {
			return ""
		}
	}
	return cmp.Or(wordOf(v), p.d.words[at])
}

func (p printer) component(dst []byte, c *Component, indent string) []byte {
	dst = append(dst, indent+c.Type+":\n"...)
	v := reflect.ValueOf(c.Config).Elem()
	if isSource(c.path) {
		dst = p.structure(dst, reflect.ValueOf(&c.Format).Elem(), c.path, indent+step)
	}
	dst = p.structure(dst, v, c.path, indent+step)
	return append(dst, indent+step+"name: "+c.Name+"\n"...)
}

func (p printer) list(dst []byte, v reflect.Value, at, indent string) []byte {
	if v.Len() == 0 {
		return append(dst, " []\n"...)
	}
	dst = append(dst, '\n')
	for i := range v.Len() {
		e, path := v.Index(i), element(at, i)
		item := p.value(nil, e, path, indent+step)
		// The first key of a mapping follows the dash on the same line.
		text := strings.TrimPrefix(string(item), "\n")
		text = strings.TrimLeft(text, " ")
		dst = append(dst, indent+step+"- "+text...)
	}
	return dst
}

func (p printer) table(dst []byte, v reflect.Value, at, indent string) []byte {
	if v.Len() == 0 {
		return append(dst, " {}\n"...)
	}
	dst = append(dst, '\n')
	byName := func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }
	for _, k := range slices.SortedFunc(slices.Values(v.MapKeys()), byName) {
		dst = append(dst, indent+step+quote(k.String())+":"...)
		dst = p.value(dst, addressable(v.MapIndex(k)), in(at, k.String()), indent+step)
	}
	return dst
}

// addressable returns an addressable copy of v, whose pointer methods can be
// called.
func addressable(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}

// scalar appends a scalar and the line end.
func (p printer) scalar(dst []byte, v reflect.Value, at string) []byte {
	text, isString := scalarText(v)
	if _, isRaw := p.d.raw[at]; isRaw && !isSecret(v) || isString {
		return p.text(dst, text, at)
	}
	return append(dst, " "+text+"\n"...)
}

// text appends a string and the line end.
func (p printer) text(dst []byte, text, at string) []byte {
	if raw, ok := p.d.raw[at]; ok && text != "***" {
		text = quoteAlways(maskUserinfo(raw))
	} else {
		text = quote(strings.ReplaceAll(maskUserinfo(text), "${", "$${"))
	}
	return append(dst, " "+text+"\n"...)
}

func isSecret(v reflect.Value) bool { return v.Type() == reflect.TypeFor[field.Secret]() }

// scalarText returns the text of a scalar, and whether it is a YAML string.
func scalarText(v reflect.Value) (text string, isString bool) {
	switch x := v.Interface().(type) {
	case time.Duration:
		return formatDuration(x), false
	case field.Size:
		return x.String(), false
	case encoding.TextMarshaler:
		if text, err := x.MarshalText(); err == nil {
			return string(text), true
		}
	}
	if v.Kind() == reflect.String {
		return v.String(), true
	}
	return fmt.Sprint(v.Interface()), !isNumber(v.Type()) && v.Kind() != reflect.Bool
}

// formatDuration formats a duration without zero units: "1m", not "1m0s".
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// quote returns s as a YAML string, without quotes if no parser can read it as
// another type.
func quote(s string) string {
	if isName(s) && 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z' && !slices.Contains(notStrings, strings.ToLower(s)) {
		return s
	}
	return quoteAlways(s)
}

// notStrings lists words that are booleans or null in YAML 1.1 or 1.2.
var notStrings = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// quoteAlways returns s in double quotes. YAML understands JSON escapes.
func quoteAlways(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// maskUserinfo replaces the userinfo of each URL in s by ***.
func maskUserinfo(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "://")
		if !found {
			return b.String() + s
		}
		b.WriteString(before + "://")
		end := strings.IndexAny(rest, "/?# ,\"'\n")
		if end < 0 {
			end = len(rest)
		}
		if i := strings.LastIndexByte(rest[:end], '@'); i >= 0 {
			b.WriteString("***")
			rest = rest[i:]
		}
		s = rest
	}
}

// sortedKeys returns the keys of m in sorted order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/urlfold/urlfold/config/field"
)

// Reference returns a page of Markdown with a table of keys for each section and
// each component: what a schema says, for people. It fails as Schema does.
func Reference(types Types) ([]byte, error) {
	if _, err := Schema(types); err != nil {
		return nil, err
	}
	r := reference{}
	r.b.WriteString(referenceHead)
	r.section("Sections", reflect.ValueOf(Default()).Elem())
	for _, g := range []struct {
		title string
		types map[string]func() any
	}{{"Source", types.Sources}, {"Sink", types.Sinks}, {"Dead letter", types.DeadLetters}} {
		for _, name := range sortedKeys(g.types) {
			r.section(g.title+" "+name, reflect.ValueOf(g.types[name]()).Elem())
		}
	}
	return []byte(r.b.String()), nil
}

// ProfileReference returns a table of Markdown with the keys of a profile.
func ProfileReference() []byte {
	r := reference{}
	r.table(reflect.ValueOf(&profileFile{}).Elem())
	return []byte(r.b.String())
}

const referenceHead = `# Configuration

<!-- Made from the code: do not edit. -->

"urlfold run -c FILE" reads a configuration in YAML; "urlfold validate -c FILE" tells all mistakes in it. One process runs one linear pipeline: sources, codec, sinks.

A component is a mapping with its type as the only key: "- kafka: {brokers: [...]}". Below it, besides its own keys, "name" names it in metrics, in logs and in the stored progress; by default it is its type and place, such as file-1.

- A size is a number and a unit, "64KiB", "1.5MiB", "10GB"; a number without a unit counts bytes. A duration is "50ms", "10s", "1m30s".
- In values, not in keys, "${NAME}" is a variable of the environment, "${NAME:-default}" has a default if the variable is unset or empty, and "${file:PATH}" is the content of a file without its last line end. "$${" stands for "${". Between braces and brackets of YAML they need quotes. A value stays one text, whatever is in it.
- Relative names in "${file:PATH}" and of profiles start at the folder of the configuration; those of inputs, outputs, certificates and data_dir at the folder that the process runs in.
- A key that does not exist, or that is written twice, is an error, as are anchors, tags and a second document. A file may have 64 KiB.
`

type reference struct{ b strings.Builder }

// section writes a heading, the comment of a struct, and its table.
func (r *reference) section(title string, v reflect.Value) {
	_, _ = fmt.Fprintf(&r.b, "\n## %s\n\n", title)
	if doc := commentOf(v.Type()); doc != "" && title != "Sections" {
		r.b.WriteString(markdown(doc) + "\n\n")
	}
	r.table(v)
}

// table writes the table of the keys of a struct.
func (r *reference) table(v reflect.Value) {
	r.b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	r.rows(v, "")
}

// rows writes a row for each key of a struct and of the structs in it.
func (r *reference) rows(v reflect.Value, at string) {
	fields, _ := fieldsOf(v.Type()) // Schema has looked
	for _, f := range fields {
		path, w := in(at, f.name), v.FieldByIndex(f.index)
		def := defaultText(w)
		if f.required {
			def = "required"
		}
		_, _ = fmt.Fprintf(&r.b, "| `%s` | %s | %s | %s |\n", path, typeText(f.typ, f.rules), def, markdown(comments()[f.source]))
		r.inner(w, path)
	}
}

// inner writes the rows of the keys inside of a value.
func (r *reference) inner(v reflect.Value, at string) {
	t := v.Type()
	switch {
	case t == componentType || isScalar(t):
	case t.Kind() == reflect.Struct:
		r.rows(v, at)
	case t.Kind() == reflect.Pointer:
		r.inner(reflect.New(t.Elem()).Elem(), at)
	case t.Kind() == reflect.Slice:
		r.inner(reflect.New(t.Elem()).Elem(), at+"[]")
	case t.Kind() == reflect.Map:
		r.inner(reflect.New(t.Elem()).Elem(), at+".*")
	}
}

// typeText names what can be written.
func typeText(t reflect.Type, r rules) string {
	text := typeName(t, r)
	switch {
	case r.min == "1" && t.Kind() == reflect.String:
		return text + ", not empty"
	case r.min != "" && r.min == r.max:
		return text + ", " + r.min
	case r.min != "" && r.max != "":
		return text + ", " + r.min + " to " + r.max
	case r.min != "":
		return text + ", at least " + r.min
	case r.max != "":
		return text + ", at most " + r.max
	}
	return text
}

func typeName(t reflect.Type, r rules) string {
	switch {
	case t == componentType:
		return "component"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem(), r)
	case t.Kind() == reflect.Slice && !isScalar(t):
		return "list of " + typeName(t.Elem(), r)
	case t.Kind() == reflect.Map && !isScalar(t):
		return "mapping to " + typeName(t.Elem(), r)
	case t.Kind() == reflect.Struct && !isText(t):
		return "mapping"
	}
	words := scalarName(t)
	if len(r.enum) > 0 {
		words = "`" + strings.Join(r.enum, "`, `") + "`"
	}
	if t.Kind() == reflect.Struct && !isScalar(t) {
		words += " or mapping"
	}
	return words
}

func scalarName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[field.Size]():
		return "size"
	case t == reflect.TypeFor[field.Secret]():
		return "secret text"
	case t == durationType:
		return "duration"
	case t.Kind() == reflect.Bool && !isText(t):
		return "`true`, `false`"
	case isNumber(t):
		return strings.TrimPrefix(numberReason(t), "must be a ")
	}
	return "text"
}

// defaultText returns a default as it would be written, or nothing.
func defaultText(v reflect.Value) string {
	var d any
	switch {
	case v.Kind() == reflect.Slice && !isScalar(v.Type()):
		if list, ok := listDefault(v).([]any); ok {
			d = strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
		}
	case isScalar(v.Type()):
		d = scalarDefault(v)
	default:
		d = defaultOf(wordOf(v))
	}
	if d == nil {
		return ""
	}
	return fmt.Sprintf("`%v`", d)
}

// markdown escapes what a cell of a table cannot hold, and what looks like HTML.
func markdown(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`).Replace(s)
}

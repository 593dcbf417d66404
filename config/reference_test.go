package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/comments"
)

// This file writes the reference of configurations, docs/reference/config.md, and the
// table of keys in docs/reference/profiles.md. See TestReferencePages.

// Reference returns a Markdown page with a table of keys for each section and
// each component: the schema in a form for people. It fails if Schema fails.
func Reference(types Types) ([]byte, error) {
	if _, err := Schema(types); err != nil {
		return nil, err
	}
	r := reference{uses: map[reflect.Type]int{}, titles: map[reflect.Type]string{}}
	for _, kind := range []struct {
		title string
		types map[string]func() any
	}{{"Source ", types.Sources}, {"Sink ", types.Sinks}} {
		for name, config := range kind.types {
			t := reflect.TypeOf(config()).Elem()
			r.titles[t] = kind.title + name
			r.count(t)
		}
	}
	r.b.WriteString(referenceHead)
	r.section("Sections", reflect.ValueOf(Default()).Elem())
	r.section("Format of a source", reflect.ValueOf(new(DefaultFormat())).Elem())
	for _, name := range sortedKeys(types.Sources) {
		r.component("Source "+name, "", reflect.ValueOf(types.Sources[name]()).Elem())
	}
	for _, name := range sortedKeys(types.Sinks) {
		r.component("Sink "+name, "", reflect.ValueOf(types.Sinks[name]()).Elem())
	}
	for i := 0; i < len(r.shared); i++ { // a shared struct may hold another one
		s := r.shared[i]
		r.component(r.titles[s.Type()], s.key, s.Value)
	}
	return []byte(r.b.String()), nil
}

// ProfileReference returns a Markdown table of the keys of a profile file.
func ProfileReference() []byte {
	r := reference{}
	r.table(reflect.ValueOf(&profileFile{}).Elem(), "", false)
	return []byte(r.b.String())
}

const referenceHead = `# Configuration

<!-- Made from the code: do not edit. -->

"urlfold run -c FILE" runs a configuration, which is a YAML file. "urlfold check -c FILE" checks it and reports all errors. One process runs one linear pipeline: sources, codec, sinks.

A component is a mapping whose only key is its type: "- kafka: {brokers: [...]}", or the type alone, if it needs no keys: "- stdin". In addition to the keys of its type, it accepts "name", which identifies it in metrics, logs and checkpoints. The default name is the type and a number, such as file-1. A source of any type also has the keys under "Format of a source", beside those of its type. A dead letter is a sink of any type.

- A size is a number and a unit: "64KiB", "1.5Mi", "10GB". A number without a unit is in bytes. A duration is a number and a unit: "50ms", "10s", "1m30s", "7d".
- Values (but not keys) may contain references: "${NAME}" is an environment variable, "${NAME:-default}" falls back to a default if the variable is unset or empty, "${NAME:?text}" is then an error with the text, and "${file:PATH}" is the content of a regular file of at most 64 KiB without its last line end. Errors name the reference and do not show the value. "$${" is a literal "${". Inside YAML braces and brackets, values with references need quotes. An expanded value is always a single string and never changes the structure of the document.
- Every relative path is relative to the directory of the configuration: data_dir, inputs, outputs, certificates, profiles, lists, sockets and the PATH of "${file:PATH}". If the configuration comes from stdin or a pipe, it is relative to the working directory. The log, the state and dead letters contain absolute paths. A profile's own lists are relative to the directory of the profile.
- Anchors, aliases and "<<" work as in YAML 1.1. Keys at the top level that begin with "x-" are ignored, so they can hold anchors. Aliases may expand to at most 20,000 values.
- Unknown keys, duplicate keys, tags and second documents are errors. The maximum size of a configuration is 64 KiB.
`

type reference struct {
	b      strings.Builder
	uses   map[reflect.Type]int    // in how many places of components a struct is
	titles map[reflect.Type]string // the sections of structs
	shared []sharedKeys            // in the order of their sections
}

// sharedKeys is a struct that has a section because it is in several places. Without a
// key, it is embedded.
type sharedKeys struct {
	reflect.Value
	key string
}

// count counts the uses of a struct of a component, and of the structs in it.
func (r *reference) count(t reflect.Type) {
	if r.uses[t]++; r.uses[t] > 1 {
		return
	}
	for f := range t.Fields() {
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if _, tagged := f.Tag.Lookup("yaml"); (tagged || f.Anonymous) && inner.Kind() == reflect.Struct && !isScalar(inner) {
			r.count(inner)
		}
	}
}

// component writes the section of a component, or of a shared struct.
func (r *reference) component(title, at string, v reflect.Value) {
	r.heading(title, v)
	if also := r.embedded(v); also != "" {
		r.b.WriteString(strings.TrimSpace(also) + "\n\n")
	}
	r.table(v, at, true)
}

// embedded says where the keys of the structs are that a struct embeds.
func (r *reference) embedded(v reflect.Value) (also string) {
	for f, inner := range v.Fields() {
		if f.Anonymous {
			also += " It also has the keys under \"" + r.elsewhere(inner, "") + "\"."
		}
	}
	return also
}

// elsewhere returns the title of the section of a shared struct.
func (r *reference) elsewhere(v reflect.Value, key string) string {
	if r.titles[v.Type()] == "" {
		r.titles[v.Type()] = "Common keys " + v.Type().Name()
		r.shared = append(r.shared, sharedKeys{v, key})
	}
	return r.titles[v.Type()]
}

// section writes a heading, the doc comment of a struct, and its table.
func (r *reference) section(title string, v reflect.Value) {
	r.heading(title, v)
	r.table(v, "", false)
}

// heading writes a heading and the doc comment of a struct.
func (r *reference) heading(title string, v reflect.Value) {
	_, _ = fmt.Fprintf(&r.b, "\n## %s\n\n", title)
	if doc := comments.Of(v.Type().PkgPath() + "." + v.Type().Name()); doc != "" && title != "Sections" {
		r.b.WriteString(markdown(doc) + "\n\n")
	}
}

// table writes the table of the keys of a struct: if own is set, without the
// keys of embedded structs.
func (r *reference) table(v reflect.Value, at string, own bool) {
	r.b.WriteString("| key | type | default | meaning |\n|---|---|---|---|\n")
	r.rows(v, at, own)
}

// rows writes a row for each key of a struct and of its nested structs. If own is set, it
// refers to the sections of embedded structs and of those that are in several places.
func (r *reference) rows(v reflect.Value, at string, own bool) {
	fields, _ := fieldsOf(v.Type()) // Schema has checked the error
	for _, f := range fields {
		if own && len(f.index) > 1 {
			continue
		}
		path, w := in(at, f.name), v.FieldByIndex(f.index)
		def := defaultText(w)
		if f.required {
			def = "required"
		}
		if w.Kind() == reflect.Pointer {
			w = newOf(f.typ.Elem()).Elem()
		}
		also, shared := "", own && r.uses[w.Type()] > 1
		if shared {
			also = " See \"" + r.elsewhere(w, f.name) + "\"."
		} else if own && w.Kind() == reflect.Struct && !isScalar(w.Type()) {
			also = r.embedded(w)
		}
		_, _ = fmt.Fprintf(&r.b, "| `%s` | %s | %s | %s |\n", path, typeText(f.typ, f.rules), def, markdown(comments.Of(f.source)+also))
		if !shared {
			r.inner(w, path, own)
		}
	}
}

// inner writes the rows of the keys nested in a value.
func (r *reference) inner(v reflect.Value, at string, own bool) {
	t := v.Type()
	switch {
	case t == componentType || isScalar(t):
	case t.Kind() == reflect.Struct:
		r.rows(v, at, own)
	case t.Kind() == reflect.Pointer:
		r.inner(newOf(t.Elem()).Elem(), at, own)
	case t.Kind() == reflect.Slice:
		r.inner(reflect.New(t.Elem()).Elem(), at+"[]", own)
	case t.Kind() == reflect.Map:
		r.inner(reflect.New(t.Elem()).Elem(), at+".*", own)
	}
}

// typeText describes the accepted values of a type with constraints.
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
		return "secret string"
	case t == durationType:
		return "duration"
	case t.Kind() == reflect.Bool && !isText(t):
		return "`true`, `false`"
	case isNumber(t):
		return strings.TrimPrefix(strings.TrimPrefix(numberReason(t), "must be a "), "must be an ")
	}
	return "string"
}

// defaultText returns a default in YAML syntax, or "".
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

// markdown escapes s for a cell of a Markdown table.
func markdown(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "&", "&amp;", "*", `\*`, "_", `\_`).Replace(s)
}

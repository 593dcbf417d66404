package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/comments"
)

// Schema returns the JSON Schema (draft 2020-12) of a configuration with the
// components in types. It fails only if the struct of a component does not
// follow the rules of package config/field.
//
// The schema cannot express everything that Parse checks, such as the bounds of
// sizes and durations and the constraints between keys.
// Not covered by the stability page.
func Schema(types Types) ([]byte, error) {
	b := schemaBuilder{types: types}
	s, err := b.structure(reflect.ValueOf(Default()).Elem(), "")
	if err != nil {
		return nil, err
	}
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "urlfold"
	s.Defs = properties{{"expansion", &schema{
		Description: "A value from the environment or from a file.",
		Type:        "string", Pattern: `\$\{`,
	}}}
	return json.MarshalIndent(s, "", "  ")
}

// A schema is a JSON Schema with the keywords that this package uses.
type schema struct {
	Schema        string     `json:"$schema,omitempty"`
	Title         string     `json:"title,omitempty"`
	Description   string     `json:"description,omitempty"`
	Ref           string     `json:"$ref,omitempty"`
	Type          any        `json:"type,omitempty"` // string or []string
	Enum          []string   `json:"enum,omitempty"`
	Pattern       string     `json:"pattern,omitempty"`
	Minimum       rawNumber  `json:"minimum,omitempty"`
	Maximum       rawNumber  `json:"maximum,omitempty"`
	MinLength     rawNumber  `json:"minLength,omitempty"`
	MaxLength     rawNumber  `json:"maxLength,omitempty"`
	MinItems      rawNumber  `json:"minItems,omitempty"`
	MaxItems      rawNumber  `json:"maxItems,omitempty"`
	MinProperties rawNumber  `json:"minProperties,omitempty"`
	MaxProperties rawNumber  `json:"maxProperties,omitempty"`
	Items         *schema    `json:"items,omitempty"`
	Properties    properties `json:"properties,omitempty"`
	Additional    any        `json:"additionalProperties,omitempty"` // false or *schema
	Required      []string   `json:"required,omitempty"`
	AnyOf         []*schema  `json:"anyOf,omitempty"`
	Default       any        `json:"default,omitempty"`
	Defs          properties `json:"$defs,omitempty"`
}

// A rawNumber is a number as written in a tag.
type rawNumber = json.RawMessage

// properties is an object in the order of the fields of the struct.
type properties []property

type property struct {
	name   string
	schema *schema
}

// MarshalJSON returns p as a JSON object.
func (p properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		data, err := json.Marshal(m.schema)
		if err != nil {
			return nil, err
		}
		b.WriteString(strconv.Quote(m.name) + ":") // Go and JSON quote names alike: see isName
		b.Write(data)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type schemaBuilder struct {
	types Types
	open  []reflect.Type // enclosing structs
}

// structure returns the schema of a mapping, with the values of v as defaults.
func (b *schemaBuilder) structure(v reflect.Value, at string) (*schema, error) {
	t := v.Type()
	if slices.Contains(b.open, t) {
		return nil, fmt.Errorf("config: recursive struct %v", t)
	}
	b.open = append(b.open, t)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	fields, err := fieldsOf(t)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	s := &schema{Type: "object", Description: comments.Of(t.PkgPath() + "." + t.Name()), Additional: false}
	for _, f := range fields {
		inner, err := b.value(v.FieldByIndex(f.index), in(at, f.name), f.rules)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		inner.Description = comments.Of(f.source)
		s.Properties = append(s.Properties, property{f.name, inner})
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s, nil
}

// value returns the schema of the value of a key.
func (b *schemaBuilder) value(v reflect.Value, at string, r rules) (*schema, error) {
	t := v.Type()
	if err := checkRules(t, r); err != nil {
		return nil, err
	}
	switch {
	case t == componentType:
		return b.component(at)
	case isScalar(t):
		return scalarSchema(v, r), nil
	case t.Kind() == reflect.Struct && isText(t):
		s, err := b.structure(v, at)
		if err != nil {
			return nil, err
		}
		word := scalarSchema(reflect.New(reflect.TypeFor[string]()).Elem(), r)
		return &schema{AnyOf: []*schema{word, s}, Default: defaultOf(wordOf(v))}, nil
	case t.Kind() == reflect.Struct:
		return b.structure(v, at)
	case t.Kind() == reflect.Pointer:
		return b.value(newOf(t.Elem()).Elem(), at, r)
	case t.Kind() == reflect.Slice:
		items, err := b.value(reflect.New(t.Elem()).Elem(), element(at, 0), r.element())
		return &schema{Type: "array", Items: items, MinItems: rawNumber(r.min), MaxItems: rawNumber(r.max), Default: listDefault(v)}, err
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		items, err := b.value(reflect.New(t.Elem()).Elem(), at, r.element())
		return &schema{Type: "object", Additional: items, MinProperties: rawNumber(r.min), MaxProperties: rawNumber(r.max)}, err
	}
	return nil, fmt.Errorf("config: unsupported type %v", t)
}

// component returns the schema of a component: a mapping with exactly one type.
func (b *schemaBuilder) component(at string) (*schema, error) {
	types := b.types.of(at)
	var bare []string // types without required keys
	s := &schema{Type: "object", Additional: false, MinProperties: rawNumber("1"), MaxProperties: rawNumber("1")}
	for _, name := range sortedKeys(types) {
		v := reflect.ValueOf(types[name]())
		if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
			return nil, fmt.Errorf("config: %s: not a pointer to a struct", name)
		}
		inner, err := b.structure(v.Elem(), at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if isSource(at) {
			if err := b.addFormat(name, v.Elem().Type(), inner); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		if !slices.ContainsFunc(inner.Properties, func(p property) bool { return p.name == "name" }) {
			inner.Properties = append(inner.Properties, property{"name", &schema{Description: nameComment, Type: "string", Pattern: `^[A-Za-z0-9_.-]{1,64}$`}})
		}
		s.Properties = append(s.Properties, property{name, inner})
		if len(inner.Required) == 0 {
			bare = append(bare, name)
		}
	}
	if len(bare) > 0 {
		return &schema{AnyOf: []*schema{s, {Enum: bare}}}, nil
	}
	return s, nil
}

// addFormat adds the keys of [Format] to the schema of a source whose struct has type t.
func (b *schemaBuilder) addFormat(name string, t reflect.Type, source *schema) error {
	fields, _ := fieldsOf(t) // structure has checked the error
	if err := checkOwn(fields); err != nil {
		return err
	}
	format, err := b.structure(reflect.ValueOf(new(DefaultFormat())).Elem(), "")
	if err != nil {
		return err
	}
	source.Properties = append(format.Properties, source.Properties...)
	if name != stdin {
		source.Required = append(format.Required, source.Required...)
	}
	return nil
}

const nameComment = "The name of the component in metrics, logs and checkpoints. Default: its type and a number."

// scalarSchema returns the schema of a scalar. A scalar that is not a string
// may also be an expansion, which is a string.
func scalarSchema(v reflect.Value, r rules) *schema {
	t := v.Type()
	s := &schema{Default: scalarDefault(v)}
	switch {
	case t == reflect.TypeFor[field.Size]():
		s.AnyOf = []*schema{{Type: "integer", Minimum: rawNumber("0")}, {Type: "string", Pattern: field.SizePattern}}
	case t == durationType:
		s.AnyOf = []*schema{{Type: "string", Pattern: `^(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h|d))+$`}, {Type: "integer", Minimum: rawNumber("0"), Maximum: rawNumber("0")}}
	case len(r.enum) > 0:
		s.AnyOf = []*schema{{Enum: accepted(r.enum)}}
	case t.Kind() == reflect.Bool && !isText(t):
		s.AnyOf = []*schema{{Type: "boolean"}}
	case isNumber(t):
		s.AnyOf = []*schema{numberSchema(t, r)}
	default:
		s.Type = []string{"string", "number"}
		s.MinLength, s.MaxLength = rawNumber(r.min), rawNumber(r.max)
		return s
	}
	s.AnyOf = append(s.AnyOf, &schema{Ref: "#/$defs/expansion"})
	return s
}

func numberSchema(t reflect.Type, r rules) *schema {
	s := &schema{Type: "integer", Minimum: rawNumber(r.min), Maximum: rawNumber(r.max)}
	switch k := t.Kind(); {
	case k == reflect.Float32 || k == reflect.Float64:
		s.Type = "number"
	case k >= reflect.Uint && k <= reflect.Uint64 && r.min == "":
		s.Minimum = rawNumber("0")
	}
	return s
}

// scalarDefault returns the default of a scalar field, or nil.
func scalarDefault(v reflect.Value) any {
	switch {
	case isSecret(v), v.IsZero() && v.Kind() != reflect.Bool:
		return nil
	case isNumber(v.Type()), v.Kind() == reflect.Bool:
		return v.Interface()
	}
	text, _ := scalarText(v)
	return defaultOf(text)
}

func defaultOf(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// listDefault returns the default of a list of scalars, or nil.
func listDefault(v reflect.Value) any {
	if v.Len() == 0 || !isScalar(v.Type().Elem()) {
		return nil
	}
	var all []any
	for i := range v.Len() {
		all = append(all, scalarDefault(v.Index(i)))
	}
	return all
}

// checkRules checks that the bounds of a type are valid values of it.
func checkRules(t reflect.Type, r rules) error {
	for _, bound := range []string{r.min, r.max} {
		if bound == "" {
			continue
		}
		v := reflect.New(t).Elem()
		switch t.Kind() {
		case reflect.Slice, reflect.Map, reflect.String:
			v = reflect.New(reflect.TypeFor[int]()).Elem()
		case reflect.Bool, reflect.Struct, reflect.Pointer:
			return fmt.Errorf("config: %v has no bounds", t)
		}
		if setText(v, bound) != "" {
			return fmt.Errorf("config: bound %q is not a valid %v", bound, t)
		}
	}
	return nil
}

// Package avroschema parses Avro schemas to types that say how values are encoded:
// https://avro.apache.org/docs/1.12.0/specification/.
package avroschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Kind says how a value is encoded.
type Kind uint8

// Kinds of values.
const (
	Fixed  Kind = iota // a number of bytes
	Varint             // int, long, enum
	Text               // string, bytes: a length, and as many bytes
	Record             // the fields, one after the other
	Union              // the index of a branch, and its value
	Array              // blocks of items
	Map                // blocks of keys and values
)

// A Type is a type of a schema. Types can refer to themselves.
type Type struct {
	Kind    Kind
	Null    bool     // the type null
	Logical bool     // a string or bytes with a logical type, such as a UUID
	Size    int      // size of Fixed
	Parts   []*Type  // fields of a Record, branches of a Union
	Names   []string // names of the fields
	Item    *Type    // item of an Array or a Map
	Column  int      // number of a column, for other packages, which set it in copies of a type
}

// A parser parses the types of a schema and of the schemas that it refers
// to.
type parser struct {
	named map[string]*Type // by full name
	depth int
}

// MaxNesting limits the nesting of a schema and of values.
const MaxNesting = 1000

var primitives = map[string]*Type{
	"null": {Null: true}, "boolean": {Size: 1}, "int": {Kind: Varint}, "long": {Kind: Varint},
	"float": {Size: 4}, "double": {Size: 8}, "bytes": {Kind: Text}, "string": {Kind: Text},
}

// Parse returns the type of the last of schemas. The others are the schemas
// that it refers to.
func Parse(schemas []string) (t *Type, err error) {
	s := &parser{named: map[string]*Type{}}
	for _, text := range schemas {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fmt.Errorf("the schema is not JSON: %w", err)
		}
		if t, err = s.parse(v, ""); err != nil {
			return nil, err
		}
	}
	if t == nil {
		return nil, errors.New("missing schema")
	}
	return t, nil
}

// parse returns the type that v describes. v is the value of a JSON text, and
// space is the namespace around it.
func (s *parser) parse(v any, space string) (*Type, error) {
	if s.depth++; s.depth > MaxNesting {
		return nil, errors.New("the schema is nested too deeply")
	}
	defer func() { s.depth-- }()
	switch v := v.(type) {
	case string:
		return s.reference(v, space)
	case []any:
		u := &Type{Kind: Union}
		return u, s.parts(u, v, space)
	case map[string]any:
		return s.object(v, space)
	}
	return nil, errors.New("invalid type in the schema: must be a name, an object or a list")
}

// reference returns the type called name.
func (s *parser) reference(name, space string) (*Type, error) {
	if t := primitives[name]; t != nil {
		return t, nil
	}
	if t := s.named[fullName(name, space)]; t != nil {
		return t, nil
	}
	if t := s.named[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("unknown type %q in the schema", name)
}

// fullName returns name with its namespace.
func fullName(name, space string) string {
	if space == "" || strings.Contains(name, ".") {
		return name
	}
	return space + "." + name
}

// parts adds the types in list to t.
func (s *parser) parts(t *Type, list []any, space string) error {
	for _, v := range list {
		p, err := s.parse(v, space)
		if err != nil {
			return err
		}
		t.Parts = append(t.Parts, p)
	}
	return nil
}

// object returns the type that an object describes.
func (s *parser) object(m map[string]any, space string) (*Type, error) {
	kind, ok := m["type"].(string)
	if !ok {
		return s.parse(m["type"], space) // the type is nested in an object of its own
	}
	var err error
	t := &Type{}
	switch kind {
	case "array":
		t.Kind = Array
		t.Item, err = s.parse(m["items"], space)
	case "map":
		t.Kind = Map
		t.Item, err = s.parse(m["values"], space)
	case "record", "error", "enum", "fixed":
		err = s.define(t, kind, m, space)
	default:
		known, err := s.reference(kind, space)
		if err == nil && known.Kind == Text && m["logicalType"] != nil {
			return &Type{Kind: Text, Logical: true}, nil
		}
		return known, err
	}
	return t, err
}

// define sets t to a type with a name.
func (s *parser) define(t *Type, kind string, m map[string]any, space string) error {
	name, _ := m["name"].(string)
	if own, ok := m["namespace"].(string); ok && !strings.Contains(name, ".") {
		space = own
	}
	full := fullName(name, space)
	if i := strings.LastIndexByte(full, '.'); i >= 0 {
		space = full[:i]
	}
	s.named[full] = t
	switch kind {
	case "enum":
		t.Kind = Varint
		return nil
	case "fixed":
		size, ok := m["size"].(float64)
		t.Size = int(size)
		if !ok || size < 0 || size > 1<<30 {
			return fmt.Errorf("missing or invalid size of the fixed type %q in the schema", full)
		}
		return nil
	}
	t.Kind = Record
	fields, _ := m["fields"].([]any)
	for _, v := range fields {
		f, _ := v.(map[string]any)
		name, _ := f["name"].(string)
		p, err := s.parse(f["type"], space)
		if err != nil {
			return err
		}
		t.Names, t.Parts = append(t.Names, name), append(t.Parts, p)
	}
	return nil
}

package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
)

// This file compiles Avro schemas: https://avro.apache.org/docs/1.12.0/specification/.
// An avroType says how to skip a value, and an avroRoute how to find a URL in
// one.

// avroKind says how a value is encoded.
type avroKind uint8

const (
	avroFixed  avroKind = iota // a number of bytes
	avroVarint                 // int, long, enum
	avroText                   // string, bytes: a length, and as many bytes
	avroRecord                 // the fields, one after the other
	avroUnion                  // the index of a branch, and its value
	avroArray                  // blocks of items
	avroMap                    // blocks of keys and values
)

// avroType is a type of a schema. Types can refer to themselves.
type avroType struct {
	kind  avroKind
	null  bool        // the type null
	size  int         // size of avroFixed
	parts []*avroType // fields of a record, branches of a union
	names []string    // names of the fields
	item  *avroType   // item of an array or a map
}

// avroTypes compiles the types of a schema and of the schemas that it refers
// to.
type avroTypes struct {
	named map[string]*avroType // by full name
	depth int
}

// maxAvroNesting limits the nesting of a schema.
const maxAvroNesting = 200

var avroPrimitives = map[string]*avroType{
	"null": {null: true}, "boolean": {size: 1}, "int": {kind: avroVarint}, "long": {kind: avroVarint},
	"float": {size: 4}, "double": {size: 8}, "bytes": {kind: avroText}, "string": {kind: avroText},
}

// parseAvro returns the type of the last of schemas. The others are the schemas
// that it refers to.
func parseAvro(schemas []string) (t *avroType, err error) {
	s := &avroTypes{named: map[string]*avroType{}}
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

// parse returns the type that v describes, the value of a JSON text. space is
// the namespace around it.
func (s *avroTypes) parse(v any, space string) (*avroType, error) {
	if s.depth++; s.depth > maxAvroNesting {
		return nil, errors.New("the schema is nested too deeply")
	}
	defer func() { s.depth-- }()
	switch v := v.(type) {
	case string:
		return s.reference(v, space)
	case []any:
		u := &avroType{kind: avroUnion}
		return u, s.parts(u, v, space)
	case map[string]any:
		return s.object(v, space)
	}
	return nil, errors.New("invalid type in the schema: must be a name, an object or a list")
}

// reference returns the type called name.
func (s *avroTypes) reference(name, space string) (*avroType, error) {
	if t := avroPrimitives[name]; t != nil {
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
func (s *avroTypes) parts(t *avroType, list []any, space string) error {
	for _, v := range list {
		p, err := s.parse(v, space)
		if err != nil {
			return err
		}
		t.parts = append(t.parts, p)
	}
	return nil
}

// object returns the type that an object describes.
func (s *avroTypes) object(m map[string]any, space string) (*avroType, error) {
	kind, ok := m["type"].(string)
	if !ok {
		return s.parse(m["type"], space) // the type is nested in an object of its own
	}
	var err error
	t := &avroType{}
	switch kind {
	case "array":
		t.kind = avroArray
		t.item, err = s.parse(m["items"], space)
	case "map":
		t.kind = avroMap
		t.item, err = s.parse(m["values"], space)
	case "record", "error", "enum", "fixed":
		err = s.define(t, kind, m, space)
	default:
		return s.reference(kind, space)
	}
	return t, err
}

// define sets t to a type with a name.
func (s *avroTypes) define(t *avroType, kind string, m map[string]any, space string) error {
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
		t.kind = avroVarint
		return nil
	case "fixed":
		size, ok := m["size"].(float64)
		t.size = int(size)
		if !ok || size < 0 || size > 1<<30 {
			return fmt.Errorf("missing or invalid size of the fixed type %q in the schema", full)
		}
		return nil
	}
	t.kind = avroRecord
	fields, _ := m["fields"].([]any)
	for _, v := range fields {
		f, _ := v.(map[string]any)
		name, _ := f["name"].(string)
		p, err := s.parse(f["type"], space)
		if err != nil {
			return err
		}
		t.names, t.parts = append(t.names, name), append(t.parts, p)
	}
	return nil
}

// avroRoute says how to find the value at a path in a value of its type. Its
// zero value leads to nothing that can be a URL.
type avroRoute struct {
	t      *avroType
	url    bool           // t is a string or bytes, and the URL
	step   jsonlines.Step // step of the path, if t is a record, an array or a map
	at     int            // index of the field, if t is a record
	next   *avroRoute     // route from there on
	routes []*avroRoute   // routes of the branches of a union; nil for branches that lead nowhere
}

// avroRouter finds routes. It remembers those it has found, by type and length of the rest
// of the path: a union of 100 records with unions of 100 records has 10,000 ways to the end
// of a path of two steps, and few routes.
type avroRouter map[avroStop]*avroRoute

type avroStop struct {
	t    *avroType
	rest int // number of steps that remain
}

// route returns the route for path in values of t, or nil.
func (a avroRouter) route(t *avroType, path []jsonlines.Step) *avroRoute {
	at := avroStop{t, len(path)}
	r, known := a[at]
	if !known {
		a[at] = nil // ends the recursion for a union that contains itself
		r = a.find(t, path)
		a[at] = r
	}
	return r
}

// find is route for a type that is not known yet.
func (a avroRouter) find(t *avroType, path []jsonlines.Step) *avroRoute {
	r := &avroRoute{t: t}
	switch {
	case t.kind == avroUnion:
		found := false
		for _, branch := range t.parts {
			next := a.route(branch, path)
			found = found || next != nil
			r.routes = append(r.routes, next)
		}
		if !found {
			return nil
		}
		return r
	case len(path) == 0:
		if r.url = t.kind == avroText; !r.url {
			return nil
		}
		return r
	}
	r.step = path[0]
	item := t.item
	switch name := r.step.Name; {
	case t.kind == avroRecord && name != nil:
		for i, field := range t.names {
			if field == string(name) {
				r.at, item = i, t.parts[i]
			}
		}
	case t.kind == avroArray && name == nil, t.kind == avroMap && name != nil:
	default:
		return nil
	}
	if item == nil {
		return nil
	}
	if r.next = a.route(item, path[1:]); r.next == nil {
		return nil
	}
	return r
}

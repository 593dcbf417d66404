package config

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/errlist"
)

// A decoder fills structs from a document. It identifies keys by paths, such as
// "sources[0].kafka.tls.ca_file".
type decoder struct {
	document
	types  Types
	places map[string]place
	raw    map[string]string                 // scalars with expansions, as they were written
	words  map[string]string                 // the text of each struct that was written as a scalar
	others []error                           // errors in other files
	doubts []*Error                          // warnings
	open   func(name string) ([]byte, error) // reads a file that the document names; nil: files cannot be read
	broken map[string]bool                   // paths with an error at or below them, and paths of missing keys
}

// newDecoder returns a decoder for a document. open reads the files that it
// names.
func newDecoder(d document, open func(name string) ([]byte, error)) *decoder {
	d.names = map[ast.Node]string{}
	return &decoder{document: d, open: open, places: map[string]place{}, raw: map[string]string{}, words: map[string]string{}, broken: map[string]bool{}}
}

// root parses data and returns its root node, or nil after recording an error.
func (d *decoder) root(data []byte) ast.Node {
	root := d.parse(data)
	if root == nil && len(d.errs) == 0 {
		d.errs = append(d.errs, d.error(nil, "file is empty", nil))
	}
	return root
}

// section returns the first element of a path: a section such as "codec", or an
// element of a list, such as "sources[0]".
func section(path string) string {
	s, _, _ := strings.Cut(path, ".")
	return s
}

// sound reports whether no error has been recorded at the path, and the section
// of the path is present. The section codec always counts as present, because
// its defaults apply.
func (d *decoder) sound(path string) bool {
	_, is := d.places[section(path)]
	return (is || section(path) == "codec") && !d.broken[path]
}

// spoil marks a path and all paths that enclose it as containing an error.
func (d *decoder) spoil(path string) {
	for ; path != ""; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		d.broken[path] = true
	}
}

// A place holds the nodes of a key and its value.
type place struct {
	key   ast.Node // nil for an element of a list
	value ast.Node
}

// written sorts the keys of the mapping at a path in the order of the file.
func (d *decoder) written(at string, keys []string) []string {
	offset := func(key string) int { return start(d.places[in(at, key)].key).Position.Offset }
	return slices.SortedFunc(slices.Values(keys), func(a, b string) int { return cmp.Compare(offset(a), offset(b)) })
}

// in returns the path of a key in a mapping.
func in(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// element returns the path of an element of a list.
func element(at string, i int) string { return at + "[" + strconv.Itoa(i) + "]" }

// value fills v from a node. v must be addressable. Fields whose keys are
// absent keep their values.
func (d *decoder) value(v reflect.Value, n ast.Node, at string, r rules) {
	before := len(d.errs)
	switch t := v.Type(); {
	case isMapping(n) && (isScalar(t) || t.Kind() == reflect.Slice) && d.formerIn(n, at):
	case t == componentType:
		d.component(v.Addr().Interface().(*Component), n, at)
	case isScalar(t), t.Kind() == reflect.Struct && isText(t) && !isMapping(n):
		d.scalarValue(v, n, at, r)
	case t.Kind() == reflect.Struct:
		d.structure(v, n, at)
	case t.Kind() == reflect.Pointer:
		to := newOf(t.Elem())
		d.value(to.Elem(), n, at, r)
		v.Set(to)
	case t.Kind() == reflect.Slice:
		d.list(v, n, at, r)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		d.table(v, n, at, r)
	default:
		d.failAt(n, "BUG: unsupported configuration type: "+t.String())
	}
	if len(d.errs) > before {
		d.spoil(at)
	}
}

// newOf returns a pointer to a new value with its defaults.
func newOf(t reflect.Type) reflect.Value {
	v := reflect.New(t)
	if c, ok := v.Interface().(interface{ setDefaults() }); ok {
		c.setDefaults()
	}
	return v
}

func isMapping(n ast.Node) bool {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// structure fills a struct from a mapping and validates it. more lists keys
// that the mapping may have in addition to the struct's.
func (d *decoder) structure(v reflect.Value, n ast.Node, at string, more ...keyReader) {
	before := len(d.errs)
	fields, err := fieldsOf(v.Type())
	if err != nil {
		d.failWith(start(n), "BUG: unsupported configuration struct: "+clean(err.Error()), err)
		return
	}
	names := make([]string, 0, len(fields)+len(more))
	for _, f := range fields {
		names = append(names, f.name)
	}
	for _, f := range more {
		names = append(names, f.name)
	}
	d.pairs(n, func(key, value ast.Node, name string) {
		path := in(at, name)
		if at == "" && isExtension(name) {
			return
		}
		if _, twice := d.places[path]; twice {
			d.failAt(key, "duplicate key "+strconv.Quote(name))
			return
		}
		d.note(path, name, key, value)
		for _, f := range fields {
			if f.name == name {
				d.value(v.FieldByIndex(f.index), value, path, f.rules)
				return
			}
		}
		for _, f := range more {
			if f.name == name {
				f.read(value)
				return
			}
		}
		delete(d.places, path)
		if d.former(key, value, path) {
			return
		}
		if near := d.unknown(key, names, name); near != "" {
			d.spoil(in(at, near)) // the key is misspelled, so do not report it as missing
		}
	})
	d.require(fields, n, at)
	if len(d.errs) > before {
		d.spoil(at)
	}
	if isMapping(n) {
		d.validate(v, at)
	}
}

// require records an error for each required key that the mapping at a path lacks.
func (d *decoder) require(fields []structField, n ast.Node, at string) {
	for _, f := range fields {
		path := in(at, f.name)
		if _, ok := d.places[path]; !f.required || ok {
			continue
		}
		if isMapping(n) && !d.broken[path] { // otherwise an error has been recorded; a path is broken if its key is misspelled
			d.failWith(d.begin(n, at), "missing required key "+strconv.Quote(f.name), nil)
		}
		d.spoil(path)
	}
}

// note stores the nodes at a path. Errors about the value begin with its name.
func (d *decoder) note(path, name string, key, value ast.Node) {
	if _, ok := d.places[path]; !ok {
		d.places[path] = place{key, value}
	}
	if isName(name) || key == nil {
		d.names[value] = name
	}
}

// validate calls the Validate method of a struct, if it has one, and records
// its errors. If the struct already has errors, it drops errors that may follow
// from them.
func (d *decoder) validate(v reflect.Value, at string) {
	c, ok := v.Addr().Interface().(interface{ Validate() error })
	if !ok {
		return
	}
	errs := errlist.Flatten(c.Validate())
	if d.broken[at] || at == "" {
		errs = slices.DeleteFunc(errs, func(err error) bool { return d.follows(at, err) })
	}
	for _, err := range errs {
		d.failPath(at, err)
	}
}

// follows reports whether an error that the struct at a path returned from
// Validate may be a consequence of an error that has been recorded.
func (d *decoder) follows(at string, err error) bool {
	var f *field.Error
	if !errors.As(err, &f) || d.broken[in(at, f.Field)] {
		return true
	}
	return slices.ContainsFunc(f.With, func(key string) bool { return d.broken[in(at, key)] })
}

// failPath records err, or the errors that it joins, at the key of a path, or
// at the key below it that a field.Error names.
func (d *decoder) failPath(at string, err error) {
	for _, err := range errlist.Flatten(err) {
		var f *field.Error
		if errors.As(err, &f) {
			d.failPath(in(at, f.Field), f.Err)
			continue
		}
		d.spoil(at)
		d.errs = append(d.errs, d.errorAt(at, err))
	}
}

// errorAt returns an error with the position of the value at a path. If the key
// is absent, the error has the position of the enclosing mapping, and the
// reason names the key.
func (d *decoder) errorAt(path string, err error) *Error {
	reason, p, rest := clean(err.Error()), path, ""
	for p != "" {
		if at, ok := d.places[p]; ok {
			n := at.value
			if rest == "" && !isMapping(n) {
				rest = d.names[n]
			} else if rest != "" && at.key != nil {
				n = at.key
			}
			return d.error(start(n), prefixed(rest, reason), err)
		}
		i := strings.LastIndexAny(p, ".[")
		rest = strings.TrimPrefix(path[max(i, 0):], ".")
		p = p[:max(i, 0)]
	}
	return d.error(nil, prefixed(path, reason), err)
}

func prefixed(path, reason string) string {
	if path == "" {
		return reason
	}
	return path + ": " + reason
}

// list replaces the contents of a slice by the elements of a node.
func (d *decoder) list(v reflect.Value, n ast.Node, at string, r rules) {
	items := d.items(n)
	s := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		path := element(at, i)
		d.note(path, element(d.names[n], i), nil, item)
		d.value(s.Index(i), item, path, r.element())
	}
	if _, ok := n.(*ast.SequenceNode); ok {
		d.bounds(s, n, r)
	}
	if r.commas {
		s = reflect.ValueOf(strings.FieldsFunc(strings.Join(s.Interface().([]string), ","), func(c rune) bool { return c == ',' || c == ' ' }))
	}
	v.Set(s)
}

// table replaces the contents of a map by the pairs of a node.
func (d *decoder) table(v reflect.Value, n ast.Node, at string, r rules) {
	m := reflect.MakeMap(v.Type())
	d.pairs(n, func(key, value ast.Node, name string) {
		path := in(at, name)
		d.note(path, name, key, value)
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(e, value, path, r.element())
		m.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), e)
	})
	if isMapping(n) {
		d.bounds(m, n, r)
	}
	v.Set(m)
}

// begin returns the token at which to report a key missing from a mapping: the
// key of the mapping itself rather than its first, correct key.
func (d *decoder) begin(n ast.Node, at string) *token.Token {
	if p, ok := d.places[at]; ok && p.key != nil {
		return start(p.key)
	}
	return start(n)
}

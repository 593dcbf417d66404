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
	"github.com/urlfold/urlfold/internal/errlist"
)

// A decoder fills structs from a document. Keys are named by paths, such as
// "sources[0].kafka.tls.ca_file".
type decoder struct {
	document
	types  Types
	places map[string]place
	raw    map[string]string                 // scalars with values put in, as they were written
	words  map[string]string                 // texts of structs that were written as such
	others []error                           // the mistakes in other files
	open   func(name string) ([]byte, error) // a file that the document names; nil: no files can be read
	broken map[string]bool                   // paths with a mistake at or below them, and of keys that are missing
}

// newDecoder returns a decoder of a file. open reads the files that it names.
func newDecoder(d document, open func(name string) ([]byte, error)) *decoder {
	return &decoder{document: d, open: open, places: map[string]place{}, raw: map[string]string{}, words: map[string]string{}, broken: map[string]bool{}}
}

// root returns the root of the document, nil if a mistake was noted.
func (d *decoder) root(data []byte) ast.Node {
	root := d.parse(data)
	if root == nil && len(d.errs) == 0 {
		d.errs = append(d.errs, d.error(nil, "is empty", nil))
	}
	return root
}

// section returns the part of a configuration that a path leads into: "codec", or
// one element of a list, "sources[0]".
func section(path string) string {
	s, _, _ := strings.Cut(path, ".")
	return s
}

// sound reports whether the section of a path is there, and the path has no mistake
// so far.
func (d *decoder) sound(path string) bool {
	_, is := d.places[section(path)]
	return is && !d.broken[path]
}

// spoil notes that there is a mistake at a path, and so in all around it.
func (d *decoder) spoil(path string) {
	for ; path != ""; path = path[:max(strings.LastIndexAny(path, ".["), 0)] {
		d.broken[path] = true
	}
}

// A place is where something was written.
type place struct {
	key   ast.Node // nil for an element of a list
	value ast.Node
}

// written returns the keys of the mapping at a path in the order of the file.
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

// value fills v from a node. v is addressable, and keeps what is not written.
func (d *decoder) value(v reflect.Value, n ast.Node, at string, r rules) {
	before := len(d.errs)
	d.fill(v, n, at, r)
	if len(d.errs) > before {
		d.spoil(at)
	}
}

func (d *decoder) fill(v reflect.Value, n ast.Node, at string, r rules) {
	switch t := v.Type(); {
	case t == componentType:
		d.component(v.Addr().Interface().(*Component), n, at)
	case isScalar(t), t.Kind() == reflect.Struct && isText(t) && !isMapping(n):
		d.scalarValue(v, n, at, r)
	case t.Kind() == reflect.Struct:
		d.structure(v, n, at)
	case t.Kind() == reflect.Pointer:
		to := reflect.New(t.Elem())
		d.value(to.Elem(), n, at, r)
		v.Set(to)
	case t.Kind() == reflect.Slice:
		d.list(v, n, at, r)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		d.table(v, n, at, r)
	default:
		d.failAt(n, "this program cannot read what belongs here: "+t.String())
	}
}

func isMapping(n ast.Node) bool {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// structure fills a struct from a mapping, in which there may be more keys than
// its own, and has it validated.
func (d *decoder) structure(v reflect.Value, n ast.Node, at string, more ...keyReader) {
	before := len(d.errs)
	fields, err := fieldsOf(v.Type())
	if err != nil {
		d.failWith(start(n), "this program cannot read what belongs here: "+clean(err.Error()), err)
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
		d.note(path, key, value)
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
		if near := d.unknown(key, names, name); near != "" {
			d.spoil(in(at, near)) // it is not missing, but misspelled
		}
	})
	d.missing(fields, n, at)
	if len(d.errs) > before {
		d.spoil(at)
	}
	if isMapping(n) {
		d.validate(v, at)
	}
}

func (d *decoder) note(path string, key, value ast.Node) {
	if _, ok := d.places[path]; !ok {
		d.places[path] = place{key, value}
	}
}

// missing notes each required key that is not there. Where there is no mapping, that
// was noted, and nothing is known about its keys.
func (d *decoder) missing(fields []structField, n ast.Node, at string) {
	for _, f := range fields {
		path := in(at, f.name)
		if _, ok := d.places[path]; !f.required || ok {
			continue
		}
		if isMapping(n) && !d.broken[path] { // broken: it is misspelled
			d.failWith(d.begin(n, at), "missing key "+f.name, nil)
		}
		d.spoil(path)
	}
}

// validate calls the Validate method of a struct, if it has one. Of a struct with
// mistakes only what it says of keys without one counts.
func (d *decoder) validate(v reflect.Value, at string) {
	c, ok := v.Addr().Interface().(interface{ Validate() error })
	if !ok {
		return
	}
	errs := errlist.Flatten(c.Validate())
	if d.broken[at] {
		errs = slices.DeleteFunc(errs, func(err error) bool { return d.follows(at, err) })
	}
	for _, err := range errs {
		d.failPath(at, err)
	}
}

// follows reports whether an error of the Validate method of the struct at a path may
// come of a mistake that was told already.
func (d *decoder) follows(at string, err error) bool {
	var f *field.Error
	if !errors.As(err, &f) || d.broken[in(at, f.Field)] {
		return true
	}
	return slices.ContainsFunc(f.With, func(key string) bool { return d.broken[in(at, key)] })
}

// failPath notes an error, or several that were joined, that belong to the key at
// a path, or to a key below it that a field.Error names.
func (d *decoder) failPath(at string, err error) {
	for _, err := range errlist.Flatten(err) {
		d.failOne(at, err)
	}
}

// failOne notes an error that joins no others.
func (d *decoder) failOne(at string, err error) {
	var f *field.Error
	if errors.As(err, &f) {
		d.failPath(in(at, f.Field), f.Err)
		return
	}
	d.spoil(at)
	d.errs = append(d.errs, d.errorAt(at, err))
}

// errorAt returns an error at the key of a path. If it is not written, the place
// is that of the mapping in which it could be, and the reason names it.
func (d *decoder) errorAt(path string, err error) *Error {
	reason, p, rest := clean(err.Error()), path, ""
	for p != "" {
		if at, ok := d.places[p]; ok {
			n := at.value
			if rest != "" && at.key != nil {
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

// list fills a slice. What was in it is replaced.
func (d *decoder) list(v reflect.Value, n ast.Node, at string, r rules) {
	items := d.items(n)
	s := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		path := element(at, i)
		d.note(path, nil, item)
		d.value(s.Index(i), item, path, r.element())
	}
	if _, ok := n.(*ast.SequenceNode); ok {
		d.bounds(s, n, r)
	}
	v.Set(s)
}

// table fills a map. What was in it is replaced.
func (d *decoder) table(v reflect.Value, n ast.Node, at string, r rules) {
	m := reflect.MakeMap(v.Type())
	d.pairs(n, func(key, value ast.Node, name string) {
		path := in(at, name)
		d.note(path, key, value)
		e := reflect.New(v.Type().Elem()).Elem()
		d.value(e, value, path, r.element())
		m.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), e)
	})
	if isMapping(n) {
		d.bounds(m, n, r)
	}
	v.Set(m)
}

// begin returns where a mapping that lacks something is told: at the key that it
// belongs to, so as not to point at a key of it that is right.
func (d *decoder) begin(n ast.Node, at string) *token.Token {
	if p, ok := d.places[at]; ok && p.key != nil {
		return start(p.key)
	}
	return start(n)
}

package config

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Types holds the available component types by name. Each function returns a
// pointer to a new configuration struct that holds the component's defaults;
// package config/field documents its form. Not covered by the stability page.
type Types struct {
	Sources map[string]func() any
	Sinks   map[string]func() any // of sinks and dead letters
	// Check, if not nil, performs the checks that this package cannot do. It
	// returns the joined errors, each created by File.ErrorAt. sound reports
	// whether the section of a path is present and the value at the path is
	// free of errors; Check must not use values that are not sound.
	Check func(f *File, sound func(path string) bool) error
}

// of returns the types that are allowed at a path.
func (t Types) of(path string) map[string]func() any {
	if isSource(path) {
		return t.Sources
	}
	return t.Sinks
}

// A Component is a source or a sink. In YAML it is a mapping with one key, the
// type, whose value holds the settings of that type and optionally a name.
// Not covered by the stability page.
type Component struct {
	Type   string // "kafka"
	Name   string // for metrics and logs; default: "kafka-1" (source), "kafka-sink-1" (sink) or "dead_letter"
	Config any    // the struct from Types, filled in
	Format Format // how the records of a source are read; zero for a sink

	path string
}

// Path returns the path of the component's mapping, for File.ErrorAt:
// "sources[0].kafka".
func (c *Component) Path() string { return c.path }

var componentType = reflect.TypeFor[Component]()

// component decodes a component. A type alone, as in "- stdin", has no settings.
func (d *decoder) component(c *Component, n ast.Node, at string) {
	if s, bare := n.(*ast.StringNode); bare {
		n = ast.Mapping(s.Token, false, ast.MappingValue(s.Token, s, ast.Mapping(s.Token, true)))
	}
	types := d.types.of(at)
	names := sortedKeys(types)
	if key := d.typeless(n, types); key != nil {
		d.failAt(key, "the key of a component is its type, with the settings below it: write {TYPE: {name: ...}} (TYPE must be one of: "+strings.Join(names, ", ")+")")
		d.spoil(at)
		return
	}
	count, before := 0, len(d.errs)
	d.pairs(n, func(key, value ast.Node, name string) {
		count++
		path := in(at, name)
		newConfig, ok := types[name]
		switch {
		case count > 1:
			d.failAt(key, "a component has one type: indent its keys below the type")
		case !ok:
			d.failAt(key, noSuch(unknown("type", name), names, name))
		default:
			d.note(path, name, key, value)
			c.Type, c.Config, c.path = name, newConfig(), path
			d.componentConfig(c, value)
		}
	})
	if isMapping(n) && count == 0 && len(d.values(n)) == 0 {
		d.failAt(n, "missing type (must be one of: "+strings.Join(names, ", ")+")")
	}
	if len(d.errs) > before {
		d.spoil(cmp.Or(c.path, at))
	}
}

// typeless returns the key "type" or "name" of a mapping without a type, as other
// programs write components: {name: a, type: file}. Otherwise it returns nil.
func (d *decoder) typeless(n ast.Node, types map[string]func() any) (found ast.Node) {
	if !isMapping(n) {
		return nil
	}
	for _, kv := range d.values(n) {
		switch name := kv.Key.GetToken().Value; {
		case types[name] != nil:
			return nil
		case name == "type" || name == "name" && found == nil:
			found = kv.Key
		}
	}
	return found
}

func (d *decoder) componentConfig(c *Component, n ast.Node) {
	v := reflect.ValueOf(c.Config)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		d.failAt(n, fmt.Sprintf("BUG: unsupported configuration type: %T", c.Config))
		return
	}
	own := keyReader{"name", func(n ast.Node) {
		text, ok := d.text(n)
		if ok && !isName(text) {
			d.failAt(n, nameRule)
		}
		c.Name = text
	}}
	if !isSource(c.path) {
		d.structure(v.Elem(), n, c.path, own)
		return
	}
	d.structure(v.Elem(), n, c.path, append(d.formatKeys(c), own)...)
	if c.Type != stdin {
		d.require(formatFields(), n, c.path)
	}
}

// isSource reports whether the path leads to a source or into one.
func isSource(path string) bool { return strings.HasPrefix(path, "sources[") }

// nameComponents gives each unnamed component of a section a name: its type,
// what, and a number. It records an error if two components have the same name.
func (d *decoder) nameComponents(list []Component, what string) {
	taken := map[string]bool{}
	for i := range list {
		c := &list[i]
		if c.Name != "" && taken[c.Name] {
			d.failPath(in(c.path, "name"), errors.New("duplicate component name"))
		}
		taken[c.Name] = true
	}
	for i := range list {
		c := &list[i]
		for k := 1; c.Name == "" && c.Type != ""; k++ {
			if name := c.Type + what + strconv.Itoa(k); !taken[name] {
				c.Name, taken[name] = name, true
			}
		}
	}
}

package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A structField is a field of a configuration struct.
type structField struct {
	name     string // the key
	index    []int
	typ      reflect.Type
	required bool
	rules    rules
	source   string // PACKAGE.STRUCT.FIELD, for its comment
}

// rules are the constraints in the tags of a field.
type rules struct {
	enum     []string
	min, max string // as written in a configuration; "" for none
	commas   bool   // the elements of a list may be lists separated by commas
	path     string // how a path is resolved: see decoder.locate; "" for other values
}

// element returns the rules that apply to each element of a list or mapping.
func (r rules) element() rules { return rules{enum: r.enum, path: r.path} }

// fieldsOf returns the fields of a struct that have a key, in order, including
// the fields of inlined structs.
func fieldsOf(t reflect.Type) ([]structField, error) {
	var all []structField
	for f := range t.Fields() {
		tag, tagged := f.Tag.Lookup("yaml")
		switch {
		case tag == "-", !tagged && !f.Anonymous, !f.IsExported() && !f.Anonymous:
			continue
		case !tagged && f.Type.Kind() != reflect.Struct:
			return nil, fmt.Errorf("%v: embedded field %s is not a struct", t, f.Name)
		case !tagged:
			inner, err := fieldsOf(f.Type)
			if err != nil {
				return nil, err
			}
			for _, g := range inner {
				g.index = append(slices.Clone(f.Index), g.index...)
				all = append(all, g)
			}
			continue
		}
		g, err := fieldOf(t, f, tag)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, unique(t, all)
}

func fieldOf(t reflect.Type, f reflect.StructField, tag string) (structField, error) {
	name, option, _ := strings.Cut(tag, ",")
	g := structField{name: name, index: f.Index, typ: f.Type, source: t.PkgPath() + "." + t.Name() + "." + f.Name}
	g.rules.min, g.rules.max = f.Tag.Get("min"), f.Tag.Get("max")
	g.rules.commas = f.Tag.Get("commas") != ""
	g.rules.path = f.Tag.Get("path")
	if enum := f.Tag.Get("enum"); enum != "" {
		g.rules.enum = strings.Split(enum, ",")
	}
	g.required = option == "required"
	if option != "" && !g.required || !isName(name) {
		return g, fmt.Errorf("%v.%s: invalid tag: want yaml:\"name\" or yaml:\"name,required\"", t, f.Name)
	}
	return g, nil
}

func unique(t reflect.Type, fields []structField) error {
	seen := map[string]bool{}
	for _, f := range fields {
		if seen[f.name] {
			return fmt.Errorf("%v: duplicate key %s", t, f.name)
		}
		seen[f.name] = true
	}
	return nil
}

var (
	durationType    = reflect.TypeFor[time.Duration]()
	unmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// isText reports whether the type implements encoding.TextUnmarshaler.
func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(unmarshalerType) }

// isScalar reports whether values of the type are always written as one scalar.
func isScalar(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		fields, err := fieldsOf(t)
		return isText(t) && err == nil && len(fields) == 0
	case reflect.Slice, reflect.Map:
		return isText(t)
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64:
		return true
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

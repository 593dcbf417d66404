package daemon

import (
	"context"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks"
	"github.com/urlfold/urlfold/sources"
)

// testCatalog holds the components of this module.
func testCatalog(t *testing.T) *Catalog {
	t.Helper()
	c, err := NewCatalog(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type emptySource struct{}

func (emptySource) Open(context.Context, *pipeline.Runtime) error { return nil }
func (emptySource) Run(context.Context) error                     { return nil }
func (emptySource) Close(context.Context) error                   { return nil }

func TestNewCatalog(t *testing.T) {
	named := func(name string) sources.Type {
		return sources.Define(name, func() *struct{} { return nil }, func(struct{}, *sources.Env) (pipeline.Source, error) { return emptySource{}, nil })
	}
	f := func(want string, types ...sources.Type) {
		t.Helper()
		_, err := NewCatalog(types, nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f("", named("a"), named("b"))
	f(`duplicate source name "kafka"`, named("kafka"))
	f("source without a name", named(""))
	kafka := sinks.Define("kafka", func() *struct{} { return nil }, func(struct{}, *sinks.Env) (pipeline.Sink, error) { return nil, nil })
	if _, err := NewCatalog(nil, []sinks.Type{kafka}); err == nil {
		t.Error("two sinks of one name are taken")
	}
	if _, err := kinds.Types.Source(named("a")).New(7, kinds.SourceEnv{}); err == nil {
		t.Error("a source of the configuration of another one")
	}
}

// TestPublicConfigurations checks that whoever links this module can write down
// every configuration: no field has a type of an internal package.
func TestPublicConfigurations(t *testing.T) {
	var walk func(v reflect.Type, at string)
	walk = func(v reflect.Type, at string) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(v.Elem(), at)
		case reflect.Struct:
			for f := range fields(v) {
				if f.IsExported() {
					walk(f.Type, at+"."+f.Name)
				}
			}
		}
		if strings.Contains(v.PkgPath(), "/internal/") {
			t.Errorf("%s has type %v", at, v)
		}
	}
	c := testCatalog(t)
	for name, s := range c.sources {
		walk(reflect.TypeOf(s.Default()), "source "+name)
	}
	for name, s := range c.sinks {
		walk(reflect.TypeOf(s.Default()), "sink "+name)
	}
	walk(reflect.TypeFor[config.File](), "config.File")
}

// fields yields the fields of a struct of this module.
func fields(v reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		if !strings.HasPrefix(v.PkgPath(), "github.com/urlfold/") {
			return
		}
		for field := range v.Fields() {
			if !yield(field) {
				return
			}
		}
	}
}

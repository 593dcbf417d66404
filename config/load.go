package config

import (
	"errors"
	"path/filepath"
	"reflect"

	"github.com/goccy/go-yaml/ast"

	"github.com/urlfold/urlfold/internal/errlist"
)

// Load reads a configuration from a file. See Parse.
func Load(path string, types Types, env Env) (*File, error) {
	data, err := readFile(path, MaxFile)
	if err != nil {
		return nil, &Error{File: path, Reason: fileReason(err), err: err}
	}
	return Parse(path, data, types, env)
}

// Parse reads a configuration. file is how errors name it, and where relative
// names of files in it start. The error joins an *Error for each mistake, first
// those of this file in its order, then those of a profile's; then there is no
// File.
func Parse(file string, data []byte, types Types, env Env) (*File, error) {
	exp := &expander{env: env, dir: filepath.Dir(file)}
	d := newDecoder(document{file: file, exp: exp}, nil)
	d.types = types
	if env.ReadFile != nil {
		d.open = exp.open
	}
	f := Default()
	f.d = d
	if root := d.root(data); root != nil {
		d.read(f, root)
	}
	if len(d.errs)+len(d.others) > 0 {
		d.scrub()
		return nil, errors.Join(append(errlist.Flatten(joined(d.errs)), d.others...)...)
	}
	return f, nil
}

// read fills f, and checks what keys mean together.
func (d *decoder) read(f *File, root ast.Node) {
	d.structure(reflect.ValueOf(f).Elem(), root, "")
	d.nameComponents(f.Sources, "-")
	d.nameComponents(f.Sinks, "-sink-")
	if f.DeadLetter != nil && f.DeadLetter.Name == "" {
		f.DeadLetter.Name = "dead_letter"
	}
	d.resolve(&f.Codec)
	d.deadLetters(f)
	if d.types.Check == nil {
		return
	}
	for _, err := range errlist.Flatten(d.types.Check(f, d.sound)) {
		var e *Error
		if errors.As(err, &e) {
			d.errs = append(d.errs, e)
		} else {
			d.others = append(d.others, err)
		}
	}
}

// deadLetters fills in what becomes of bad records, which hangs on whether there
// is a dead letter.
func (d *decoder) deadLetters(f *File) {
	const to = "dead_letter"
	or := to
	_, exists := d.places[to]
	if !exists {
		or = "pass_through"
	}
	for _, c := range []struct {
		path  string
		value *string
	}{
		{"pipeline.on_oversize", &f.Pipeline.OnOversize},
		{"pipeline.on_reject", &f.Pipeline.OnReject},
		{"codec.on_unparsed", &f.Codec.OnUnparsed},
		{"pipeline.on_refused", &f.Pipeline.OnRefused},
	} {
		switch {
		case *c.value == to && !exists:
			d.failText(c.path, "no dead_letter is configured")
		case *c.value == "" && c.value == &f.Pipeline.OnRefused && !exists:
			*c.value = "block"
		case *c.value == "" && c.value == &f.Codec.OnUnparsed:
			*c.value = f.Pipeline.OnReject
		case *c.value == "":
			*c.value = or
		}
	}
}

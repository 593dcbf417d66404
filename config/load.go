package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"

	"github.com/goccy/go-yaml/ast"

	"github.com/urlfold/urlfold/internal/ground/errlist"
)

// Load reads the configuration file at path. See Parse.
// Not covered by the stability page.
func Load(path string, types Types, env Env) (*File, error) {
	loaded := stampOf(path)
	data, err := readFile(path, maxFile)
	if err != nil {
		return nil, &Error{File: path, Reason: fileReason(err), err: err}
	}
	dir := filepath.Dir(path)
	if fi, err := os.Stat(path); err == nil && !fi.Mode().IsRegular() {
		dir = "." // the directory of a pipe such as /dev/fd/63 holds no files of the user
	}
	f, err := parse(path, dir, data, types, env)
	if err != nil {
		return nil, err
	}
	f.stamps[path] = loaded
	return f, nil
}

// Parse parses a configuration. file names it in errors; relative paths in the
// configuration are relative to the directory of file. If data has errors,
// Parse returns nil and an error that joins an *Error for each: first for this
// file, in order, then for a profile file. Not covered by the stability page.
func Parse(file string, data []byte, types Types, env Env) (*File, error) {
	return parse(file, filepath.Dir(file), data, types, env)
}

// parse is Parse with a base for relative paths. Relative paths become
// absolute, because stored positions contain the paths and must not depend on
// the working directory.
func parse(file, dir string, data []byte, types Types, env Env) (*File, error) {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	stamps := map[string]stamp{}
	env = stamping(env, stamps)
	exp := &expander{env: env, dir: dir}
	d := newDecoder(document{file: file, exp: exp}, nil)
	d.types = types
	if env.ReadFile != nil {
		d.open = exp.open
	}
	f := Default()
	f.d, f.stamps = d, stamps
	if root := d.root(data); root != nil {
		d.read(f, root)
	}
	if len(d.errs)+len(d.others) > 0 {
		d.scrub()
		return nil, errors.Join(append(errlist.Flatten(joined(d.errs)), d.others...)...)
	}
	return f, nil
}

// read fills f and performs the checks that involve several keys.
func (d *decoder) read(f *File, root ast.Node) {
	d.structure(reflect.ValueOf(f).Elem(), root, "")
	d.nameComponents(f.Sources, "-")
	d.nameComponents(f.Sinks, "-sink-")
	if f.DeadLetter != nil && f.DeadLetter.Name == "" {
		f.DeadLetter.Name = "dead_letter"
	}
	d.resolve(&f.Codec)
	d.resolveShadow(f.Shadow)
	d.resolveErrors(&f.OnError)
	if f.Dedupe != nil && len(f.Sources) > 0 {
		f.Dedupe.resolveScope(f.Sources[0].Type)
	}
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

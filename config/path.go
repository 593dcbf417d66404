package config

import (
	"path/filepath"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// below returns name, which is relative to dir unless it is absolute.
func below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// locate resolves v, the path at a key with the tag path, against the directory
// of the configuration. kind is the value of the tag:
//
//	file     a path or a template of paths; other texts with :// are addresses
//	glob     the same for a pattern
//	exclude  a pattern that matches names if it has no slash, and any folder if it begins with **
//	listen   an address, of which unix:PATH has a path
func (d *decoder) locate(v reflect.Value, n ast.Node, at, kind string) {
	scheme, path := "", v.String()
	if kind == "listen" {
		after, isPath := strings.CutPrefix(path, "unix:")
		if !isPath {
			return
		}
		scheme, path = "unix:", after
	}
	anywhere := kind == "exclude" && (!strings.Contains(path, "/") || strings.HasPrefix(path, "**"))
	if path == "" || anywhere || d.exp == nil || d.exp.dir == "." || filepath.IsAbs(path) || strings.Contains(path, "://") {
		return
	}
	if (kind == "glob" || kind == "exclude") && strings.ContainsAny(d.exp.dir, "*?[{") {
		d.failAt(n, "must be an absolute path, because the name of the folder of the configuration has characters that a glob interprets")
		return
	}
	base := scheme + d.exp.dir + string(filepath.Separator) // not joined: a slash at the end of path has a meaning
	v.SetString(base + path)
	if raw, ok := d.raw[at]; ok {
		d.raw[at] = strings.Replace(raw, scheme, base, 1)
	}
}

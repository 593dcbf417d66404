package config

import (
	"path/filepath"
	"reflect"
	"strings"

	"github.com/urlfold/urlfold/config/field"
)

// below returns the path of name, which is relative to dir unless it is
// absolute.
func below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

// locate resolves v, the path at a key with the tag path, against the directory
// of the configuration. kind is the value of the tag:
//
//	file      a path; other texts with :// are addresses
//	template  the same for a template of paths
//	glob      the same for a pattern
//	exclude   a pattern that matches names if it has no slash, and any folder if it begins with **
//	listen    an address, of which unix:PATH has a path
func (d *decoder) locate(v reflect.Value, at, kind string) {
	scheme, path := "", v.String()
	if kind == "listen" {
		after, isPath := strings.CutPrefix(path, "unix:")
		if !isPath {
			return
		}
		scheme, path = "unix:", after
	}
	anywhere := kind == "exclude" && (!strings.Contains(path, "/") || strings.HasPrefix(path, "**"))
	if path == "" || anywhere || d.exp == nil || filepath.IsAbs(path) || strings.Contains(path, "://") {
		return
	}
	// Do not use filepath.Join, which would remove a slash at the end of path:
	// that slash has a meaning. On Windows, a glob has no escapes.
	base := scheme + d.exp.dir + string(filepath.Separator)
	if (kind == "glob" || kind == "exclude") && filepath.Separator == '/' {
		base = literal.Replace(base)
	} else if kind == "template" {
		base = field.Literal(base)
	}
	v.SetString(base + path)
	if raw, ok := d.raw[at]; ok {
		d.raw[at] = strings.Replace(raw, scheme, base, 1)
	}
}

// literal turns a path into a glob that only this path matches.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, "}", `\}`)

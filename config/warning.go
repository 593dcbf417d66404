package config

import (
	"reflect"
	"regexp"
	"slices"
	"sync"

	"github.com/goccy/go-yaml/ast"

	"github.com/urlfold/urlfold/config/field"
)

// Warnings returns warnings about valid values that are probably mistakes: a literal
// that looks like an environment variable, and a secret that is not in a separate file.
// Each names the key, never the value.
func (f *File) Warnings() []*Error { return f.d.doubts }

// doubt records a warning about a scalar of the type t that was not expanded.
func (d *decoder) doubt(t reflect.Type, n ast.Node, text string) {
	reason := ""
	switch {
	case dollar().MatchString(text):
		reason = "contains $ and a name, which is literal text (write ${NAME} for an environment variable)"
	case t == reflect.TypeFor[field.Secret]() && text != "":
		reason = "the secret is written in the configuration, which others may read (write ${file:PATH} or ${NAME})"
	default:
		return
	}
	e := d.error(start(n), prefixed(d.names[n], reason), nil)
	if !slices.ContainsFunc(d.doubts, func(other *Error) bool { return other.Line == e.Line && other.Column == e.Column }) { // an alias repeats the node
		d.doubts = append(d.doubts, e)
	}
}

// dollar matches what shells expand. Names with lower case are variables of an nginx
// log_format.
var dollar = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$[A-Z_][A-Z0-9_]+`) })

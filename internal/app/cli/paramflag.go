package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// paramKeys are the keys of --param, in the order of help texts and errors.
var paramKeys = []string{"name", "in", "style", "explode", "type", "property", "path"}

// parseParam parses one --param value: comma-separated key=value pairs with the
// keys and values of an OpenAPI parameter object.
func parseParam(text string) (d params.Declaration, err error) {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok:
			return d, fmt.Errorf("missing '=' in %q: want KEY=VALUE pairs, such as name=color,style=pipeDelimited", pair)
		case seen[key] && key != "property":
			return d, fmt.Errorf("duplicate key %q", key)
		}
		seen[key] = true
		if err := setParam(&d, key, value); err != nil {
			return d, err
		}
	}
	return d, nil
}

// setParam sets the field of d that a key names.
func setParam(d *params.Declaration, key, value string) (err error) {
	ok := true
	var names []string
	switch key {
	case "name":
		d.Name = value
	case "in":
		d.In, ok = params.ParseLocation(value)
		names = params.LocationNames()
	case "style":
		d.Style, ok = params.ParseStyle(value)
		names = params.StyleNames()
	case "type":
		d.Type, ok = params.ParseValueType(value)
		names = params.TypeNames()
	case "explode":
		i := slices.Index([]string{"false", "true"}, value)
		ok, names = i >= 0, []string{"true", "false"}
		d.Explode = params.ExplodeNo + params.Explode(max(i, 0))
	case "property":
		d.Properties = append(d.Properties, value)
	case "path":
		d.Path = value
	default:
		_, err := suggest.Index("key", paramKeys, key)
		return err
	}
	if !ok {
		return fmt.Errorf("%s: invalid value %s (must be one of: %s)", key, strconv.Quote(value), strings.Join(names, ", "))
	}
	return nil
}

// styles compiles the values of --param. It returns nil if there are none,
// which leaves the declarations of the profile in force.
func (s *settings) styles(bad *mistakes) *params.Styles {
	var decls []params.Declaration
	for _, text := range s.Declared {
		d, err := parseParam(text)
		if err != nil {
			bad.add("--param", err)
			return nil
		}
		decls = append(decls, d)
	}
	if len(decls) == 0 {
		return nil
	}
	styles, err := params.CompileStyles(decls)
	for _, err := range errlist.Flatten(err) {
		var e *params.StyleError
		if errors.As(err, &e) && e.Field != "" {
			err = fmt.Errorf("%s: %s: %s", decls[e.Index].Name, e.Field, e.Reason)
		}
		bad.add("--param", err)
	}
	return styles
}

package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/errlist"
	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/sources/file"
)

// paramKeys are the keys of --param-style, in the order of help texts and errors.
var paramKeys = []string{"name", "in", "style", "explode", "type", "property", "path"}

// parseParam parses one --param-style value: comma-separated key=value pairs with the
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

// styles compiles the values of --param-style. It returns nil if there are none,
// which leaves the declarations of the profile in force.
func (s *settings) styles(bad *command.Mistakes) *params.Styles {
	var decls []params.Declaration
	for _, text := range s.Declared {
		d, err := parseParam(text)
		if err != nil {
			bad.Add("--param-style", err)
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
		bad.Add("--param-style", err)
	}
	return styles
}

// checkIndex checks --index if it names a file. It returns an error unless
// there is exactly one input, that input is a file, and it is not the index.
func (s *settings) checkIndex(inputs []string) error {
	if s.Index == "" || s.Index == file.IndexAuto {
		return nil
	}
	if len(inputs) != 1 || inputs[0] == stdinPath {
		return fmt.Errorf("--index: %s can only be the index of a single input file; use --index auto", s.Index)
	}
	in, err := os.Stat(inputs[0])
	index, e := os.Stat(s.Index)
	if err == nil && e == nil && os.SameFile(in, index) {
		return fmt.Errorf("--index: %s is the input", s.Index)
	}
	return nil
}

// ruleNames returns the names of all rules.
func ruleNames() []string { return codec.ProfileRules().Names() }

// signedRuleNames returns the values of --rule, for completion.
func signedRuleNames() []string {
	var names []string
	for _, name := range ruleNames() {
		names = append(names, "+"+name, "-"+name)
	}
	return names
}

// changeRules returns p with rules added ("+rfc-clean") and removed
// ("-ui-drop"). If that changes p, the name of the result includes the changes,
// in the order of the rules: "equiv+rfc-clean". The error joins all errors in
// changes.
func changeRules(p codec.Profile, changes []string) (codec.Profile, error) {
	var add, remove codec.Rules
	var errs []error
	for _, c := range changes {
		c = strings.TrimSpace(c)
		name := strings.TrimLeft(c, "+-")
		if len(c) != len(name)+1 {
			errs = append(errs, fmt.Errorf("invalid change %q: want +NAME to add a rule or -NAME to remove one", c))
			continue
		}
		_, err := suggest.Index("rule", ruleNames(), name)
		rule, _ := codec.ParseRules(name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case !add.Union(remove).Intersect(rule).IsZero():
			errs = append(errs, fmt.Errorf("duplicate rule %q", name))
		case c[0] == '+':
			add = add.Union(rule)
		default:
			remove = remove.Union(rule)
		}
	}
	if p.Match != "" && len(changes) > 0 {
		errs = append(errs, fmt.Errorf("profile %s matches %s: its rules cannot be changed", p.Name, p.Program()))
	}
	if err := errors.Join(errs...); err != nil {
		return p, err
	}
	return p.Change(add, remove), nil
}

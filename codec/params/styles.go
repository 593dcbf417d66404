package params

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
)

// Styles is a compiled set of declarations. It is immutable and safe for
// concurrent use. A nil *Styles and the zero Styles are empty.
// Not covered by the stability page.
type Styles struct {
	decls []declared
	query map[string]claim // claims by decoded name
	deep  map[string]int   // declarations of style deepObject, by name
	rest  int              // 1 + index of the declaration that gets all other fields of a query; 0 if none
	path  []int            // declarations for paths
}

// declared is a Declaration with its defaults filled in.
type declared struct {
	Declaration
	explode  bool
	template []templateSegment // nil if Path is empty
	slot     int               // index of {Name} in template

	properties map[string]bool // set of Declaration.Properties
}

// claim assigns a field to a declaration.
type claim struct {
	decl int
	role role
}

// role is the part that a field plays for its declaration.
type role uint8

const (
	roleNone     role = iota // no declaration matches
	roleOwn                  // the field has the parameter's name
	roleProperty             // the field has the name of a property of an exploded object
	roleMember               // the field is a property of a deepObject, in brackets
)

// StyleError reports why CompileStyles rejected a declaration.
// Not covered by the stability page.
type StyleError struct {
	Index  int    // index of the declaration, from 0
	Field  string // lower-case field of Declaration: "style"; empty for the whole declaration
	Reason string
}

// Error returns the position and the reason.
func (e *StyleError) Error() string {
	field := ""
	if e.Field != "" {
		field = "." + e.Field
	}
	return "params[" + strconv.Itoa(e.Index) + "]" + field + ": " + e.Reason
}

// Len returns the number of declarations.
func (s *Styles) Len() int {
	if s == nil {
		return 0
	}
	return len(s.decls)
}

// Declaration returns declaration i with its defaults filled in.
func (s *Styles) Declaration(i int) Declaration { return s.decls[i].Declaration }

// CompileStyles checks and compiles declarations. It rejects combinations that
// OpenAPI 3.1.1 §4.8.12 leaves undefined: a style in the wrong component,
// deepObject with explode: false, and spaceDelimited or pipeDelimited with
// explode: true or with a string. The error joins a *StyleError for each
// problem. Not covered by the stability page.
func CompileStyles(decls []Declaration) (*Styles, error) {
	c := styleCompiler{s: &Styles{query: map[string]claim{}, deep: map[string]int{}}}
	for i, d := range decls {
		c.add(i, d)
	}
	if c.errs != nil {
		return nil, errors.Join(c.errs...)
	}
	return c.s, nil
}

const duplicateParam = "duplicate parameter: params[%d] has this name"

// styleCompiler holds the state of CompileStyles.
type styleCompiler struct {
	s    *Styles
	errs []error
}

func (c *styleCompiler) fail(i int, field, format string, args ...any) {
	c.errs = append(c.errs, &StyleError{i, field, fmt.Sprintf(format, args...)})
}

// add checks and adds d.
func (c *styleCompiler) add(i int, d Declaration) {
	before := len(c.errs)
	x := declared{Declaration: d}
	x.Properties, x.properties = slices.Clone(d.Properties), map[string]bool{}
	for _, name := range d.Properties {
		x.properties[name] = true
	}
	c.defaults(&x)
	c.check(i, &x)
	if d.In == InPath {
		c.template(i, &x)
		c.s.path = append(c.s.path, i)
	} else if d.Path != "" {
		c.fail(i, "path", "applies only to in: path")
	}
	c.s.decls = append(c.s.decls, x)
	if len(c.errs) > before {
		return
	}
	if d.In == InPath {
		c.claimPath(i, &x)
	} else {
		c.claimQuery(i, &x)
	}
}

// defaults fills in the defaults of d (OpenAPI 3.1.1 §4.8.12.2.1).
func (c *styleCompiler) defaults(d *declared) {
	if d.Style == StyleDefault {
		d.Style = StyleForm
		if d.In == InPath {
			d.Style = StyleSimple
		}
	}
	if d.Explode == ExplodeDefault {
		d.Explode = ExplodeNo
		if d.Style == StyleForm || d.Style == StyleDeepObject {
			d.Explode = ExplodeYes
		}
	}
	d.explode = d.Explode == ExplodeYes
	if d.Type == TypeDefault {
		d.Type = TypeArray
		if d.Style == StyleDeepObject {
			d.Type = TypeObject
		}
	}
}

// check rejects combinations that OpenAPI does not define.
func (c *styleCompiler) check(i int, d *declared) {
	inPath := d.Style == StyleSimple || d.Style == StyleLabel || d.Style == StyleMatrix
	delimited := d.Style == StyleSpaceDelimited || d.Style == StylePipeDelimited
	if d.Name == "" {
		c.fail(i, "name", "must not be empty")
	}
	switch {
	case int(d.Style) >= len(styleNames):
		c.fail(i, "style", "unknown style")
	case d.In == InQuery && inPath:
		c.fail(i, "style", "%s is a style for paths: must be form, spaceDelimited, pipeDelimited or deepObject", d.Style)
	case d.In == InPath && !inPath:
		c.fail(i, "style", "%s is a style for queries: must be simple, label or matrix", d.Style)
	}
	if d.Style == StyleDeepObject && !d.explode {
		c.fail(i, "explode", "must be true for deepObject (OpenAPI 3.1.1 §4.8.12.4)")
	}
	if delimited && d.explode {
		c.fail(i, "explode", "must be false for %s (OpenAPI 3.1.1 §4.8.12.4); for repeated names use style form", d.Style)
	}
	switch {
	case d.Style == StyleDeepObject && d.Type != TypeObject:
		c.fail(i, "type", "must be object for deepObject")
	case delimited && d.Type == TypeString:
		c.fail(i, "type", "must be array or object for %s", d.Style)
	}
	if len(d.Properties) > 0 && !d.spreads() {
		c.fail(i, "properties", "apply only to exploded objects of style form or matrix; for other objects the URL contains the names")
	}
}

// spreads reports whether each property of d is a separate field under its own
// name.
func (d *declared) spreads() bool {
	return d.Type == TypeObject && d.explode && (d.Style == StyleForm || d.Style == StyleMatrix)
}

// claimQuery registers the field names of declaration i in a query.
func (c *styleCompiler) claimQuery(i int, d *declared) {
	if d.Style == StyleDeepObject {
		if _, ok := c.s.deep[d.Name]; ok {
			c.fail(i, "name", duplicateParam, c.s.deep[d.Name])
		}
		c.s.deep[d.Name] = i
	}
	c.claim(i, "name", d.Name, roleOwn)
	for _, name := range d.Properties {
		c.claim(i, "properties", name, roleProperty)
	}
	if d.spreads() && len(d.Properties) == 0 {
		if c.s.rest > 0 {
			c.fail(i, "properties", "conflicts with params[%d], which also gets all other fields of the query", c.s.rest-1)
		}
		c.s.rest = i + 1
	}
}

func (c *styleCompiler) claim(i int, field, name string, r role) {
	if old, ok := c.s.query[name]; ok {
		c.fail(i, field, duplicateParam, old.decl)
		return
	}
	c.s.query[name] = claim{i, r}
}

// claimPath rejects declaration i in a path if another declaration matches the same
// fields.
func (c *styleCompiler) claimPath(i int, d *declared) {
	for _, j := range c.s.path {
		o := &c.s.decls[j]
		switch {
		case j == i || o.Path != d.Path:
		case o.Name == d.Name:
			c.fail(i, "name", duplicateParam, j)
		case o.Path == "" && o.takesRest() && d.takesRest():
			c.fail(i, "properties", "conflicts with params[%d], which also gets all other parameters of a segment", j)
		}
	}
}

// takesRest reports whether d gets every field that no other declaration names.
func (d *declared) takesRest() bool { return d.spreads() && len(d.Properties) == 0 }

// A templateSegment is a segment of a path template.
type templateSegment struct {
	literal string // decoded
	slot    bool   // {name}, which matches any segment
}

// template parses d.Path.
func (c *styleCompiler) template(i int, d *declared) {
	switch {
	case d.Path == "" && d.Style != StyleMatrix:
		c.fail(i, "path", "missing: style %s needs a path template, such as /users/{id}", d.Style)
		return
	case d.Path == "":
		return
	case d.Path[0] != '/':
		c.fail(i, "path", "must begin with '/'")
		return
	}
	d.slot = -1
	for n, text := range strings.Split(d.Path[1:], "/") {
		name, isSlot := strings.CutPrefix(text, "{")
		name, closed := strings.CutSuffix(name, "}")
		switch {
		case isSlot && closed && name != "" && !strings.ContainsAny(name, "{}"):
			d.template = append(d.template, templateSegment{slot: true})
		case strings.ContainsAny(text, "{}"):
			c.fail(i, "path", "segment %d: a placeholder must be a whole segment, such as {id}", n+1)
			return
		default:
			d.template = append(d.template, templateSegment{literal: string(percent.AppendDecode(nil, []byte(text)))})
			continue
		}
		if name == d.Name && d.slot >= 0 {
			c.fail(i, "path", "duplicate placeholder for the parameter")
			return
		}
		if name == d.Name {
			d.slot = n
		}
	}
	if d.slot < 0 {
		c.fail(i, "path", "must contain the name of the parameter in braces")
	}
}

// claimOf returns the declaration that a field of a query belongs to, and its
// role.
func (s *Styles) claimOf(name []byte) claim {
	if s == nil || len(s.decls) == 0 {
		return claim{decl: -1}
	}
	if c, ok := s.query[string(name)]; ok {
		return c
	}
	if len(s.deep) > 0 {
		if before, _, ok := bytes.Cut(name, bracket); ok {
			if decl, ok := s.deep[string(before)]; ok {
				return claim{decl, roleMember}
			}
		}
	}
	if s.rest > 0 {
		return claim{s.rest - 1, roleProperty}
	}
	return claim{decl: -1}
}

var bracket = []byte{'['}

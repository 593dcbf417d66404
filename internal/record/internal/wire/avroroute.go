package wire

import (
	"github.com/urlfold/urlfold/internal/ground/avroschema"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
)

// avroRoute says how to find the URL in a value of type t. The zero avroRoute
// leads to no URL.
type avroRoute struct {
	t      *avroschema.Type
	url    bool           // t is a string or bytes, and the URL
	step   jsonlines.Step // step of the path, if t is a record, an array or a map
	at     int            // index of the field, if t is a record
	next   *avroRoute     // route from there on
	routes []*avroRoute   // routes of the branches of a union; nil for branches that lead nowhere
}

// avroRouter finds routes. It remembers the routes that it has found, by type and length of
// the rest of the path: a union of 100 records with unions of 100 records has 10,000 ways to
// the end of a path of two steps, but few routes.
type avroRouter map[avroStop]*avroRoute

type avroStop struct {
	t    *avroschema.Type
	rest int // number of steps that remain
}

// route returns the route for path in values of t, or nil.
func (a avroRouter) route(t *avroschema.Type, path []jsonlines.Step) *avroRoute {
	at := avroStop{t, len(path)}
	r, known := a[at]
	if !known {
		a[at] = nil // ends the recursion for a union that contains itself
		r = a.find(t, path)
		a[at] = r
	}
	return r
}

// find is route for a type that is not known yet.
func (a avroRouter) find(t *avroschema.Type, path []jsonlines.Step) *avroRoute {
	r := &avroRoute{t: t}
	switch {
	case t.Kind == avroschema.Union:
		found := false
		for _, branch := range t.Parts {
			next := a.route(branch, path)
			found = found || next != nil
			r.routes = append(r.routes, next)
		}
		if !found {
			return nil
		}
		return r
	case len(path) == 0:
		if r.url = t.Kind == avroschema.Text; !r.url {
			return nil
		}
		return r
	}
	r.step = path[0]
	item := t.Item
	switch name := r.step.Name; {
	case t.Kind == avroschema.Record && name != nil:
		for i, field := range t.Names {
			if field == string(name) {
				r.at, item = i, t.Parts[i]
			}
		}
	case t.Kind == avroschema.Array && name == nil, t.Kind == avroschema.Map && name != nil:
	default:
		return nil
	}
	if item == nil {
		return nil
	}
	if r.next = a.route(item, path[1:]); r.next == nil {
		return nil
	}
	return r
}

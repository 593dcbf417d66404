package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/app/recordconf"
	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// branches returns the route of f, with the sinks as bits by their index.
func branches(f *config.File) (list []recordconf.Branch) {
	for i := range f.Route {
		b := &f.Route[i]
		branch := recordconf.Branch{When: b.Where}
		names, _ := b.Targets()
		for k := range f.Sinks {
			if slices.Contains(names, f.Sinks[k].Name) {
				branch.To |= 1 << k
			}
		}
		list = append(list, branch)
	}
	return list
}

// copies returns the maximum number of copies of a record that a route makes.
func (p *plan) copies() (n int) {
	for i := range p.file.Route {
		names, _ := p.file.Route[i].Targets()
		n = max(n, len(names))
	}
	return n
}

// checkRoute checks that the route ends with else, and that its sinks are in
// the configuration.
func (p *plan) checkRoute(sound func(path string) bool) error {
	f := p.file
	if len(f.Route) == 0 || !sound("route") {
		return nil
	}
	if len(f.Sinks) == 1 {
		return f.ErrorAt("route", errors.New("requires at least two sinks: to write some of the records to one sink, use where"))
	}
	errs := []error{p.checkElse()}
	for i := range f.Sinks {
		if !isSound(&f.Sinks[i], sound, "name") {
			return errors.Join(errs...) // the names of the sinks are not known
		}
	}
	named := map[string]bool{}
	for i := range f.Route {
		names, key := f.Route[i].Targets()
		for k, name := range names {
			named[name] = true
			if !slices.Contains(p.sinkNames, name) {
				errs = append(errs, f.ErrorAt(fmt.Sprintf("route[%d].%s[%d]", i, key, k), p.unknownSink(name)))
			}
		}
	}
	for _, c := range each(f.Sinks) {
		if !named[c.Name] {
			errs = append(errs, f.ErrorAt(c.Path(), fmt.Errorf("no branch of route names the sink %q, so it would get no records: add it to a branch or remove it", c.Name)))
		}
	}
	return errors.Join(errs...)
}

// checkElse checks that the last branch, and no other, is else.
func (p *plan) checkElse() error {
	var errs []error
	last := len(p.file.Route) - 1
	for i := range p.file.Route {
		if path := fmt.Sprintf("route[%d]", i); p.file.Route[i].IsElse() != (i == last) {
			if i < last {
				errs = append(errs, p.file.ErrorAt(path+".else", errors.New("must be the last branch: it matches all records, so later branches would get none")))
				continue
			}
			errs = append(errs, p.file.ErrorAt(path, errors.New("the last branch must be else: the names of the sinks for records that no other branch matches, or [] to drop these records")))
		}
	}
	return errors.Join(errs...)
}

// unknownSink returns the error for a name that no sink has.
func (p *plan) unknownSink(name string) error {
	hint := ""
	if near := suggest.Nearest(p.sinkNames, name); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Errorf("unknown sink %q%s; sinks: %s", name, hint, strings.Join(p.sinkNames, ", "))
}

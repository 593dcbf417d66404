package daemon

import (
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
func (k *checker) checkRoute() {
	f := k.file
	if len(f.Route) == 0 || !k.sound("route") {
		return
	}
	if len(f.Sinks) == 1 {
		k.wrong("route", "requires at least two sinks: to write some of the records to one sink, use where")
		return
	}
	k.checkElse()
	for i := range f.Sinks {
		if !k.isSound(&f.Sinks[i], "name") {
			return // the names of the sinks are not known
		}
	}
	named := map[string]bool{}
	for i := range f.Route {
		names, key := f.Route[i].Targets()
		for n, name := range names {
			named[name] = true
			if !slices.Contains(k.sinkNames, name) {
				k.wrong(fmt.Sprintf("route[%d].%s[%d]", i, key, n), k.unknownSink(name))
			}
		}
	}
	for _, c := range each(f.Sinks) {
		if !named[c.Name] {
			k.wrong(c.Path(), fmt.Sprintf("no branch of route names the sink %q, so it would get no records: add it to a branch or remove it", c.Name))
		}
	}
}

// checkElse checks that the last branch, and no other, is else.
func (k *checker) checkElse() {
	last := len(k.file.Route) - 1
	for i := range k.file.Route {
		switch path := fmt.Sprintf("route[%d]", i); {
		case k.file.Route[i].IsElse() == (i == last):
		case i < last:
			k.wrong(path+".else", "must be the last branch: it matches all records, so later branches would get none")
		default:
			k.wrong(path, "the last branch must be else: the names of the sinks for records that no other branch matches, or [] to drop these records")
		}
	}
}

// unknownSink returns the error for a name that no sink has.
func (p *plan) unknownSink(name string) string {
	hint := ""
	if near := suggest.Nearest(p.sinkNames, name); near != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Sprintf("unknown sink %q%s; sinks: %s", name, hint, strings.Join(p.sinkNames, ", "))
}

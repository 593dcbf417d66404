package table

import (
	"errors"
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file reads the columns that hold attributes.

// An attrColumn is a column that may hold an attribute.
type attrColumn struct {
	column
	attr  locate.AttrID
	unit  int8
	given bool   // Config.Map names it
	fold  string // the result of Fold for one of the usual names
}

// setAttrs sets the columns that may hold attributes.
func (t *Reader) setAttrs(c *locate.Settings) error {
	var errs []error
	for _, n := range c.NamedFields() {
		a := attrColumn{attr: n.Attr, unit: n.Unit, given: n.Given, fold: locate.Fold(n.Name)}
		if n.Given {
			var err error
			a.column, err = parseColumn(n.Name)
			errs = append(errs, locate.About("Map", err))
		}
		t.attrs = append(t.attrs, a)
	}
	return errors.Join(errs...)
}

// mapsNames reports whether Config.Map gives a column by name.
func (t *Reader) mapsNames() bool {
	return slices.ContainsFunc(t.attrs, func(a attrColumn) bool { return a.given && a.name != nil })
}

// attrSources returns the columns with attributes in a table whose header has
// the given names.
func (t *Reader) attrSources(names []string) (sources []locate.Source) {
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = locate.Fold(name)
	}
	for _, a := range t.attrs {
		i := a.index
		switch {
		case !a.given:
			i = slices.Index(folded, a.fold)
		case a.name != nil:
			i = slices.Index(names, string(a.name))
		}
		if i >= 0 {
			sources = append(sources, locate.Source{Use: locate.UseAttr + locate.Use(a.attr), Unit: a.unit, Value: i})
		}
	}
	return sources
}

// setAttrColumns sets the columns with attributes for a header with the given
// names.
func (l *Locator) setAttrColumns(names []string) {
	l.attrComposer.Sources = l.attrSources(names)
	last := -1
	for _, s := range l.attrComposer.Sources {
		last = max(last, s.Value)
	}
	l.attrValues = make([]locate.FieldValue, last+1)
}

// readAttrs adds the attributes of a record.
func (l *Locator) readAttrs(f *locate.Found, body []byte) {
	clear(l.attrValues)
	syntax := l.Of(body)
	for i, pos := 0, 0; pos <= len(body) && i < len(l.attrValues); i++ {
		s, d, next, ok := syntax.cell(body, pos)
		if !ok {
			break
		}
		if v := &l.attrValues[i]; !l.isNull(body, s, d) {
			v.Span, v.Kind, v.Dialect = s, locate.ValueText, d
			if s.End == s.Start {
				v.Kind = locate.ValueEmpty
			}
		}
		pos = next
	}
	l.attrComposer.Attach(f, body, l.attrValues)
}

// Attributes implements [locate.Attributed]. A header names columns: see AttributesIn.
func (t *Reader) Attributes() uint16 {
	if t.Named {
		return locate.AllAttrs
	}
	return t.attributes(nil)
}

// AttributesIn implements [locate.HeadAttributed].
func (t *Reader) AttributesIn(head []byte) uint16 {
	if !t.Named {
		return t.attributes(nil)
	}
	return t.attributes(t.columnNames(head))
}

// attributes returns the attributes of records below a header with the given
// names. They always include AttrVHost, because the base can name the column
// with the host.
func (t *Reader) attributes(names []string) uint16 {
	all := locate.AttrsOf(locate.AttrVHost)
	for _, s := range t.attrSources(names) {
		all |= locate.AttrsOf(s.Use.Attr())
	}
	return all
}

// Mapped implements [locate.Mapped].
func (*Reader) Mapped() {}

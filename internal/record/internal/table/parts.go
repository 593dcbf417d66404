package table

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file holds the part of Reader and Locator that composes a URL
// of the cells of several columns.

// setParts sets the composer from c.URL.
func (t *Reader) setParts(c *locate.Settings) error {
	errs := c.URL.Check(c)
	t.Composer = &locate.Composer{Whole: locate.RoleURL, Stop: t.Sep}
	for i, p := range locate.URLPartIDs {
		for _, field := range *c.URL.Lists()[i] {
			col, err := parseColumn(field)
			errs = append(errs, locate.About("URL", err))
			value := slices.IndexFunc(t.parts, func(p column) bool { return p.index == col.index && string(p.name) == string(col.name) })
			if value < 0 {
				value = len(t.parts)
				t.parts = append(t.parts, col)
			}
			t.Composer.Sources = append(t.Composer.Sources, locate.Source{Use: p, Unit: 0, Value: value})
		}
	}
	return errors.Join(errs...)
}

// checkParts returns an error for each part of the URL whose columns are all missing
// from the header.
func (t *Reader) checkParts(names []string) (errs []error) {
	if t.Composer == nil {
		return nil
	}
	for i, p := range locate.URLPartIDs {
		var missing []string
		found := false
		for _, s := range t.Composer.Sources {
			if c := t.parts[s.Value]; s.Use != p {
				continue
			} else if c.name == nil || slices.Contains(names, string(c.name)) {
				found = true
			} else {
				missing = append(missing, string(c.name))
			}
		}
		if found || missing == nil {
			continue
		}
		errs = append(errs, locate.About("URL", missingColumn(names, missing[0], locate.PartNames[i])))
	}
	return errs
}

// missingColumn returns an error if names, taken from a header, lack the column
// called name. use says what the column would hold.
func missingColumn(names []string, name, use string) error {
	if slices.Contains(names, name) {
		return nil
	}
	err := fmt.Errorf("no column %q in the header, for %s", name, use)
	if near := suggest.Nearest(names, name); near != "" {
		err = fmt.Errorf("%w (did you mean %q?)", err, near)
	}
	return err
}

// setWanted sets l.Wanted for the current header.
func (l *Locator) setWanted() {
	l.Wanted = l.Wanted[:0]
	for value, c := range l.parts {
		i := l.resolve(c)
		for len(l.Wanted) <= i {
			l.Wanted = append(l.Wanted, -1)
		}
		if i >= 0 {
			l.Wanted[i] = value
		}
	}
}

// locateParts is Locate for a composed URL.
func (l *Locator) locateParts(f *locate.Found, body []byte) (locate.Reason, int) {
	clear(l.values)
	syntax := l.Of(body)
	for i, pos := 0, 0; pos <= len(body) && (i < len(l.Wanted) || l.extends); i++ {
		s, d, next, ok := syntax.cell(body, pos)
		if !ok {
			return locate.Unparsed, pos
		}
		if i < len(l.Wanted) && l.Wanted[i] >= 0 {
			l.setValue(l.Wanted[i], s, syntax.urlDialect(body, s, d))
		}
		pos = next
	}
	return l.Composer.Compose(f, body, l.values)
}

// setValue sets value i to the content of a cell.
func (l *Locator) setValue(i int, s locate.Span, d *locate.Dialect) {
	v := &l.values[i]
	if v.Span, v.Kind, v.Dialect = s, locate.ValueText, d; s.End == s.Start {
		v.Kind = locate.ValueEmpty
	}
}

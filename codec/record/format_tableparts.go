package record

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// This file holds the part of tableReader and tableLocator that composes a URL
// of the cells of several columns.

// setParts sets the composer from c.URL.
func (t *tableReader) setParts(c *Config) error {
	errs := c.URL.check(c)
	t.composer = &composer{whole: roleURL, stop: t.sep}
	for i, p := range urlParts {
		for _, field := range *c.URL.lists()[i] {
			col, err := parseColumn(field)
			errs = append(errs, in("URL", err))
			value := slices.IndexFunc(t.parts, func(p column) bool { return p.index == col.index && string(p.name) == string(col.name) })
			if value < 0 {
				value = len(t.parts)
				t.parts = append(t.parts, col)
			}
			t.composer.sources = append(t.composer.sources, source{p, 0, value})
		}
	}
	return errors.Join(errs...)
}

// checkParts returns an error for each part none of whose columns is in the
// header.
func (t *tableReader) checkParts(names []string) (errs []error) {
	if t.composer == nil {
		return nil
	}
	for i, p := range urlParts {
		var missing []string
		found := false
		for _, s := range t.composer.sources {
			if c := t.parts[s.value]; s.part != p {
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
		err := fmt.Errorf("no column %q in the header, for %s", missing[0], partNames[i])
		if near := suggest.Nearest(names, missing[0]); near != "" {
			err = fmt.Errorf("%w (did you mean %q?)", err, near)
		}
		errs = append(errs, in("URL", err))
	}
	return errs
}

// setWanted sets l.wanted for the current header.
func (l *tableLocator) setWanted() {
	l.wanted = l.wanted[:0]
	for value, c := range l.parts {
		i := l.resolve(c)
		for len(l.wanted) <= i {
			l.wanted = append(l.wanted, -1)
		}
		if i >= 0 {
			l.wanted[i] = value
		}
	}
}

// locateParts is Locate for a composed URL.
func (l *tableLocator) locateParts(f *Found, body []byte) (Reason, int) {
	clear(l.values)
	syntax := l.of(body)
	for i, pos := 0, 0; pos <= len(body) && (i < len(l.wanted) || l.extends); i++ {
		s, d, next, ok := syntax.cell(body, pos)
		if !ok {
			return Unparsed, pos
		}
		if i < len(l.wanted) && l.wanted[i] >= 0 {
			l.setValue(l.wanted[i], s, d)
		}
		pos = next
	}
	return l.composer.compose(f, body, l.values)
}

// setValue sets value i to the content of a cell.
func (l *tableLocator) setValue(i int, s span, d *Dialect) {
	v := &l.values[i]
	if v.span, v.kind, v.dialect = s, valueText, d; s.end == s.start {
		v.kind = valueEmpty
	}
}

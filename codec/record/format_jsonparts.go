package record

import "errors"

// partsReader reads JSON texts whose URLs are composed of several fields.
type partsReader struct {
	*jsonReader
	tree     fieldTree
	composer composer
}

// openParts returns a reader for jsonl with c.URL.
func openParts(c *Config) (Reader, error) {
	r := &partsReader{composer: composer{whole: roleURL}}
	errs := append(c.URL.check(c), c.refuseDialect())
	errs = append(errs, r.addParts(&c.URL)...)
	r.jsonReader = &jsonReader{}
	r.setExtensions(c)
	return r, errors.Join(errs...)
}

// addParts adds the fields that u names.
func (r *partsReader) addParts(u *URLParts) (errs []error) {
	for i, p := range urlParts {
		for _, field := range *u.lists()[i] {
			path, err := parsePath(field)
			if errs = append(errs, in("URL", err)); err == nil {
				r.addSource(p, path, 0)
			}
		}
	}
	return errs
}

// addSource adds a field that may hold a part.
func (r *partsReader) addSource(p part, path []step, unit int8) {
	r.composer.sources = append(r.composer.sources, source{p, unit, r.tree.add(path)})
}

// Locator implements [Reader].
func (r *partsReader) Locator() Locator {
	return &partsLocator{jsonLocator: jsonLocator{jsonReader: r.jsonReader}, parts: r, values: make([]fieldValue, r.tree.values)}
}

// partsLocator is a partsReader with scratch memory.
type partsLocator struct {
	jsonLocator
	parts  *partsReader
	values []fieldValue
}

// Locate implements [Locator]. It reads all of the record.
func (l *partsLocator) Locate(f *Found, rec []byte, _ *Position) (Reason, int) {
	s := &l.scan
	if l.extends && !l.ownMembers(rec) {
		return Unparsed, s.pos
	}
	clear(l.values)
	s.b, s.pos, s.broken = rec, 0, false
	s.space()
	if l.parts.tree.find(s, l.values); !l.atEnd() {
		return Unparsed, s.pos
	}
	return l.parts.composer.compose(f, rec, l.values)
}

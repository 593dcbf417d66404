package jsonlines

import (
	"bytes"
	"errors"
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// PartsReader reads JSON texts whose URLs are composed of several fields.
type PartsReader struct {
	*Reader
	wrapper
	lean, Full fieldPlan // lean is without attributes, Full with them
}

// fieldPlan says where the fields of a record are and what they hold.
type fieldPlan struct {
	Tree     fieldTree
	composer locate.Composer
}

// addSource adds a field that may hold a part of the URL, or an attribute.
func (p *fieldPlan) addSource(use locate.Use, path []Step, unit int8) {
	p.composer.Sources = append(p.composer.Sources, locate.Source{Use: use, Unit: unit, Value: p.Tree.add(path)})
}

// addAttrs adds the fields that may hold attributes.
func (p *fieldPlan) addAttrs(c *locate.Settings) error {
	for _, n := range c.NamedFields() {
		names := []string{n.Name}
		if !n.Given {
			names = locate.Spellings(n.Name)
		}
		for _, name := range names {
			path, err := ParsePath(name)
			if err != nil {
				return locate.About("Map", err)
			}
			p.addSource(locate.UseAttr+locate.Use(n.Attr), path, n.Unit)
			if len(path) > 1 { // {"src.ip": …} as well as {"src": {"ip": …}}
				p.addSource(locate.UseAttr+locate.Use(n.Attr), []Step{{Name: []byte(name)}}, n.Unit)
			}
		}
	}
	return nil
}

// openParts returns a reader for jsonl with c.URL.
func openParts(c *locate.Settings) (locate.Reader, error) {
	r := &PartsReader{Reader: &Reader{}}
	r.lean.composer.Whole = locate.RoleURL
	errs := append(c.URL.Check(c), c.RefuseDialect(), c.RefuseReferer())
	for i, p := range locate.URLPartIDs {
		for _, field := range *c.URL.Lists()[i] {
			path, err := ParsePath(field)
			if errs = append(errs, locate.About("URL", err)); err == nil {
				r.lean.addSource(p, path, 0)
			}
		}
	}
	r.Full = r.lean
	r.Full.Tree.nodes = r.lean.Tree.clone()
	r.Full.composer.Sources = slices.Clone(r.lean.composer.Sources)
	errs = append(errs, r.Full.addAttrs(c))
	r.setExtensions(c)
	return r, errors.Join(errs...)
}

// Next implements [locate.Reader].
func (r *PartsReader) Next(in []byte) int { return r.wrapper.Next(in) }

// Cut implements [locate.Framing].
func (r *PartsReader) Cut(block []byte) int { return r.wrapper.Cut(block) }

// Head implements [locate.Framing].
func (r *PartsReader) Head(block []byte) int { return r.wrapper.Head(block) }

// Locator implements [locate.Reader].
func (r *PartsReader) Locator() locate.Locator {
	return &PartsLocator{Locator: Locator{Reader: r.Reader}, Parts: r, values: make([]locate.FieldValue, max(r.lean.Tree.Values, r.Full.Tree.Values))}
}

// PartsLocator is a PartsReader with scratch memory.
type PartsLocator struct {
	Locator
	Parts  *PartsReader
	values []locate.FieldValue
	Forms  locate.Forms
}

// plan returns the plan for f.
func (l *PartsLocator) plan(f *locate.Found) *fieldPlan {
	if f.Attrs.Wanted || f.Attrs.Needed != 0 && !l.Parts.Full.composer.Optional {
		return &l.Parts.Full
	}
	return &l.Parts.lean
}

// Locate implements [locate.Locator]. It reads all of the record.
func (l *PartsLocator) Locate(f *locate.Found, rec []byte, _ *locate.Position) (locate.Reason, int) {
	return l.LocateForm(f, rec, l.FormOf(rec))
}

// FormOf implements [locate.Former].
func (l *PartsLocator) FormOf(rec []byte) *locate.Form {
	l.scan.Begin(rec)
	if !l.formed(rec) {
		return nil
	}
	return l.Forms.Match(rec, l.scan.marks)
}

// formed reports whether rec may have a form. Records in an array have no form,
// and neither have records with pairs (see Step.Pair), because the order of
// pairs may change.
func (l *PartsLocator) formed(rec []byte) bool {
	return !l.Parts.Full.Tree.paired && !l.Parts.document && (l.Parts.Member == nil || StandsAlone(rec, l.Parts.Member[0]))
}

// LocateForm implements [locate.Former].
func (l *PartsLocator) LocateForm(f *locate.Found, rec []byte, h *locate.Form) (locate.Reason, int) {
	plan := l.plan(f)
	values, object := l.values[:plan.Tree.Values], locate.Between(0, len(rec))
	switch {
	case h != nil:
		takeJSON(h, values)
	case l.Parts.document && bytes.IndexByte([]byte("]}\""), rec[locate.SkipSpace(rec, 0)]) >= 0:
		f.PassThrough()
		return 0, 0
	default:
		clear(values)
		if object = l.read(plan, values); l.scan.Broken {
			return locate.Unparsed, l.scan.Pos
		}
	}
	if l.extends && !l.ownMembers(rec, object) {
		return locate.Unparsed, l.scan.Pos
	}
	return plan.composer.Compose(f, rec, values)
}

// read stores the values of the record, and returns the range of its object.
func (l *PartsLocator) read(plan *fieldPlan, values []locate.FieldValue) (object locate.Span) {
	s := &l.scan
	s.Pos, s.Broken = 0, false
	wrapped := (l.Parts.Member != nil || l.Parts.document) && l.Parts.unwrap(s)
	if !wrapped {
		s.Space()
	}
	object.Start = s.Pos
	if s.Peek() != '{' && plan.composer.Optional {
		s.Broken = true
		return object
	}
	plan.Tree.Find(s, values)
	object.End = s.Pos
	switch {
	case l.Parts.document:
		return object // the text after the object is not read
	case wrapped && !s.Broken:
		l.Parts.rest(s)
	}
	if l.atEnd() && l.formed(s.B) {
		learnJSON(&l.Forms, s, &plan.composer, values)
	}
	return object
}

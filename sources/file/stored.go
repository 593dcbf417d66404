package file

import (
	"context"
	"fmt"

	"github.com/urlfold/urlfold/internal/storage/objects"
)

// This file reads objects of a store. An object is a file whose content does
// not change: it has a path, a lane, a verdict and restart points like any
// file.

// stored adds the objects that path names.
func (e *expander) stored(path string) {
	var list []objects.Found
	named, err := e.objects.Find(context.Background(), path, nil, func(f objects.Found) { list = append(list, f) })
	if err != nil {
		e.errs = append(e.errs, fmt.Errorf("%s: %w", path, err))
		return
	}
	e.none(path, len(list), "no objects with this key, in this folder or of this glob")
	for i := range list {
		o := &list[i]
		e.keep(o.Path(), named, found{path: o.Path(), rel: o.Rel, object: &o.Object})
	}
}

// openObject opens the object of an input. It must be the version that was
// listed.
func (s *Source) openObject(in *input) (*objects.Reader, error) {
	if early := in.early; early != nil {
		in.early = nil
		o := <-early
		return o.reader, o.err
	}
	return s.cfg.Objects.Open(context.Background(), *in.object)
}

// An openedObject is the result of opening an object early.
type openedObject struct {
	reader *objects.Reader
	err    error
}

// openEarly opens the objects among inputs, because the first answer of a store takes
// longer than the work of Inspect on it.
func (s *Source) openEarly(inputs []*input) {
	for _, in := range inputs {
		if in.object == nil || in.early != nil || in.stream != nil || in.judged {
			continue
		}
		early := make(chan openedObject, 1)
		in.early = early
		go func() {
			r, err := s.cfg.Objects.Open(context.Background(), *in.object)
			early <- openedObject{r, err}
		}()
	}
}

// closeEarly closes the objects that were opened early and are not needed.
func closeEarly(inputs []*input) {
	for _, in := range inputs {
		if in.early == nil {
			continue
		}
		if o := <-in.early; o.err == nil {
			_ = o.reader.Close() // opened for reading only
		}
		in.early = nil
	}
}

// earlyObjects is how many objects are opened early.
const earlyObjects = 8

// Object returns the object at path, or nil if path is a file. It must be called
// after Paths.
func (s *Source) Object(path string) *objects.Object {
	for _, in := range s.inputs {
		if in.path == path {
			return in.object
		}
	}
	return nil
}

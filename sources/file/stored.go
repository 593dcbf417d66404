package file

import (
	"context"
	"fmt"

	"github.com/urlfold/urlfold/internal/storage/objects"
)

// This file reads objects of a store. An object is a file whose content does not
// change: its path, lane, verdict and restart points are those of a file.

// stored adds the objects that path names.
func (e *expander) stored(path string) {
	list, named, err := e.objects.Find(context.Background(), path)
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
	return s.cfg.Objects.Open(context.Background(), *in.object)
}

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

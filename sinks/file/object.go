package file

import (
	"context"
	"fmt"
	"slices"

	"github.com/urlfold/urlfold/internal/storage/objects"
)

// This file writes outputs that are objects of a store. The object appears when
// Publish completes it, as a file does when it is renamed.

// create begins the object at Config.Path.
func (s *sink) create() (err error) {
	if slices.Contains(s.cfg.Inputs, s.cfg.Path) {
		return fmt.Errorf("%s: %w", s.cfg.Path, ErrIsInput)
	}
	// Do not use the context of the run: after an interruption, the upload
	// must still be aborted.
	if s.object, err = s.cfg.Objects.Create(context.Background(), s.cfg.Path, s.cfg.Replace); err != nil {
		return s.explainObject(err)
	}
	s.w = s.object
	return nil
}

// explainObject adds the path to an error of the object.
func (s *sink) explainObject(err error) error {
	switch {
	case err == nil:
		return nil
	case objects.KindOf(err) == objects.Exists:
		return fmt.Errorf("%s: %w", s.cfg.Path, ErrExists)
	}
	return fmt.Errorf("%s: %w", s.cfg.Path, err)
}

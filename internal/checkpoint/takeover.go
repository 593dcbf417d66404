package checkpoint

import (
	"fmt"
	"slices"

	"github.com/urlfold/urlfold/pipeline"
)

// This file is for a process with another configuration than the one before: other
// names for what goes on, or another guarantee.

// Assign gives each entry and each mark to the source or sink that the functions
// return; a mark of which the name is empty is dropped. An entry stays where it is if
// the other source has one of the same lane. It is stored with the next Save.
func (s *Store) Assign(source func(*Entry) string, sink func(pipeline.Mark) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string][]Entry{}
	for was, entries := range s.sources {
		for _, e := range entries {
			name := source(&e)
			if name != was && slices.ContainsFunc(s.sources[name], func(o Entry) bool { return o.ID == e.ID }) {
				name = was
			}
			e.Source = name
			all[name] = append(all[name], e)
		}
	}
	s.sources = all
	marks := s.marks[:0:0]
	for _, m := range s.marks {
		if m.Sink = sink(m); m.Sink != "" {
			marks = append(marks, m)
		}
	}
	s.marks = marks
}

// Cuts reports whether marks belong to the stored progress: what lies behind them in
// an output, and outputs without one, are not covered by it. Without cuts they may be.
// If there is no progress, that is said of no output.
func (s *Store) Cuts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cuts || s.empty()
}

// empty reports whether there is no progress. The caller holds mu.
func (s *Store) empty() bool {
	for _, entries := range s.sources {
		if len(entries) > 0 {
			return false
		}
	}
	return true
}

// SetCuts says whether the progress that is stored from now on has marks. If that is
// another thing than before it is stored at once; without cuts all marks are dropped.
func (s *Store) SetCuts(on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cuts == on {
		return nil
	}
	before := s.cuts
	marks := s.marks
	if !on {
		marks = nil
	}
	s.cuts = on
	if s.empty() && len(s.marks) == 0 {
		return nil // there is nothing that it could be said of
	}
	named, err := s.commit(nil, marks)
	if err != nil {
		s.cuts = before
		return fmt.Errorf("cannot store the progress: %w", err)
	}
	s.marks, s.named = marks, named
	return nil
}

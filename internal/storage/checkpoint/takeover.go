package checkpoint

import (
	"github.com/urlfold/urlfold/pipeline"
)

// This file is for a process with another configuration than the one before: other
// names for what goes on, or another guarantee.

// Assign gives each entry and each extent to the source or sink that the functions
// return; an extent for which the name is empty is dropped. An entry stays where it
// is if the other source has one of the same lane. What changes is stored at once.
func (s *Store) Assign(source func(*Entry) string, sink func(pipeline.Extent) string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, refs := new(change), map[entryKey]int64{}
	for was, lines := range s.st.sources {
		for id, text := range lines {
			e, err := parseEntry(text)
			if err != nil {
				return err
			}
			name := source(&e)
			if _, taken := s.st.sources[name][id]; name == was || taken {
				continue
			}
			e.Source = name
			if text, err = lineOf(e); err != nil {
				return err
			}
			c.gone = append(c.gone, item{source: was, id: id})
			c.put = append(c.put, item{name, id, text})
			refs[entryKey{was, id}], refs[entryKey{name, id}] = 0, e.Restart
		}
	}
	for k, n := range s.st.extents {
		m := pipeline.Extent{Sink: k.sink, Lane: k.lane, Path: k.path, Length: n}
		name := sink(m)
		if name == k.sink {
			continue
		}
		c.dropped = append(c.dropped, k)
		if m.Sink = name; name != "" {
			c.extents = append(c.extents, m)
		}
	}
	return note(&s.saveErr, s.commit(c, refs, nil))
}

// Cuts reports whether extents belong to the checkpoint: what lies after them in
// an output, and outputs without one, are not covered by it. Without cuts they may be.
// If there is no checkpoint, that is said of no output.
func (s *Store) Cuts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.cuts || len(s.st.extents) > 0 || s.st.empty()
}

// SetCuts says whether the checkpoint that is stored from now on has extents. If that is
// another thing than before it is stored at once; without cuts all extents are dropped.
func (s *Store) SetCuts(on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.cuts == on && (on || len(s.st.extents) == 0) {
		return nil
	}
	if s.st.empty() && len(s.st.extents) == 0 && !s.w.stored {
		s.st.cuts = on // the first snapshot says so
		return nil
	}
	c := &change{cuts: &on}
	if !on {
		for k := range s.st.extents {
			c.dropped = append(c.dropped, k)
		}
	}
	return note(&s.saveErr, s.commit(c, nil, nil))
}

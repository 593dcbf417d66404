package checkpoint

import (
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file handles a restart with a different configuration: components with
// new names, or a different delivery guarantee.

// Assign moves each entry to the source, and each extent to the sink, that the
// functions return. It drops an extent for which sink returns "". An entry
// stays with its old source if the new one already has an entry for the same
// lane. When Assign returns, the changes are stored.
func (s *Store) Assign(source func(*Entry) string, sink func(engine.Extent) string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, refs := new(change), map[entryKey]int64{}
	for was, l := range s.st.sources {
		for id, text := range l.all() {
			e, err := parseEntry(text)
			if err != nil {
				return err
			}
			name := source(&e)
			if name == was || s.st.sources[name].has(id) {
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
	for k, m := range s.st.extents {
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

// Cuts reports whether the checkpoint includes output extents. If it does,
// bytes after an extent and outputs without an extent are not covered by the
// checkpoint; if it does not, they may be. Cuts returns true if there is no
// checkpoint.
func (s *Store) Cuts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.st.cuts || len(s.st.extents) > 0 || s.st.empty()
}

// SetCuts sets whether the checkpoint includes extents from now on. A changed
// setting is stored immediately; turning it off drops all extents.
func (s *Store) SetCuts(on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.st.cuts == on && (on || len(s.st.extents) == 0) {
		return nil
	}
	if s.st.empty() && len(s.st.extents) == 0 && !s.w.stored {
		s.st.cuts = on // the first snapshot stores it
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

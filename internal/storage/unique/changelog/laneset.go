package changelog

import (
	"errors"
	"iter"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A laneSet is the set of one lane. With windows, it is divided into groups of
// successive windows, which are forgotten as a whole.
type laneSet struct {
	partition int
	step      uint32 // windows in a group; 0: no windows
	open      func() *keyset.Set

	mu     sync.Mutex
	groups map[uint32]*keyset.Set // by window / step
	over   []*keyset.Set          // groups whose entries are being removed
	walk   *walk                  // the walk over the keys of over[0]
	err    error                  // the set is damaged, or dropped
}

// A walk yields the keys of a set that is not changed any more, in pieces.
type walk struct {
	next func() (keyset.Key, error, bool)
	stop func()
	keys []keyset.Key // the current piece
}

// groupOf returns the group of a window.
func (s *laneSet) groupOf(window uint32) uint32 {
	if s.step == 0 {
		return 0
	}
	return window / s.step
}

// has reports whether k is in the group.
func (s *laneSet) has(k keyset.Key, group uint32) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.groups[group]
	if s.err != nil || set == nil {
		return false, s.err
	}
	return set.Has(k)
}

// add adds keys to a group. An error makes s unusable.
func (s *laneSet) add(keys []keyset.Key, group uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	set := s.groups[group]
	if set == nil {
		set = s.open()
		s.groups[group] = set
	}
	s.err = set.Add(keys, make([]bool, len(keys)))
	return s.err
}

// addFirsts adds the keys of firsts.
func (s *laneSet) addFirsts(firsts []engine.FirstKey) error {
	byGroup := map[uint32][]keyset.Key{}
	for _, f := range firsts {
		g := s.groupOf(f.Window)
		byGroup[g] = append(byGroup[g], keyset.KeyOf(f.Key.Uint64s()))
	}
	for g, keys := range byGroup {
		if err := s.add(keys, g); err != nil {
			return err
		}
	}
	return nil
}

// retire gives up the groups whose windows are all before least: nobody asks for
// their keys any more.
func (s *laneSet) retire(least uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for g, set := range s.groups {
		if s.step > 0 && (uint64(g)+1)*uint64(s.step) <= uint64(least) {
			delete(s.groups, g)
			s.over = append(s.over, set)
		}
	}
}

// piece returns up to n keys of the groups that were given up, or nil if
// there are none. It returns the same keys until forgotten is called. It may
// return a key more than once.
func (s *laneSet) piece(n int) ([]keyset.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && len(s.over) > 0 {
		if s.walk == nil {
			next, stop := iter.Pull2(s.over[0].Keys())
			s.walk = &walk{next: next, stop: stop}
		}
		if err := s.walk.fill(n); err != nil {
			s.err = err
		} else if len(s.walk.keys) > 0 {
			return s.walk.keys, nil
		} else {
			s.walk = nil
			s.err = s.over[0].Close()
			s.over = s.over[1:]
		}
	}
	if errors.Is(s.err, errDropped) {
		return nil, nil
	}
	return nil, s.err
}

// fill reads keys until the piece of w has n keys, or the set has no more.
func (w *walk) fill(n int) error {
	for len(w.keys) < n {
		k, err, ok := w.next()
		if err != nil || !ok {
			return err
		}
		w.keys = append(w.keys, k)
	}
	return nil
}

// forgotten declares that the entries of the piece are removed.
func (s *laneSet) forgotten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.walk != nil {
		s.walk.keys = nil
	}
}

// errDropped is the error of a set that was dropped.
var errDropped = errors.New("the set of keys was dropped")

// all returns all sets of s. The caller holds mu.
func (s *laneSet) all() iter.Seq[*keyset.Set] {
	return func(yield func(*keyset.Set) bool) {
		for _, set := range s.groups {
			if !yield(set) {
				return
			}
		}
		for _, set := range s.over {
			if !yield(set) {
				return
			}
		}
	}
}

// len returns the number of keys, including the keys that are being removed.
func (s *laneSet) len() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for set := range s.all() {
		n += set.Len()
	}
	return n
}

// bytes returns the memory and the disk space of s.
func (s *laneSet) bytes() (memory, disk int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for set := range s.all() {
		m, d := set.Bytes()
		memory, disk = memory+m, disk+d
	}
	return memory, disk
}

// close releases the memory and the files of s.
func (s *laneSet) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errDropped
	if s.walk != nil {
		s.walk.stop()
	}
	var errs []error
	for set := range s.all() {
		errs = append(errs, set.Close())
	}
	s.walk, s.groups, s.over = nil, nil, nil
	return errors.Join(errs...)
}

package file

import (
	"context"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline"
)

// This file stores checkpoints. An entry in memory never runs ahead of the store: it
// is set when what it says was stored, so that whoever stores next, for whatever
// reason, stores no watermark without the extents that go with it.

// Commit implements [pipeline.Committer].
func (w *watcher) Commit(_ context.Context, ups []pipeline.LanePos) error {
	return w.save(ups, nil, false, nil)
}

// Keep implements [pipeline.Keeper].
func (w *watcher) Keep() error { return w.cfg.Store.Keep() }

// CommitCut implements [pipeline.CutCommitter].
func (w *watcher) CommitCut(_ context.Context, ups []pipeline.LanePos, extents []pipeline.Extent) error {
	return w.save(ups, extents, true, nil)
}

// touch notes that what the store holds of t may not be as t is. The caller holds
// mu.
func (w *watcher) touch(t *track) {
	if !t.unsaved {
		t.unsaved = true
		w.unsaved = append(w.unsaved, t)
	}
}

// save stores watermarks, what has changed about tracks since the last save, and
// extents if cut is set, and forgets the unsaved marks of lanes that are finished. Its cost
// does not depend on how many tracks there are.
func (w *watcher) save(ups []pipeline.LanePos, extents []pipeline.Extent, cut bool, forget []string) error {
	w.saving.Lock()
	defer w.saving.Unlock()
	u := checkpoint.Update{Source: w.cfg.Name, Cut: cut, Extents: extents, Forget: forget, Points: map[int64][]byte{}}
	w.mu.Lock()
	moved := map[*track]checkpoint.Entry{}
	for _, up := range ups {
		if t := w.byLane[up.Lane]; t != nil {
			moved[t] = t.commit(up.Pos.A)
			if up.Withdrawn {
				moved[t] = withdrawn(moved[t])
			}
			w.touch(t)
		}
	}
	changed, forgotten := w.takeUnsaved()
	for _, t := range changed {
		e, ok := moved[t]
		if !ok {
			e = t.entry.entry()
		}
		if e.Offset == 0 && t.state == checkpoint.Reading && e.State != checkpoint.Quarantined {
			u.Gone = append(u.Gone, t.id) // a restart finds it as if it were new
			continue
		}
		e = t.describe(e, w.cfg.Name)
		t.addPoint(e.Restart, u.Points)
		u.Entries = append(u.Entries, e)
	}
	for _, id := range forgotten {
		if !w.ids[id] { // no other track has it now
			u.Gone = append(u.Gone, id)
		}
	}
	w.mu.Unlock()

	err := w.cfg.Store.Save(u)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		for _, t := range changed {
			w.touch(t)
		}
		w.forgotten = append(w.forgotten, forgotten...)
		return err
	}
	for t, e := range moved {
		t.entry = keptOf(e)
	}
	for _, t := range changed {
		t.dropPoints()
		for i := range t.points {
			t.points[i].stored = t.points[i].stored || u.Points[t.points[i].id] != nil
		}
	}
	return nil
}

// withdrawn returns e with the state of a file of which nothing more is emitted.
func withdrawn(e checkpoint.Entry) checkpoint.Entry {
	e.State = checkpoint.Quarantined
	return e
}

// takeUnsaved returns the tracks that are to be saved, and the ids that are to be
// forgotten. The caller holds mu.
func (w *watcher) takeUnsaved() (changed []*track, forgotten []string) {
	for _, t := range w.unsaved {
		if t.unsaved = false; !t.expired {
			changed = append(changed, t)
		}
	}
	forgotten = w.forgotten
	w.unsaved, w.forgotten = nil, nil
	return changed, forgotten
}

// addPoint adds the restart point with that id to m, unless it is stored already.
func (t *track) addPoint(id int64, m map[int64][]byte) {
	for i := range t.points {
		if p := &t.points[i]; p.id == id && !p.stored {
			m[id], _ = p.p.AppendBinary(nil) // it never fails
		}
	}
}

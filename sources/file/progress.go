package file

import (
	"context"

	"github.com/urlfold/urlfold/internal/checkpoint"
	"github.com/urlfold/urlfold/pipeline"
)

// This file stores progress. An entry in memory never runs ahead of the store: it
// is set when what it says was stored, so that whoever stores next, for whatever
// reason, stores no watermark without the marks that go with it.

// Commit implements [pipeline.Committer].
func (w *Watcher) Commit(_ context.Context, ups []pipeline.LanePos) error {
	return w.save(ups, nil, false, nil)
}

// CommitCut implements [pipeline.CutCommitter].
func (w *Watcher) CommitCut(_ context.Context, ups []pipeline.LanePos, marks []pipeline.Mark) error {
	return w.save(ups, marks, true, nil)
}

// save stores watermarks, and marks if cut is set, and forgets the marks of lanes
// that are finished.
func (w *Watcher) save(ups []pipeline.LanePos, marks []pipeline.Mark, cut bool, forget []string) error {
	w.saving.Lock()
	defer w.saving.Unlock()
	u := checkpoint.Update{Source: w.cfg.Name, Cut: cut, Marks: marks, Forget: forget, Points: map[int64][]byte{}}
	w.mu.Lock()
	moved := map[*track]checkpoint.Entry{}
	for _, up := range ups {
		if t := w.byLane[up.Lane]; t != nil {
			moved[t] = t.commit(up.Pos.A)
		}
	}
	for _, t := range w.tracks {
		e, ok := moved[t]
		if !ok {
			e = t.entry
		}
		if e.Offset == 0 && t.state == checkpoint.Reading {
			continue // a restart finds it as if it were new
		}
		e = t.describe(e, w.cfg.Name)
		t.addPoint(e.Restart, u.Points)
		u.Entries = append(u.Entries, e)
	}
	w.dirty = false
	w.mu.Unlock()

	err := w.cfg.Store.Save(u)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.dirty = true
		return err
	}
	for t, e := range moved {
		t.entry = e
	}
	for _, t := range w.tracks {
		t.dropPoints()
		for i := range t.points {
			t.points[i].stored = t.points[i].stored || u.Points[t.points[i].id] != nil
		}
	}
	return nil
}

// addPoint adds the restart point with that id to m, unless it is stored already.
func (t *track) addPoint(id int64, m map[int64][]byte) {
	for i := range t.points {
		if p := &t.points[i]; p.id == id && !p.stored {
			m[id], _ = p.p.AppendBinary(nil) // it never fails
		}
	}
}

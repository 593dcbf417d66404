package file

import (
	"context"
	"maps"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file stores checkpoints. An entry in memory changes only after the
// change is in the store. Every save, whatever its cause, therefore stores
// watermarks together with the extents that belong to them.

// Commit implements [engine.Committer].
func (w *watcher) Commit(_ context.Context, ups []engine.LanePos) error {
	return w.progress.save(ups, checkpoint.Update{})
}

// Keep implements [engine.Keeper].
func (w *watcher) Keep() error { return w.cfg.Store.Keep() }

// CommitCut implements [engine.CutCommitter].
func (w *watcher) CommitCut(_ context.Context, ups []engine.LanePos, extents []engine.Extent) error {
	return w.progress.save(ups, checkpoint.Update{Cut: true, Extents: extents})
}

// CommitKeys implements [engine.KeyCommitter].
func (w *watcher) CommitKeys(_ context.Context, cut engine.KeyCut) error {
	return w.progress.save(cut.Ups, checkpoint.Update{Cut: cut.Exact, Extents: cut.Extents, Keys: cut.Keys})
}

// A progress holds what is not in the store yet, and the track of each lane.
type progress struct {
	cfg      *WatchConfig
	known    *catalog
	finished *finished
	saving   sync.Mutex // serializes save; locked before mu

	mu        *sync.Mutex // lock of the watcher; guards the fields below
	byLane    map[*engine.Lane]*track
	unsaved   []*track // tracks that may differ from their entries in the store
	forgotten []string // ids of tracks to remove from the store
}

// touch records that t differs from its entry in the store. The caller holds mu.
func (p *progress) touch(t *track) {
	if !t.unsaved {
		t.unsaved = true
		p.unsaved = append(p.unsaved, t)
	}
}

// save stores watermarks, the tracks that changed since the last save, and
// everything else that is in u. Its cost does not depend on the number of tracks.
func (p *progress) save(ups []engine.LanePos, u checkpoint.Update) error {
	p.saving.Lock()
	defer p.saving.Unlock()
	u.Source, u.Points = p.cfg.Name, map[int64][]byte{}
	p.mu.Lock()
	u.Missing, p.finished.missing = p.finished.missing, map[string]int64{}
	moved := map[*track]checkpoint.Entry{}
	for _, up := range ups {
		if t := p.byLane[up.Lane]; t != nil {
			moved[t] = t.commit(up.Pos.A)
			if up.Withdrawn {
				moved[t] = withdrawn(moved[t])
			}
			p.touch(t)
		}
	}
	var changed []*track
	for _, t := range p.unsaved {
		if t.unsaved = false; !t.expired {
			changed = append(changed, t)
		}
	}
	forgotten := p.forgotten
	p.unsaved, p.forgotten = nil, nil
	for _, t := range changed {
		e, ok := moved[t]
		if !ok {
			e = t.entry.entry()
		}
		if e.Offset == 0 && t.end.state == checkpoint.Reading && e.State != checkpoint.Quarantined {
			u.Gone = append(u.Gone, t.id) // after a restart the file counts as new
			continue
		}
		e = p.describe(t, e)
		for i := range t.points {
			if p := &t.points[i]; p.id == e.Restart && !p.stored {
				u.Points[e.Restart], _ = p.p.AppendBinary(nil) // never fails
			}
		}
		u.Entries = append(u.Entries, e)
	}
	for _, id := range forgotten {
		if !p.known.ids[id] { // no other track uses the id
			u.Gone = append(u.Gone, id)
		}
	}
	p.mu.Unlock()

	err := p.cfg.Store.Save(u)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		for _, t := range changed {
			p.touch(t)
		}
		p.forgotten = append(p.forgotten, forgotten...)
		maps.Copy(u.Missing, p.finished.missing) // newer
		p.finished.missing = u.Missing
		return err
	}
	for t, e := range moved {
		t.entry = keptOf(e)
	}
	for _, t := range changed {
		// Drop the restart points before the restart point of the entry.
		for len(t.points) > 1 && t.points[0].id != t.entry.Restart && t.points[1].p.Offset() <= t.entry.Offset-tailLen(t.entry.Offset) {
			t.points = t.points[1:]
		}
		for i := range t.points {
			t.points[i].stored = t.points[i].stored || u.Points[t.points[i].id] != nil
		}
	}
	return nil
}

// describe fills in the fields of the entry of t besides the position.
func (p *progress) describe(t *track, e checkpoint.Entry) checkpoint.Entry {
	e = t.describe(e, p.cfg.Name)
	if p.cfg.Objects != nil && e.State == checkpoint.Done {
		return brief(e)
	}
	return e
}

// withdrawn returns e in state Quarantined: nothing more of its file is
// emitted.
func withdrawn(e checkpoint.Entry) checkpoint.Entry {
	e.State = checkpoint.Quarantined
	return e
}

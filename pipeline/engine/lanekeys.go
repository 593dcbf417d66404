package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/urlfold/urlfold/codec"
)

// The lanes of a consumer group move between processes, so their keys must move
// with them: each lane has a separate set outside the process. The set and the
// position of its lane cannot be stored in one step. Instead, a commit stores
// the keys first, with the position of each first record:
//
//	committer: watermarks and keys at the cut · Seal · Commit · Stored · Forget
//	new owner: position of the lane · Load: the keys before that position · read
//
// Keys whose position was not stored are ignored by the next owner, which reads their
// records again. With windows, Commit also stores the clock of the lane as the note of
// its position, so the next owner judges each record as this owner did. A window is
// forgotten only when a stored note says that the window is over, because an owner that
// reads from an earlier position still needs its keys.

// A LaneKeySet holds a set of keys for each lane, in a store that all processes
// share. Methods are called for several lanes at the same time.
type LaneKeySet interface {
	// Load reads the set of l: the keys whose first records lie before from. The
	// source calls it, through [Lane.LoadKeys].
	Load(ctx context.Context, l *Lane, from Position) error
	// Has reports whether k, a key of a window, is in the set of l. Without
	// windows, window is 0. An error ends the run.
	Has(l *Lane, k codec.Key, window uint32) (bool, error)
	// Seal stores firsts, which are durable in every sink. If the position after
	// them is not stored, the next call may contain them again.
	Seal(ctx context.Context, l *Lane, firsts []FirstKey) error
	// Stored declares that the position after firsts is stored. It adds them to
	// the set that Has asks. It does nothing if the set was dropped.
	Stored(l *Lane, firsts []FirstKey) error
	// Forget declares that the stored position is past the windows before
	// least: no process will ask for their keys again. The set may keep some of
	// these keys until a later call. It does nothing if the set was dropped.
	Forget(ctx context.Context, l *Lane, least uint32) error
	// Drop releases the set of l, which was revoked.
	Drop(l *Lane)
}

// A FirstKey is a key and the position of its first record.
type FirstKey struct {
	Key    codec.Key
	At     int64  // Position.A of the message; for text, of the last record of its batch
	Window uint32 // 0 without windows
}

// LoadKeys loads the keys of the lane before from, the position at which the
// source is about to read. Without a [LaneKeySet] it does nothing. The source
// calls it before the first Emit, but only once it knows that no other process
// can store a position of the lane any more. note is the note that is stored
// with that position. The note is empty if another position is stored, or a
// position without a note.
func (l *Lane) LoadKeys(ctx context.Context, from Position, note string) error {
	if !l.KeepsKeys() {
		return nil
	}
	d := l.decisions
	if err := d.lanes.Load(ctx, l, from); err != nil || d.window == nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	l.windows = windowsFrom(d.window, note, &d.passed)
	return nil
}

// KeepsKeys reports whether the pipeline has a [LaneKeySet]. The source must
// store positions only in Commit then, because the keys before a watermark may
// not be stored before the call of Commit. A source that reads a lane again
// from an earlier position revokes it and loads its keys.
func (l *Lane) KeepsKeys() bool { return l.decisions != nil && l.decisions.lanes != nil }

// AwaitCommit asks for a commit and waits until the watermark is stored, no more
// commits are made, or ctx is done. The lane must keep keys.
func (l *Lane) AwaitCommit(ctx context.Context) {
	c := l.decisions.commits
	c.soon()
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for l.unstored() {
		select {
		case <-t.C:
		case <-c.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// unstored reports whether the watermark has moved since it was stored.
func (l *Lane) unstored() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dirty || l.storing
}

// firstAt returns FirstKey.At of record i.
func (b *Batch) firstAt(i int) int64 {
	if len(b.Msgs) > 0 {
		return b.Msgs[b.Out.Recs[i].Msg].Pos
	}
	return b.End.A - 1
}

// has reports whether k, a key of a window, is in the set of l.
func (d *decisions) has(l *Lane, k codec.Key, window uint32) (bool, error) {
	if d.lanes != nil {
		return d.lanes.Has(l, k, window)
	}
	return d.set.Has(k)
}

// makeReady lets the next commit store firsts, which the cut of s has passed.
func (d *decisions) makeReady(s *series, firsts []FirstKey) {
	for _, f := range firsts {
		switch {
		case f.Key == codec.Key{}:
		case d.lanes != nil:
			s.ready = append(s.ready, f)
		default:
			d.ready = append(d.ready, f.Key)
			if d.window != nil {
				d.readyIn = append(d.readyIn, f.Window)
			}
		}
	}
}

// A laneCut holds the data of a lane that a commit stores.
type laneCut struct {
	up     LanePos
	series *series // nil if nothing was decided
	firsts []FirstKey
	least  uint32 // earlier windows are over
	err    error
}

// storeLanes stores the cut of each lane: first its keys, then its position. A
// lane whose keys cannot be stored does not stop the others.
func (c *committer) storeLanes(ctx context.Context, f *feed) error {
	d := c.filtering.decisions
	cuts, err := d.collectLanes(f, func() { c.due(0) }) // the pipeline has a single source
	if err != nil {
		return err
	}
	errs := each(cuts, func(c *laneCut) error {
		if len(c.firsts) == 0 {
			return nil
		}
		return d.lanes.Seal(ctx, c.up.Lane, c.firsts)
	})
	errs = append(errs, d.storePositions(ctx, f, cuts))
	for i := range cuts {
		cut := &cuts[i]
		cut.up.Lane.stored(cut.err)
		if cut.err == nil && len(cut.firsts) > 0 {
			errs = append(errs, d.lanes.Stored(cut.up.Lane, cut.firsts))
			d.storedLane(cut)
		}
	}
	c.filtering.resume()
	return errors.Join(append(errs, d.forget(ctx, cuts)...)...)
}

// storePositions stores the positions of the cuts whose keys could be stored.
func (d *decisions) storePositions(ctx context.Context, f *feed, cuts []laneCut) error {
	f.ups = f.ups[:0]
	for i := range cuts {
		if cuts[i].err == nil {
			f.ups = append(f.ups, cuts[i].up)
		}
	}
	if len(f.ups) == 0 {
		return nil
	}
	err := f.committer.Commit(ctx, f.ups)
	n := 0
	for i := range cuts {
		if c := &cuts[i]; c.err == nil {
			c.up, c.err = f.ups[n], err
			n++
		}
	}
	clear(f.ups)
	f.ups = f.ups[:0]
	return err
}

// collectLanes calls due, which collects the watermarks of f that have moved, and
// returns them with the keys before them.
func (d *decisions) collectLanes(f *feed, due func()) (cuts []laneCut, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	due()
	for _, up := range f.ups {
		c := laneCut{up: up, series: up.Lane.series}
		if s := c.series; s != nil {
			c.firsts = s.ready[:len(s.ready):len(s.ready)]
		}
		if w := up.Lane.windows; w != nil {
			c.least = w.least(w.cut.low)
			if c.up.Note, err = w.note(); err != nil {
				return nil, err
			}
		}
		cuts = append(cuts, c)
	}
	return cuts, nil
}

// maxSeals is the maximum number of lanes whose keys are stored at the same
// time.
const maxSeals = 16

// each calls f for several cuts at the same time, and sets the error of each.
func each(cuts []laneCut, f func(c *laneCut) error) (errs []error) {
	var wg sync.WaitGroup
	free := make(chan struct{}, maxSeals)
	for i := range cuts {
		c := &cuts[i]
		free <- struct{}{}
		wg.Go(func() {
			c.err = f(c)
			<-free
		})
	}
	wg.Wait()
	for i := range cuts {
		if c := &cuts[i]; c.err != nil {
			errs = append(errs, fmt.Errorf("keys of %s: %w", c.up.Lane.Name(), c.err))
		}
	}
	return errs
}

// forget forgets the windows that are over at the cuts that were stored.
func (d *decisions) forget(ctx context.Context, cuts []laneCut) (errs []error) {
	return each(cuts, func(c *laneCut) error {
		if c.err != nil || c.least == 0 || c.up.Refused {
			return nil
		}
		return d.lanes.Forget(ctx, c.up.Lane, c.least)
	})
}

// storedLane removes the slots of the keys of c, because the set holds these keys now.
func (d *decisions) storedLane(c *laneCut) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := c.series
	if s.void {
		return // revoke has removed the slots
	}
	for _, f := range c.firsts {
		delete(d.slots, f.Key)
	}
	s.ready = append(s.ready[:0], s.ready[len(c.firsts):]...)
	d.fullSince = time.Time{}
}

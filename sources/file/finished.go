package file

import (
	"slices"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
)

// finished holds the objects that were read to their ends and whose entries are stored.
// Their ids tell whether they are listed again, so that they need no tracks: a bucket
// may have millions of finished objects.
type finished struct {
	mu      *sync.Mutex // of the watcher; guards the fields below
	objects map[fileID]finishedObject
	listing uint32           // number of the current listing
	swept   time.Time        // when expire last looked at all objects
	missing map[string]int64 // what is not stored yet: see [checkpoint.Update]
}

// A finishedObject holds what must be known about a finished object besides its id.
type finishedObject struct {
	lane    digest // id of its lane
	gone    uint32 // when a listing first lacked the object, Unix time in seconds; 0: it exists
	listing uint32 // the last listing that had the object
}

// add adds the object of a lane, and reports whether it did. The caller holds mu.
func (f *finished) add(id fileID, lane string, gone int64) bool {
	d := parseDigest(lane)
	if _, ok := f.objects[id]; ok || d == (digest{}) {
		return false
	}
	f.objects[id] = finishedObject{d, uint32(gone), f.listing}
	return true
}

// has reports whether an object is finished.
func (f *finished) has(id fileID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.objects[id]
	return ok
}

// list records that the current listing has an object, and reports whether the object
// is finished.
func (f *finished) list(id fileID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.objects[id]
	if ok {
		if o.gone != 0 {
			f.missing[o.lane.String()] = 0
		}
		f.objects[id] = finishedObject{o.lane, 0, f.listing}
	}
	return ok
}

// end ends a listing that is complete: the objects that it lacks do not exist.
func (f *finished) end(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, o := range f.objects {
		if o.listing != f.listing && o.gone == 0 {
			f.objects[id] = finishedObject{o.lane, uint32(now.Unix()), o.listing}
			f.missing[o.lane.String()] = now.Unix()
		}
	}
	f.listing++
}

// expire forgets the objects that have been gone for longer than after, and returns the
// ids of their lanes. The caller holds mu.
func (f *finished) expire(now time.Time, after time.Duration) (lanes []string) {
	if now.Sub(f.swept) < min(after, time.Minute) {
		return nil
	}
	f.swept = now
	for id, o := range f.objects {
		if o.gone != 0 && now.Sub(time.Unix(int64(o.gone), 0)) >= after {
			delete(f.objects, id)
			delete(f.missing, o.lane.String())
			lanes = append(lanes, o.lane.String())
		}
	}
	return lanes
}

// dismiss moves the objects that are done, and whose entries are stored, from the tracks
// to the finished ones. The caller holds mu.
func (w *watcher) dismiss() {
	if !w.store.fixed() {
		return
	}
	w.known.tracks = slices.DeleteFunc(w.known.tracks, func(t *track) bool {
		if t.life != over || t.step != resting || t.end.state != checkpoint.Done || t.end.finishing || t.unsaved {
			return false
		}
		gone := int64(0)
		if !t.sight.gone.IsZero() {
			gone = t.sight.gone.Unix()
		}
		id := t.sight.file.id
		if o := w.bound.byFile[id]; o != nil && o != t || !w.finished.add(id, t.id, gone) {
			return false
		}
		w.known.unindex(t, t.key)
		delete(w.known.ids, t.id)
		delete(w.bound.byFile, id)
		return true
	})
}

// brief returns the entry of a finished object without the fields that only serve to continue
// reading.
func brief(e checkpoint.Entry) checkpoint.Entry {
	return checkpoint.Entry{
		Source: e.Source, ID: e.ID, Path: e.Path, Dev: e.Dev, Ino: e.Ino, Size: e.Size, Gen: e.Gen, Offset: e.Offset, Line: e.Line,
		State: e.State, Verdict: e.Verdict, Finishing: e.Finishing, Gone: e.Gone, Disposed: e.Disposed,
	}
}

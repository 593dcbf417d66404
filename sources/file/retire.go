package file

import (
	"bytes"
	"slices"
	"time"
)

// This file keeps idle files cheap. It releases the memory for reading them until there
// is more to read. Their tracks are then in the same state as after a restart of the
// process. A daemon may follow a hundred thousand files, nearly all of which are idle
// at any time.

// retireAfter is how long a file must be unchanged before its lane is ended.
// Opening another lane costs a few allocations.
const retireAfter = 5 * time.Second

// briefBytes is how much of its beginning a retired track keeps, in addition to
// the digest.
const briefBytes = 64

// retire ends the lanes of idle files whose records are all durable and stored,
// and releases their buffers. The caller holds mu.
func (w *watcher) retire(now time.Time) {
	for _, t := range w.known.tracks {
		if t.lane == nil && t.read.head == nil || now.Sub(t.sight.changed) < w.retireAfter || !t.idle() {
			continue
		}
		if t.lane != nil {
			delete(w.progress.byLane, t.lane) // the lane has nothing left to commit
			w.reader.rt.End(t.lane)
			t.lane, t.read.cut.lane, t.read.cut.note = nil, nil, nil
		}
		t.read.brief = bytes.Clone(t.read.head[:min(len(t.read.head), briefBytes)])
		t.read.head, t.read.last, t.read.cut.tail = nil, nil, nil
		t.positions = slices.Clip(slices.Clone(t.positions))
	}
}

// idle reports whether t is at the end of a plain file that is entirely stored
// in the checkpoint.
func (t *track) idle() bool {
	return t.life == open && t.step == resting && t.sight.doubt == trusted && t.sight.bound && t.sight.listed && t.atEnd && t.sight.file.same(&t.asRead) &&
		!t.read.in.compressed && !t.read.cut.oversize && t.entry.Offset == t.at().off && len(t.read.cut.tail) == 0
}

// begins reports whether the text of t begins with head, which is shorter than the
// stored beginning of t. A retired track keeps only a part of that beginning: two files
// that share the part are not distinguished until the new file has grown, which costs
// time.
func (t *track) begins(head []byte) bool {
	if t.read.head == nil && t.read.brief != nil {
		n := min(len(head), len(t.read.brief))
		return bytes.Equal(t.read.brief[:n], head[:n])
	}
	return bytes.HasPrefix(t.read.head, head)
}

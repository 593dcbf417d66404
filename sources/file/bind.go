package file

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// This file binds tracks to files and unbinds them.

// bind binds t to the file p. The caller holds mu.
func (w *watcher) bind(t *track, p *candidate, l *look, now time.Time) {
	copied := t.sight.file.id != p.s.id
	unchanged := !copied && t.path == p.s.path && t.sight.file.same(&p.s) && t.sight.file.changed == p.s.changed
	t.sight.rotated = t.sight.rotated || t.sight.file.id == p.s.id && t.path != p.s.path
	t.path, t.sight.file, t.sight.met = p.s.path, p.s, p.meeting
	t.sight.watched = true
	t.sight.bound, t.sight.listed, t.sight.replaced, t.sight.reused, t.atEnd, t.sight.doubt = true, true, false, false, false, trusted
	t.sight.gone, t.sight.disposed = time.Time{}, 0
	t.sight.changed = now
	if changed := time.Unix(0, p.s.changed); changed.Before(now) {
		t.sight.changed = changed
	}
	w.byFile[p.s.id] = t
	t.read.in.at = w.at
	w.log.Debug("file bound", "path", t.path, "inode", t.sight.file.id.ino, "size", t.sight.file.size, "read", t.at().off, "id", t.id)
	w.progress.touch(t)
	w.files.closeContent(t)
	if l == nil {
		return
	}
	t.read.in.compressed, t.read.stamp = l.compressed, l.stamp
	t.squeezed.Store(l.compressed)
	if n := int64(len(l.head)); n >= t.key.n && len(t.read.head) < len(l.head) {
		t.read.head = l.head
	}
	more := p.s.size > t.at().off
	if c := p.checked[t]; l.compressed {
		more = !(c.rest == restNone && c.answer == agrees && c.off == t.at().off)
	}
	if t.life == over && !unchanged && more { // resume it
		t.life, t.end.state, t.end.text, t.sight.final, t.end.complete, t.end.finishing = open, checkpoint.Reading, "", false, false, false
		t.end.verdict, t.end.found, t.lane, t.read.intact, t.read.closed = compress.Verdict{}, nil, nil, false, false
	}
	if t.life == over && copied { // finish it as the file that it replaces would have been
		t.end.finishing = l.compressed && t.sight.rotated && t.end.state == checkpoint.Done && w.cfg.OnFinish.String() != keepFile
	}
	if t.life == open && w.files.descs < w.cfg.MaxOpenFiles {
		t.read.in.f, l.f = l.f, nil
		w.files.descs++
	}
	// Load the restart point that the entry refers to.
	id := t.entry.Restart
	if id == 0 || len(t.points) > 0 || !t.read.in.compressed || t.life != open {
		return
	}
	data, err := w.cfg.Store.Point(id)
	var rp compress.RestartPoint
	if err == nil {
		err = rp.UnmarshalBinary(data)
	}
	if err != nil {
		w.log.Warn("restart point unusable, decompressing from the beginning", "path", t.path, "error", err)
		return
	}
	t.points = []point{{id: id, p: rp, stored: true}}
}

// adopt creates a track for a new file. The caller holds mu.
func (w *watcher) adopt(p *candidate, l *look, gen int64, now time.Time) {
	id := laneID(&p.s, l, gen)
	for w.known.ids[id] { // used by a text that this file once held and that was moved
		gen++
		id = laneID(&p.s, l, gen)
	}
	w.known.ids[id] = true
	t := &track{
		id: id, path: p.s.path, rel: p.s.rel,
		sight: sighting{file: p.s, gen: gen}, read: reading{hash: newTextHash()}, end: ending{state: checkpoint.Reading},
	}
	t.read.cut.line = 1
	w.known.tracks = append(w.known.tracks, t)
	w.known.unread[t.path] = t
	w.log.Debug("new file found", "path", t.path, "inode", t.sight.file.id.ino, "size", t.sight.file.size, "id", t.id)
	if w.cfg.Start == startEnd && w.fresh && !w.scanned && !l.compressed {
		w.skipToEnd(t, l)
	}
	w.bind(t, p, l, now)
}

// laneID returns the lane identity of a new file. It is the same if the file is
// found again before any of it was stored.
func laneID(s *fileState, l *look, gen int64) string {
	b := []byte(s.path)
	for _, n := range []uint64{s.id.dev, s.id.ino, uint64(l.stamp), uint64(gen)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if l.stamp == 0 {
		line, _, _ := bytes.Cut(l.head, newline)
		b = append(b, line...)
	}
	return digestOf(b).String()
}

// skipToEnd makes t start after the last complete line of its file.
func (w *watcher) skipToEnd(t *track, l *look) {
	end := t.sight.file.size
	for off := end; off > 0; {
		from := max(0, off-64<<10)
		buf := make([]byte, off-from)
		if n, _ := l.f.ReadAt(buf, from); n < len(buf) {
			return
		}
		if i := bytes.LastIndexByte(buf, '\n'); i >= 0 {
			off = from + int64(i) + 1
			h := newTextHash()
			t.positions = []position{{off: off, line: 1, tail: l.tailAt(off), sum: h.Sum64(), state: &h}}
			t.read.cut.off, t.read.head, t.read.hashFrom = off, l.head, off
			w.reader.rekey(t)
			t.entry = keptOf(t.commit(off))
			return
		}
		off = from
	}
}

// replace unbinds the file of t, which now holds another text. A copy of the
// old text may appear. The file keeps its age: if it was held back as an
// unfinished copy, that does not start over. The caller holds mu.
func (w *watcher) replace(t *track) {
	if t.sight.file.same(&t.asRead) {
		w.metBefore[t.sight.file.id] = candidate{s: t.sight.file, meeting: t.sight.met}
	}
	if t.at().off > 0 {
		w.log.Warn("file truncated or overwritten, reading from the beginning", "path", t.path, "read", t.at().off)
		w.stats.truncations++
	}
	w.unbind(t)
	t.sight.replaced = true
	t.read.cut.tail = nil
}

// unbind marks t as having no file. The caller holds mu.
func (w *watcher) unbind(t *track) {
	w.files.closeContent(t)
	w.log.Debug("file unbound", "path", t.path, "inode", t.sight.file.id.ino, "size", t.sight.file.size, "read", t.at().off, "id", t.id)
	if w.byFile[t.sight.file.id] == t {
		delete(w.byFile, t.sight.file.id)
	}
	t.sight.bound, t.sight.listed, t.atEnd = false, false, false
	t.sight.gone = w.clock()
	w.progress.touch(t)
}

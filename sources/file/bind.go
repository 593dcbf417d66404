package file

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// A bindings binds tracks to files, unbinds them, and follows the state of the files.
type bindings struct {
	cfg      *WatchConfig
	log      *slog.Logger
	clock    func() time.Time
	crew     *crew
	files    *opener
	known    *catalog
	progress *progress

	// Guarded by watcher.mu.
	stats     *counts
	byFile    map[fileID]*track    // bound tracks only
	metBefore map[fileID]candidate // files released by tracks since the last scan
}

// bind binds t to the file p, whose beginning is l; l is nil if the beginning
// has not been read. The caller holds mu.
func (k *bindings) bind(t *track, p *candidate, l *look, now time.Time) {
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
	k.byFile[p.s.id] = t
	k.log.Debug("file bound", "path", t.path, "inode", t.sight.file.id.ino, "size", t.sight.file.size, "read", t.at().off, "id", t.id)
	k.progress.touch(t)
	k.files.closeContent(t)
	if l == nil {
		if k.files.store.fixed() {
			if t.gaveUp() {
				t.reopen()
			}
			k.loadPoint(t)
		}
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
	if t.life == over && !unchanged && more {
		t.reopen()
	}
	if t.life == over && copied { // finish the copy like the file that it replaces
		t.end.finishing = l.compressed && t.sight.rotated && t.end.state == checkpoint.Done && k.cfg.OnFinish.String() != keepFile
	}
	if t.life == open && k.files.descs < k.cfg.MaxOpenFiles {
		t.read.in.f, l.f = l.f, nil
		k.files.descs++
	}
	if t.read.in.compressed {
		k.loadPoint(t)
	}
}

// reopen makes t read on after its end.
func (t *track) reopen() {
	t.life, t.end.state, t.end.text, t.sight.final, t.end.complete, t.end.finishing = open, checkpoint.Reading, "", false, false, false
	t.end.verdict, t.end.found, t.lane, t.read.intact, t.read.closed = compress.Verdict{}, nil, nil, false, false
}

// gaveUp reports whether the file of t was gone before all of it was read.
func (t *track) gaveUp() bool {
	return t.life == over && damageKind(t.end.text) == compress.Unreadable.String()
}

// loadPoint loads the restart point to which the entry of t refers.
func (k *bindings) loadPoint(t *track) {
	id := t.entry.Restart
	if id == 0 || len(t.points) > 0 || t.life != open {
		return
	}
	data, err := k.cfg.Store.Point(id)
	var rp compress.RestartPoint
	if err == nil {
		err = rp.UnmarshalBinary(data)
	}
	if err != nil {
		k.log.Warn("restart point unusable, decompressing from the beginning", "path", t.path, "error", err)
		return
	}
	t.points = []point{{id: id, p: rp, stored: true}}
}

// adopt creates a track for a new file. If skip is set, reading starts after
// the lines that the file has now. l is the same as in bind. The caller holds
// mu.
func (k *bindings) adopt(p *candidate, l *look, gen int64, now time.Time, skip bool) {
	id := laneID(&p.s, l, gen)
	for k.known.ids[id] { // the id belongs to a text that was moved out of this file
		gen++
		id = laneID(&p.s, l, gen)
	}
	k.known.ids[id] = true
	t := &track{
		id: id, path: p.s.path, rel: p.s.rel,
		sight: sighting{file: p.s, gen: gen}, read: reading{hash: newTextHash()}, end: ending{state: checkpoint.Reading},
	}
	t.read.cut.line = 1
	k.known.tracks = append(k.known.tracks, t)
	k.known.unread[t.path] = t
	k.log.Debug("new file found", "path", t.path, "inode", t.sight.file.id.ino, "size", t.sight.file.size, "id", t.id)
	if skip {
		k.skipToEnd(t, l)
	}
	k.bind(t, p, l, now)
}

// identify binds the object p to its track, or to a new track. own is a track
// of the same id, or nil. The caller holds mu.
func (k *bindings) identify(p *candidate, own *track, now time.Time) {
	switch {
	case own == nil:
		k.adopt(p, nil, 0, now, false)
	case own.sight.replaced: // the store returned the ETag of other content
		k.adopt(p, nil, own.sight.gen+1, now, false)
	default:
		k.bind(own, p, nil, now)
	}
}

// laneID returns the lane identity of a new file. The identity is the same if the file
// is found again before any position in it was stored.
func laneID(s *fileState, l *look, gen int64) string {
	b := []byte(s.path)
	stamp := int64(0)
	if l != nil {
		stamp = l.stamp
	}
	for _, n := range []uint64{s.id.dev, s.id.ino, uint64(stamp), uint64(gen)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if l != nil && stamp == 0 {
		line, _, _ := bytes.Cut(l.head, newline)
		b = append(b, line...)
	}
	return digestOf(b).String()
}

// skipToEnd makes t start after the last complete line of its file. If there is
// no such line, or it cannot be read, t starts at the beginning.
func (k *bindings) skipToEnd(t *track, l *look) {
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
			k.known.rekey(t)
			k.progress.touch(t)
			t.entry = keptOf(t.commit(off))
			return
		}
		off = from
	}
}

// replace unbinds the file of t, which now holds another text. A copy of the old text
// may appear. The file keeps its age: if it is held back as an unfinished copy, the
// wait does not start over. The caller holds mu.
func (k *bindings) replace(t *track) {
	if t.sight.file.same(&t.asRead) {
		k.metBefore[t.sight.file.id] = candidate{s: t.sight.file, meeting: t.sight.met}
	}
	if t.at().off > 0 {
		k.log.Error("file truncated or overwritten, reading from the beginning", "path", t.path, "read", t.at().off, "unread_bytes", t.unread())
		k.stats.truncations++
	}
	k.unbind(t)
	t.sight.replaced = true
	t.read.cut.tail = nil
}

// unbind marks t as having no file. The caller holds mu.
func (k *bindings) unbind(t *track) {
	k.files.closeContent(t)
	k.log.Debug("file unbound", "path", t.path, "inode", t.sight.file.id.ino, "size", t.sight.file.size, "read", t.at().off, "id", t.id)
	if k.byFile[t.sight.file.id] == t {
		delete(k.byFile, t.sight.file.id)
	}
	t.sight.bound, t.sight.listed, t.atEnd = false, false, false
	t.sight.gone = k.clock()
	k.progress.touch(t)
}

// refresh records the current state s of the file of t.
func (k *bindings) refresh(t *track, s fileState, renamed bool, now time.Time) {
	if t.life != open {
		return // data after the end is detected once the track is over
	}
	k.question(t, &s, renamed)
	if !t.sight.file.same(&s) {
		t.sight.changed = now
	}
	if t.sight.doubt != trusted {
		return // leave t.sight.file unchanged, so that the doubt remains after a restart
	}
	if t.sight.file.stamps != s.stamps {
		t.sight.file.stamps = s.stamps
		k.progress.touch(t)
	}
}

// question updates t.sight.doubt: whether the file of t may now hold text that
// differs from the text that the track has read. s is the new state of the file. A
// file that is being written may show its new time just before its new size, so
// the next scan decides.
func (k *bindings) question(t *track, s *fileState, renamed bool) {
	switch grown := s.size > t.sight.file.size; {
	case t.sight.doubt == doubted && grown:
		t.sight.doubt = trusted
	case t.sight.doubt == doubted:
		t.sight.doubt = suspected
	case t.sight.doubt == trusted && t.at().off > 0 && t.sight.file.rewritten(s, renamed):
		t.sight.doubt = doubted
		k.crew.nudge()
	}
}

// noteAtEnd records the state of the file of t when all of it was read, so that
// a later change can be classified as growth or as another text. The caller
// holds mu.
func (k *bindings) noteAtEnd(t *track) {
	now, all := t.stateAtEnd()
	if !all || !t.sight.bound {
		return
	}
	t.lookedAt = time.Now()
	if k.question(t, &now, true); t.sight.doubt == trusted {
		t.sight.file.stamps = stamps{now.size, now.mtime, now.changedSince(&t.sight.file)}
		k.progress.touch(t)
		t.asRead = t.sight.file
	}
}

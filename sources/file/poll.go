package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/disk"
)

// poll scans all files and queues work for the readers.
func (w *watcher) poll(ctx context.Context, h *hints) {
	began := time.Now()
	all, hidden := w.store.scan(ctx)
	if w.store.fixed() && len(hidden) > 0 { // the listing failed
		w.unlisted(hidden)
		return
	}
	if err := exhaustion(hidden); err != nil { // the scan is incomplete: a missing file need not be gone
		w.mu.Lock()
		w.exhausted(err)
		w.hide(hidden)
		w.mu.Unlock()
		return
	}
	for i := 0; i < len(all) && !w.store.fixed(); i++ {
		h.add(filepath.Dir(all[i].path))
	}
	now := w.bound.clock()
	w.mu.Lock()
	unknown := w.updateKnown(all, now, began)
	w.missKnown(ctx, now, hidden)
	w.hide(hidden)
	w.known.veiled = slices.ContainsFunc(w.known.tracks, (*track).veiled)
	w.known.unread = map[string]*track{}
	for _, t := range w.known.tracks {
		if t.sight.bound && t.at().off == 0 {
			w.known.unread[t.path] = t
		}
	}
	ghosts := w.known.ghosts()
	w.meet(unknown, now)
	w.mu.Unlock()
	w.judge(ghosts, now)
	if w.follow(now) {
		// Store the start positions of files that are older than the
		// checkpoint. If this fails, the next run starts at the new ends of
		// the files.
		if err := w.progress.save(nil, checkpoint.Update{}); err != nil {
			w.log.Warn("cannot store start positions", "error", err)
		}
	}
	w.news.flushReports()
}

// follow queues work on the tracks for the readers. It reports whether this is
// the first poll and the start positions must be stored.
func (w *watcher) follow(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.known.tracks {
		w.schedule(t, now)
		if t.sight.bound && t.life == over && t.end.state != checkpoint.Reading && !t.end.finishing {
			w.settle(t, t.damage()) // even if an earlier run has finished the file
		}
	}
	w.dismiss()
	w.expire(now)
	w.closeIdle(now)
	w.retire(now)
	first := !w.scanned
	w.scanned = true
	return first && w.cfg.Start == startEnd && w.fresh
}

// updateKnown updates the tracks whose files were found. It returns the other
// files, including finished files that have changed, which are identified like
// new files. began is when the scan began.
func (w *watcher) updateKnown(all []fileState, now, began time.Time) (unknown []fileState) {
	for _, t := range w.known.tracks {
		t.sight.listed = false
	}
	named := map[*track]bool{} // tracks whose path is still a name of their file
	for i := range all {
		s := &all[i]
		t := w.bound.byFile[s.id]
		if t != nil && t.life == over && t.step == resting && !w.cfg.ends() && (!t.sight.file.same(s) || t.sight.file.rewritten(s, t.path != s.path)) {
			w.bound.unbind(t)
			t.sight.gone, t = time.Time{}, nil
		}
		if t == nil {
			unknown = append(unknown, *s)
			continue
		}
		named[t] = named[t] || t.path == s.path
	}
	for i := range all {
		s := &all[i]
		t := w.bound.byFile[s.id]
		if t == nil || named[t] && t.path != s.path {
			continue
		}
		t.sight.listed = true
		renamed := !named[t]
		if renamed {
			t.path, t.sight.file.rel, t.sight.rotated, t.sight.changed = s.path, s.rel, true, now
			named[t] = true
			w.progress.touch(t)
		}
		if t.lookedAt.Before(began) { // if not, a reader saw the file after this scan began
			w.bound.refresh(t, *s, renamed, now)
		}
	}
	return unknown
}

// missKnown handles tracks whose files were not found. The rest of an open file
// is read. A file that cannot be accessed does not count as gone; it is added
// to hidden.
func (w *watcher) missKnown(ctx context.Context, now time.Time, hidden map[string]error) {
	for _, t := range w.known.tracks {
		if !t.sight.bound || t.sight.listed || t.step == busy {
			continue
		}
		seen, err := w.store.stat(ctx, t.path, t.rel)
		if err == nil && (len(hidden)+len(w.hidden) > 0 || w.store.fixed()) && w.bound.byFile[seen.id] == t {
			continue // accessible again since the scan: the next scan lists it
		}
		unseen := err != nil && !isGone(err)
		if unseen {
			hidden[t.path] = err
		}
		switch {
		case t.read.in.f == nil && unseen:
			continue
		case t.read.in.f == nil || t.life == over:
			w.bound.unbind(t)
			continue
		}
		if !t.sight.rotated && !unseen {
			t.sight.rotated, t.sight.changed = true, now
			w.progress.touch(t)
		}
		if seen, err := t.read.in.f.stat(); err == nil {
			w.bound.refresh(t, seen.at(t.path, t.rel), true, now)
		}
	}
}

// hide records what cannot be accessed now and logs new entries. A run that
// ends with its input reports them as unreadable files.
func (w *watcher) hide(hidden map[string]error) {
	for path, err := range hidden {
		if w.hidden[path] != nil {
			continue
		}
		w.log.Warn("cannot access file or folder", "path", path, "error", err)
		if w.cfg.ends() && !disk.Exhausted(err) {
			w.news.unreadable(path, err.Error())
		}
	}
	w.hidden = hidden
}

// unlisted handles a listing of objects that failed. The run fails if the first
// listing fails with a lasting error, or if the run is to end with its input:
// without a listing, the end is unknown.
func (w *watcher) unlisted(hidden map[string]error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, err := range hidden {
		if w.cfg.ends() || !w.scanned && lasting(err) {
			w.crew.fatal, w.crew.stop = errors.Join(w.crew.fatal, fmt.Errorf("%s: %w", path, err)), true
			w.crew.wakeAll()
			return
		}
	}
	w.hide(hidden)
}

// exhaustion returns an error in hidden that means that a resource of the
// process or the machine is exhausted, or nil.
func exhaustion(hidden map[string]error) error {
	for _, err := range hidden {
		if disk.Exhausted(err) {
			return err
		}
	}
	return nil
}

// exhausted closes files that are not being read, to free resources after err,
// which means that a resource of the process or the machine is exhausted. The
// caller holds mu.
func (w *watcher) exhausted(err error) {
	closed := 0
	for _, t := range w.known.tracks {
		if t.step == resting && t.read.in.f != nil && (t.sight.listed || t.life != open) {
			w.files.closeContent(t)
			closed++
		}
	}
	w.log.Warn("out of descriptors or memory, retrying", "error", err, "files_closed", closed)
}

// veiled reports whether t reads, or can still read, a file that has lost its
// name before the source emitted any of its records. The source knows only the
// beginning of such a file, and may still emit all of its records.
func (t *track) veiled() bool {
	return t.life == open && t.at().off == 0 && !t.sure() && (t.step == busy || t.lane != nil || t.read.in.f != nil)
}

// meet updates the candidates with the unknown files.
func (w *watcher) meet(unknown []fileState, now time.Time) {
	for _, p := range w.candidates {
		p.listed = false
	}
	for _, s := range unknown {
		p := w.candidates[s.id]
		switch {
		case w.given[s.id]:
		case p == nil:
			p = &candidate{s: s, meeting: meeting{now, 1}, listed: true}
			if before, ok := w.bound.metBefore[s.id]; ok && before.s.same(&s) {
				p.meeting, p.checked = meeting{before.since, before.scans + 1}, before.checked
			}
			w.candidates[s.id] = p
		case p.listed: // another name of the same file
		default:
			if p.scans++; !p.s.same(&s) {
				p.meeting = meeting{now, 1}
			}
			if p.s.rewritten(&s, p.s.path != s.path) || p.compressed && !p.s.same(&s) {
				p.checked = nil
			}
			p.s, p.listed = s, true
		}
	}
	clear(w.bound.metBefore)
	for id, p := range w.candidates {
		if !p.listed {
			delete(w.candidates, id)
			delete(w.broken, p.s.path)
		}
	}
}

// judge identifies candidates. It does not hold mu while it opens files.
func (w *watcher) judge(ghosts map[fileID]*track, now time.Time) {
	w.mu.Lock()
	list := make([]*candidate, 0, len(w.candidates))
	for _, p := range w.candidates {
		list = append(list, p)
	}
	w.mu.Unlock()
	slices.SortFunc(list, func(a, b *candidate) int { return cmp.Compare(a.s.path, b.s.path) })
	for _, p := range list {
		own := ghosts[p.s.id]
		w.mu.Lock()
		if w.store.fixed() {
			w.bound.identify(p, own, now)
			delete(w.candidates, p.s.id)
			w.mu.Unlock()
			continue
		}
		known := own != nil && !own.sight.bound && !own.sight.replaced && !own.sight.reused && own.life == over && own.sight.file.same(&p.s) &&
			!own.sight.file.rewritten(&p.s, own.path != p.s.path)
		if known { // the track is done, and its file has not changed
			w.bound.bind(own, p, nil, now)
			delete(w.candidates, p.s.id)
		}
		w.mu.Unlock()
		if known || p.s.size == 0 && !w.cfg.ends() { // an empty file may still become anything
			continue
		}
		l, err := w.files.lookAt(&p.s)
		w.mu.Lock()
		switch {
		case errors.Is(err, errMoved), errors.Is(err, fs.ErrNotExist): // the next scan sees its new state
		case err != nil:
			w.unreadableFile(p, err)
		default:
			delete(w.broken, p.s.path)
			if own != nil && own.sight.bound {
				own = nil
			}
			if w.consider(p, own, l, now) {
				delete(w.candidates, p.s.id)
			}
		}
		w.mu.Unlock()
		if l != nil && l.f != nil {
			_ = l.f.Close()
		}
	}
}

// unreadableFile records that a file cannot be opened or read. The next poll
// retries, unless this run ends with its input: then it gives the file up,
// after maxTries attempts if the file may become reachable again.
func (w *watcher) unreadableFile(p *candidate, err error) {
	w.broken[p.s.path] = err.Error()
	if disk.Exhausted(err) {
		w.exhausted(err)
		return // the error says nothing about this file
	}
	if p.tries++; p.tries < maxTries && disk.Unreachable(err) {
		return
	}
	if !p.reported {
		p.reported = true
		w.log.Warn("cannot read file", "path", p.s.path, "error", err)
		w.news.unreadable(p.s.path, err.Error())
	}
	if w.cfg.ends() {
		w.given[p.s.id] = true
		delete(w.candidates, p.s.id)
	}
}

// schedule queues t for the readers if there is something to read or to finish.
func (w *watcher) schedule(t *track, now time.Time) {
	if t.step != resting || t.life != open {
		if t.life == over && t.end.finishing && t.sight.bound && t.step == resting {
			t.step = queued
			w.crew.enqueue(&w.crew.reading, &disposal{t})
		}
		return
	}
	if !t.sight.bound {
		w.scheduleLost(t, now)
		return
	}
	switch t.sight.doubt {
	case doubted:
		return
	case suspected:
		t.step = queued
		w.crew.enqueue(&w.crew.checking, &proof{t})
		return
	}
	quiet := now.Sub(t.sight.changed)
	unread := !t.atEnd || !t.sight.file.same(&t.asRead)
	switch {
	case w.cfg.ends(), w.store.fixed():
		t.sight.final, t.end.complete = true, w.cfg.Mode == modeBatch || t.sight.rotated || t.read.in.compressed || w.store.fixed()
	case unread:
	case t.sight.rotated && quiet >= w.cfg.RotateWait, t.read.in.compressed && quiet >= w.cfg.DamageAfter:
		t.sight.final, t.end.complete = true, true
	default:
		return
	}
	if unread && !w.cfg.ends() && !w.store.fixed() {
		t.sight.final, t.end.complete = false, false
	}
	if t.trouble.tries >= maxTries && w.cfg.ends() {
		w.news.unreadable(t.path, t.trouble.failure)
		w.given[t.sight.file.id] = true
		w.bound.unbind(t)
		return
	}
	if time.Now().Before(t.trouble.retry) {
		return
	}
	t.step = queued
	w.crew.enqueue(&w.crew.reading, t)
}

// maxTries is the number of attempts to open or read a file after which a run
// that ends with its input gives the file up, an unreachable file is reported,
// and an object of a queue with a lasting error is refused.
const maxTries = 3

// scheduleLost ends a track whose file is gone and was not found elsewhere.
func (w *watcher) scheduleLost(t *track, now time.Time) {
	if t.sight.gone.IsZero() {
		t.sight.gone = now
		w.progress.touch(t)
	}
	if w.given[t.sight.file.id] || now.Sub(t.sight.gone) < w.patience(t) || w.cfg.ends() && len(w.candidates) > 0 {
		return
	}
	if t.at().off == 0 && t.lane == nil {
		if !slices.ContainsFunc(w.known.tracks, func(o *track) bool { return o != t && o.begins(t.read.head) }) { // no track reads a copy of the file
			w.stats.lose(w.log, t, t.unread())
		}
		t.life = over // no byte of the file was ever read
		t.sight.gone = time.Unix(1, 0)
		w.progress.touch(t)
		return
	}
	t.step = queued
	w.crew.enqueue(&w.crew.reading, t)
}

// patience returns how long to wait for the file of a lost track. If an earlier run has
// read a part of the file, its message may be delivered again.
func (w *watcher) patience(t *track) time.Duration {
	if w.cfg.queued() && !t.sight.watched {
		return w.cfg.ForgetAfter
	}
	return w.cfg.RotateWait
}

// expire removes tracks whose files have been gone for longer than
// forget_after.
func (w *watcher) expire(now time.Time) {
	w.progress.forgotten = append(w.progress.forgotten, w.finished.expire(now, w.cfg.ForgetAfter)...)
	w.known.tracks = slices.DeleteFunc(w.known.tracks, func(t *track) bool {
		if t.sight.bound || t.life != over || t.step != resting {
			return false
		}
		if t.sight.gone.IsZero() {
			t.sight.gone = now
			w.progress.touch(t)
		}
		old := now.Sub(t.sight.gone) >= w.cfg.ForgetAfter
		if old {
			w.known.unindex(t, t.key)
			delete(w.known.ids, t.id)
			t.expired = true
			w.progress.forgotten = append(w.progress.forgotten, t.id)
		}
		return old
	})
}

// closeIdle closes files that have been idle for long. When the limit on open
// files is nearly reached, it also closes the files that have been idle
// longest, to make room for new files: a file that is not open can be deleted
// unread.
func (w *watcher) closeIdle(now time.Time) {
	var idle []*track
	for _, t := range w.known.tracks {
		if t.step != resting || t.read.in.f == nil || !t.sight.listed || !t.atEnd {
			continue
		}
		if now.Sub(t.sight.changed) >= w.cfg.IdleClose {
			w.files.closeContent(t)
			continue
		}
		idle = append(idle, t)
	}
	surplus := w.files.descs - w.cfg.MaxOpenFiles*7/8
	if surplus <= 0 {
		return
	}
	slices.SortFunc(idle, func(a, b *track) int { return a.sight.changed.Compare(b.sight.changed) })
	for _, t := range idle[:min(len(idle), surplus)] {
		w.files.closeContent(t)
	}
}

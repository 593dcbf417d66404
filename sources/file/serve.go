package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// An outcome is the result of reading a track once.
type outcome uint8

const (
	goesOn   outcome = iota // there is more to read, but other tracks have their turn first
	rests                   // at the current end of the file
	ends                    // the lane has ended
	replaced                // the file now holds another text
	fails                   // the file cannot be read now
	stops                   // the run is over
)

// quantum is how many batches of a plain file are read before other tracks have
// their turn.
const quantum = 64

// A reader reads tracks, each on the goroutine that owns it at the time, and
// ends their lanes.
type reader struct {
	cfg      *WatchConfig
	log      *slog.Logger
	rt       engine.Runtime
	mu       *sync.Mutex // lock of the watcher
	stats    *counts
	files    *opener
	known    *catalog
	progress *progress
}

// do implements job.
func (t *track) do(ctx context.Context, w *watcher) {
	w.mu.Lock()
	t.step = busy
	lost := !t.sight.bound                                                                                            // the file is gone: end the lane
	carried := t.read.in.compressed && t.atEnd && t.sight.final && t.sight.file.same(&t.asRead) && !w.reader.skips(t) // only read.cut.tail remains to emit
	t.asRead = t.sight.file
	w.mu.Unlock()
	out, err := w.reader.serve(ctx, t, lost, carried)
	w.mu.Lock()
	defer w.mu.Unlock()
	t.step, t.atEnd = resting, out == rests
	if t.trouble.failure = ""; out != fails {
		t.trouble.tries = 0
		delete(w.broken, t.path)
	}
	switch out {
	case goesOn:
		t.step = queued
		w.crew.enqueue(&w.crew.reading, t)
	case rests:
		w.bound.noteAtEnd(t)
		w.files.keepOpen(t)
	case replaced:
		w.bound.replace(t)
		w.crew.nudge()
	case fails:
		w.failed(t, err)
	case ends:
		w.files.keepOpen(t)                   // until Finish: an open file keeps its inode
		t.sight.file.stamps = t.asRead.stamps // the next scan detects later changes
		w.progress.touch(t)
		if err != nil {
			w.crew.fatal, w.crew.stop = errors.Join(w.crew.fatal, err), true
			w.crew.wakeAll()
		}
	case stops:
		w.files.closeContent(t)
		if err != nil && !errors.Is(err, errStopped) && w.crew.fatal == nil {
			w.crew.fatal = err
		}
		w.crew.stop = true
		w.crew.wakeAll()
		w.crew.nudge()
	}
}

// failed records that the file of t cannot be read now. The caller holds mu.
func (w *watcher) failed(t *track, err error) {
	w.files.closeContent(t)
	switch {
	case errors.Is(err, errMoved), errors.Is(err, fs.ErrNotExist):
		return // the next scan finds its new path
	case disk.Exhausted(err):
		w.exhausted(err)
	default:
		t.trouble.tries++
	}
	t.trouble.failure = err.Error()
	w.broken[t.path] = t.trouble.failure
	t.trouble.retry = time.Now().Add(w.cfg.PollInterval)
	if w.cfg.queued() && lasting(err) && t.trouble.tries >= maxTries {
		w.refuse(t)
		return
	}
	if w.store.fixed() && !w.cfg.ends() { // each attempt costs a request
		t.trouble.retry = time.Now().Add(w.cfg.PollInterval << min(t.trouble.tries, 6))
	}
}

// serve continues reading a track at its position, or ends it: lost reports
// that its file is gone, and carried reports that only read.cut.tail remains to
// emit.
func (r *reader) serve(ctx context.Context, t *track, lost, carried bool) (outcome, error) {
	if lost {
		return r.abandon(ctx, t)
	}
	if carried {
		return r.conclude(ctx, t)
	}
	if err := r.files.openContent(t); err != nil {
		if errors.Is(err, errReplaced) {
			return replaced, nil
		}
		return fails, err
	}
	if t.read.closed {
		return r.concludeClosed(ctx, t)
	}
	if out, done, err := r.inspect(ctx, t); done {
		return out, err
	}
	r.openLane(t)
	for n := 0; t.read.in.zr != nil || t.read.in.f.fixed() || n < quantum; n++ { // an open object holds a large buffer
		if out, err := r.serveBatch(ctx, t); out != goesOn {
			return out, err
		}
	}
	return goesOn, nil
}

// openLane opens a lane for the track unless it has one.
func (r *reader) openLane(t *track) {
	if t.lane != nil {
		return
	}
	name, _ := r.files.fileOf(t)
	lane := r.rt.NewLane(name, engine.LaneLimits{})
	lane.SetID(t.id)
	lane.SetRel(t.rel)
	if t.read.in.f != nil {
		if perm, ok := t.read.in.f.perm(); ok {
			lane.SetPerm(perm)
		}
	}
	if len(t.read.csv) > 0 {
		lane.SetHead(t.read.csv)
	}
	c := &t.read.cut
	c.rt, c.framing, c.maxRecord, c.lane, c.grid = r.rt, r.cfg.Framing, recordLimit(r.cfg.Framing, r.cfg.MaxRecord), lane, r.cfg.Grid
	c.line = max(c.line, 1)
	c.note = func(b *engine.Batch) int64 { return r.note(t, b) }
	r.mind(t, lane)
	r.mu.Lock()
	defer r.mu.Unlock()
	t.lane = lane
	r.progress.byLane[lane] = t
}

// serveBatch reads and emits one batch. After the last batch it ends the lane.
func (r *reader) serveBatch(ctx context.Context, t *track) (outcome, error) {
	b, err := r.rt.Get(ctx, t.lane)
	if err != nil {
		return stops, stopError(ctx, err)
	}
	n, out, err := r.fill(ctx, t, b)
	if err2 := t.read.cut.emit(ctx, b, n); err2 != nil {
		return stops, err2
	}
	switch {
	case out == ends:
		return r.endLane(ctx, t)
	case out == rests && !t.read.in.compressed:
		t.read.cut.tail = t.read.cut.tail[:0] // read it again when there is more: it may have changed by then
	}
	return out, err
}

// fill reads into b. It returns how many bytes of b to emit.
func (r *reader) fill(ctx context.Context, t *track, b *engine.Batch) (n int, out outcome, err error) {
	c := &t.read.cut
	if !t.read.in.compressed {
		t.read.in.pos = c.off + int64(len(c.tail))
	}
	c.begin(b)
	for {
		if n = c.room(b); n > 0 {
			break
		}
		k, err := t.read.in.read(b.In[len(b.In):cap(b.In)])
		b.In = b.In[:len(b.In)+k]
		switch {
		case err == nil && ctx.Err() != nil:
			return 0, stops, errStopped
		case err == nil:
			continue
		case err != io.EOF:
			return 0, fails, err
		case t.read.in.compressed:
			return r.fillEnd(t, b)
		}
		// The current end of a plain file.
		if err := t.holds(); err != nil {
			return unlike(err)
		}
		if !t.sight.final {
			n := t.read.cut.cut(b)
			return n, rests.unless(t.read.cut.grid > 0 && n > 0), nil
		}
		n, again := t.read.cut.rest(b, true)
		return n, ends.unless(again), nil
	}
	if !t.read.in.compressed {
		if err := t.holds(); err != nil {
			return unlike(err)
		}
	}
	return n, goesOn, nil
}

// unlike converts an error of holds to results of fill.
func unlike(err error) (int, outcome, error) {
	if errors.Is(err, errReplaced) {
		return 0, replaced, nil
	}
	return 0, fails, err
}

// unless returns out, or goesOn if there is more to do.
func (out outcome) unless(more bool) outcome {
	if more {
		return goesOn
	}
	return out
}

// fillEnd implements fill at the end of the decompressed data.
func (r *reader) fillEnd(t *track, b *engine.Batch) (int, outcome, error) {
	if err := t.read.in.zr.Err(); err != nil {
		return 0, fails, err // a read error says nothing about the content
	}
	t.judge()
	v := t.end.verdict
	growing := !t.sight.final && (v.Kind == compress.Truncated || !v.Damage())
	if growing {
		n := t.read.cut.cut(b)
		return n, rests.unless(t.read.cut.grid > 0 && n > 0), nil
	}
	n, again := t.read.cut.rest(b, t.whole())
	if !again {
		t.report().Lost = int64(len(b.In) - n)
	}
	return n, ends.unless(again), nil
}

// conclude ends a compressed track whose data was read to the end before that
// end was known to be final.
func (r *reader) conclude(ctx context.Context, t *track) (outcome, error) {
	r.openLane(t)
	for again := true; again; {
		b, err := r.rt.Get(ctx, t.lane)
		if err != nil {
			return stops, stopError(ctx, err)
		}
		t.read.cut.begin(b)
		var n int
		if n, again = t.read.cut.rest(b, t.whole()); !again {
			t.report().Lost = int64(len(b.In) - n)
		}
		if err := t.read.cut.emit(ctx, b, n); err != nil {
			return stops, err
		}
	}
	return r.endLane(ctx, t)
}

// endLane ends the lane of a track that was read to the end. From then on the
// reader does not own the track. With on_damage: stop, the error describes the
// damage.
func (r *reader) endLane(ctx context.Context, t *track) (outcome, error) {
	path, _ := r.files.fileOf(t)
	if !t.end.verdict.Damage() {
		t.end.verdict = t.read.cut.cutVerdict(t.end.verdict, t.report().Format, max(t.report().CompressedBytes, t.read.in.pos))
	}
	t.report().Path, t.report().Verdict, t.report().Lane = path, t.end.verdict, t.lane
	t.report().Bytes, t.report().Lines = t.read.cut.off+t.report().Lost, t.read.cut.line-1
	if err := r.verifyEnd(ctx, t); err != nil {
		return stops, err
	}
	t.read.cut.tail = nil
	now, fits := t.stateAtEnd()
	fits = fits && !t.asRead.rewritten(&now, true)
	var withdrawn *engine.Unverified
	if t.end.verdict.Refused() && t.read.cut.off == 0 {
		t.lane.Skip() // an empty output would suggest an empty input
	} else {
		withdrawn = r.withdraw(t)
	}
	t.end.verdict = t.read.cut.quoteVerdict(t.end.verdict, t.report().Format) // this verdict stops the lane but withdraws nothing, so it is set after withdraw
	t.report().Verdict = t.end.verdict
	r.mu.Lock()
	t.life = ended // before the lane ends, because Finish may be called immediately
	if t.end.text = ""; t.end.verdict.Kind != 0 {
		t.end.text = t.report().Text()
	}
	r.progress.touch(t)
	r.log.Debug("end of file reached", "path", t.path, "inode", t.sight.file.id.ino, "read", t.read.cut.off, "verdict", t.end.verdict.String(), "id", t.id)
	if fits {
		now.changed = now.changedSince(&t.asRead)
		t.asRead = now
	}
	r.mu.Unlock()
	lane, text, damage := t.lane, t.end.text, t.end.verdict.Damage()
	if withdrawn != nil {
		lane.Withdraw(withdrawn)
	} else {
		lane.Release()
	}
	lane.Complete()
	r.rt.End(lane)
	if damage && r.cfg.OnDamage == damageStop {
		return ends, fmt.Errorf("%s: %s", path, text)
	}
	return ends, nil
}

// stateAtEnd returns the current state of the file of t; fits reports whether
// all of the file was read.
func (t *track) stateAtEnd() (s fileState, fits bool) {
	if t.read.in.f == nil {
		return s, false
	}
	s, err := t.read.in.f.stat()
	if err != nil {
		return s, false
	}
	if t.read.in.compressed {
		return s, s.size == t.report().CompressedBytes
	}
	return s, s.size == t.read.cut.off
}

// abandon ends the lane of a track whose file is gone. Data that was seen but
// not read is lost.
func (r *reader) abandon(ctx context.Context, t *track) (outcome, error) {
	r.openLane(t)
	r.mu.Lock()
	gone := t.unread()
	if t.read.closed || t.report().CompressedBytes >= t.sight.file.size {
		gone = 0 // a compressed file that was read completely
	}
	t.report().Gone = gone
	r.stats.lose(r.log, t, gone)
	r.mu.Unlock()
	if t.lane.Held() && (t.read.closed || t.read.cut.off > t.read.cut.verified.Bytes) {
		t.end.verdict = compress.Verdict{Kind: compress.Truncated, Offset: t.taken.Load(), Cut: true,
			Detail: "file disappeared before its checksums were verified"}
	}
	if r.files.store.fixed() {
		t.end.verdict = compress.Verdict{Kind: compress.Unreadable, Offset: t.taken.Load(), Cut: true, Detail: "object changed or was removed before all of it was read"}
	}
	return r.endLane(ctx, t)
}

// onlyRead hides all methods except Read. Its Read repeats a read that returns
// 0 and nil, because a bufio.Reader gives up after several of these.
type onlyRead struct{ io.Reader }

// Read implements io.Reader.
func (o onlyRead) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		n, err = o.Reader.Read(p)
	}
	return n, err
}

// holds compares the beginning of a plain file, and the bytes before the
// position, with what was emitted. It returns nil if they are the same or the
// file is fixed, errReplaced if they differ, or the error of reading them.
func (t *track) holds() error {
	if t.read.in.f.fixed() {
		return nil
	}
	n := min(int64(len(t.read.head)), t.read.cut.off)
	if err := t.read.in.sameAt(0, t.read.head[:n]); err != nil {
		return err
	}
	return t.read.in.sameAt(t.read.cut.off-int64(len(t.read.last)), t.read.last)
}

// sameAt returns nil if the file holds want, or the first tailBytes of want, at
// off; errReplaced if it does not; or the error of reading it.
func (c *content) sameAt(off int64, want []byte) error {
	if len(want) == 0 {
		return nil
	}
	var buf [tailBytes]byte
	got := buf[:min(len(want), len(buf))]
	n, err := c.f.ReadAt(got, off)
	switch {
	case n < len(got) && err != io.EOF:
		return err
	case n < len(got), !bytes.Equal(got, want[:len(got)]):
		return errReplaced
	}
	return nil
}

// note is called with each batch of t that is about to be emitted, when
// t.read.cut has advanced past it. It records the position for a checkpoint,
// and returns the id of the last restart point.
func (r *reader) note(t *track, b *engine.Batch) int64 {
	c := &t.read.cut
	keepPrelude(b, t.read.last, t.read.hash)
	t.read.last = appendTail(t.read.last, b.In)
	_, _ = t.read.hash.Write(b.In) // never fails
	h := t.read.hash
	p := position{off: c.off, line: c.line, inside: c.oversize, left: c.left, open: c.open, loose: t.read.held && !b.Verified, tail: digestOf(t.read.last), sum: h.Sum64(), state: &h, head: c.head}
	var fresh *compress.RestartPoint
	if t.read.in.zr != nil {
		t.squeezed.Store(true)
		t.taken.Store(t.read.in.zr.CompressedBytes())
		if rp, ok := t.read.in.zr.RestartPoint(); ok && rp.Offset() > 0 {
			fresh = &rp
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.open != nil && t.at().open == nil {
		r.log.Warn("quoted cell does not end, reading on with the next line", "path", t.path, "line", c.open.Line, "offset", c.open.Offset, "id", t.id)
	}
	// Unverified positions of a held lane are never stored, so only the last of
	// them is kept.
	if n := len(t.positions); n > 0 && t.positions[n-1].loose {
		t.positions = t.positions[:n-1]
	}
	t.positions = append(t.positions, p)
	if t.growHead(b, int(r.cfg.FingerprintBytes)) {
		r.known.rekey(t)
		r.progress.touch(t)
	}
	// Keep a restart point if it is far enough after the last restart point.
	var before int64
	if n := len(t.points); n > 0 {
		before = t.points[n-1].p.Offset()
	}
	if fresh != nil && fresh.Offset()-before >= int64(r.cfg.RestartPointEvery) {
		if t.read.held && before > t.read.cut.verified.Bytes {
			t.points = t.points[:len(t.points)-1] // reading never resumes there
		}
		t.points = append(t.points, point{id: r.cfg.Store.NewPoint(), p: *fresh})
	}
	if n := len(t.points); n > 0 {
		return t.points[n-1].id
	}
	return 0
}

// appendTail returns the last tailBytes bytes of last followed by text, in the
// memory of last.
func appendTail(last, text []byte) []byte {
	if len(text) >= tailBytes {
		return append(last[:0], text[len(text)-tailBytes:]...)
	}
	if drop := len(last) + len(text) - tailBytes; drop > 0 {
		last = last[:copy(last, last[drop:])]
	}
	return append(last, text...)
}

// growHead appends to t.read.head the part of b that lies within the first n
// bytes of the text. It returns false if there is no such part, or if text is
// missing between the head and b. The caller holds mu.
func (t *track) growHead(b *engine.Batch, n int) bool {
	if b.Off >= int64(n) || b.Off > int64(len(t.read.head)) {
		return false
	}
	t.read.head = append(t.read.head[:b.Off:b.Off], b.In[:min(len(b.In), n-int(b.Off))]...)
	return true
}

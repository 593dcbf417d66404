package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urlfold/urlfold/internal/checkpoint"
	"github.com/urlfold/urlfold/internal/compress"
	"github.com/urlfold/urlfold/pipeline"
)

// An outcome is how one reading of a track has ended.
type outcome uint8

const (
	goesOn   outcome = iota // there is more, and it is another's turn
	rests                   // at the end of what there is now
	ends                    // the lane has ended
	replaced                // the file holds another text now
	fails                   // the file cannot be read now
	stops                   // the run is over
)

// quantum is how many batches of a plain file are read before it is another's
// turn.
const quantum = 64

// do implements job.
func (t *track) do(ctx context.Context, w *Watcher) {
	w.mu.Lock()
	t.step = busy
	t.lostFile = !t.bound
	t.carried = t.in.compressed && t.atEnd && t.final && t.file.same(&t.asRead)
	t.asRead = t.file
	w.mu.Unlock()
	out, err := w.serve(ctx, t)
	w.served(t, out, err)
}

// served takes a track back from a reader.
func (w *Watcher) served(t *track, out outcome, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.step, t.atEnd = resting, out == rests
	if t.failure = ""; out != fails {
		t.tries = 0
		delete(w.broken, t.path)
	}
	t.lostFile, t.carried = false, false
	switch out {
	case goesOn:
		t.step = queued
		w.enqueue(t)
	case rests:
		w.keepOpen(t)
	case replaced:
		w.replace(t)
		w.nudge()
	case fails:
		w.closeContent(t)
		if errors.Is(err, errMoved) || errors.Is(err, fs.ErrNotExist) {
			return // the next scan sees where it is
		}
		t.failure = err.Error()
		t.tries++
		w.broken[t.path] = t.failure
	case ends:
		w.keepOpen(t)                                             // until Finish: a file that is open keeps its inode
		t.file.size, t.file.mtime = t.asRead.size, t.asRead.mtime // if it has changed since, the next scan sees that
		if err != nil {
			w.fatal, w.stop = errors.Join(w.fatal, err), true
			w.wake.Broadcast()
		}
	case stops:
		w.closeContent(t)
		if err != nil && !errors.Is(err, errStopped) && w.fatal == nil {
			w.fatal = err
		}
		w.stop = true
		w.wake.Broadcast()
		w.nudge()
	}
}

// serve reads a track on from where it is.
func (w *Watcher) serve(ctx context.Context, t *track) (outcome, error) {
	if t.lostFile {
		return w.abandon(t)
	}
	if t.carried {
		return w.conclude(ctx, t) // all that is left is what was carried over
	}
	if err := w.openContent(t); err != nil {
		if errors.Is(err, errReplaced) {
			return replaced, nil
		}
		return fails, err
	}
	if w.cfg.OnDamage == damageSkip && t.in.compressed && t.cut.off == 0 && !t.sound {
		if out, v := w.inspect(t); out != goesOn {
			return w.refuse(t, out, v)
		}
		if err := w.resume(t); err != nil {
			return fails, err
		}
	}
	w.openLane(t)
	for n := 0; t.in.zr != nil || n < quantum; n++ {
		if out, err := w.serveBatch(ctx, t); out != goesOn {
			return out, err
		}
	}
	return goesOn, nil
}

// openLane makes sure that the track has a lane.
func (w *Watcher) openLane(t *track) {
	if t.lane != nil {
		return
	}
	name, _ := w.fileOf(t)
	lane := w.rt.NewLane(name, pipeline.LaneLimits{})
	lane.SetID(t.id)
	lane.SetRel(t.rel)
	if len(t.csv) > 0 {
		lane.SetHead(t.csv)
	}
	c := &t.cut
	c.rt, c.framing, c.maxRecord, c.lane = w.rt, w.cfg.Framing, w.cfg.MaxRecord, lane
	c.line = max(c.line, 1)
	c.note = func(b *pipeline.Batch) int64 { return w.note(t, b) }
	w.mu.Lock()
	defer w.mu.Unlock()
	t.lane = lane
	w.byLane[lane] = t
}

// serveBatch reads one batch and emits it.
func (w *Watcher) serveBatch(ctx context.Context, t *track) (outcome, error) {
	b, err := w.rt.Get(ctx, t.lane)
	if err != nil {
		return stops, stopError(ctx, err)
	}
	n, out, err := w.fill(t, b)
	if err2 := t.cut.emit(ctx, b, n); err2 != nil {
		return stops, err2
	}
	switch {
	case out == ends:
		return w.endLane(t)
	case out == rests && !t.in.compressed:
		t.cut.tail = t.cut.tail[:0] // it is read again when there is more, and may be another by then
	}
	return out, err
}

// fill reads into b. It returns how many bytes of it to emit.
func (w *Watcher) fill(t *track, b *pipeline.Batch) (n int, out outcome, err error) {
	c := &t.cut
	if !t.in.compressed {
		t.in.pos = c.off + int64(len(c.tail))
	}
	c.begin(b)
	for {
		if n = c.room(b); n > 0 {
			break
		}
		k, err := t.in.read(b.In[len(b.In):cap(b.In)])
		b.In = b.In[:len(b.In)+k]
		switch {
		case err == nil:
			continue
		case err != io.EOF:
			return 0, fails, err
		case t.in.compressed:
			return w.fillEnd(t, b)
		case !t.holds():
			return 0, replaced, nil
		case !t.final:
			return c.cut(b), rests, nil
		}
		n, again := c.rest(b, true)
		return n, endsUnless(again), nil
	}
	if !t.in.compressed && !t.holds() {
		return 0, replaced, nil
	}
	return n, goesOn, nil
}

func endsUnless(again bool) outcome {
	if again {
		return goesOn
	}
	return ends
}

// fillEnd is fill at the end of what can be decompressed.
func (w *Watcher) fillEnd(t *track, b *pipeline.Batch) (int, outcome, error) {
	v := t.in.zr.Verdict()
	t.verdict = v
	t.report.Format, t.report.CompressedBytes = t.in.zr.Format(), t.in.zr.CompressedBytes()
	growing := !t.final && (v.Kind == compress.Truncated || !v.Damage())
	if growing {
		return t.cut.cut(b), rests, nil
	}
	if v.Kind == compress.Unreadable && !w.ends {
		return 0, fails, errors.New(v.Detail)
	}
	n, again := t.cut.rest(b, !v.Cut)
	if !again {
		t.report.Lost = int64(len(b.In) - n)
	}
	return n, endsUnless(again), nil
}

// conclude ends a compressed track that was read to its end before that was known
// to be the end.
func (w *Watcher) conclude(ctx context.Context, t *track) (outcome, error) {
	w.openLane(t)
	for again := true; again; {
		b, err := w.rt.Get(ctx, t.lane)
		if err != nil {
			return stops, stopError(ctx, err)
		}
		t.cut.begin(b)
		var n int
		if n, again = t.cut.rest(b, !t.verdict.Cut); !again {
			t.report.Lost = int64(len(b.In) - n)
		}
		if err := t.cut.emit(ctx, b, n); err != nil {
			return stops, err
		}
	}
	return w.endLane(t)
}

// endLane ends the lane of a track that is at its end, which is not the reader's any
// more then. With on_damage: stop the error is the damage.
func (w *Watcher) endLane(t *track) (outcome, error) {
	path, _ := w.fileOf(t)
	t.report.Path, t.report.Verdict, t.report.Lane = path, t.verdict, t.lane
	t.report.Bytes, t.report.Lines = t.cut.off+t.report.Lost, t.cut.line-1
	t.cut.tail = nil
	now, fits := t.sightEnd()
	w.mu.Lock()
	t.life = ended // before the lane ends: Finish may be called at once
	w.log.Debug("a file is at its end", "path", t.path, "inode", t.file.id.ino, "read", t.cut.off, "verdict", t.verdict.String(), "id", t.id)
	if fits {
		t.asRead = now
	}
	w.mu.Unlock()
	lane, verdict := t.lane, t.verdict
	lane.Complete()
	w.rt.End(lane)
	if verdict.Damage() && w.cfg.OnDamage == damageStop {
		return ends, fmt.Errorf("%s: %v", path, verdict)
	}
	return ends, nil
}

// sightEnd returns how the file of t is now, if all of that was read.
func (t *track) sightEnd() (s sighting, fits bool) {
	if t.in.f == nil {
		return s, false
	}
	fi, err := t.in.f.Stat()
	if err != nil {
		return s, false
	}
	s = sight("", "", fi)
	if t.in.compressed {
		return s, s.size == t.report.CompressedBytes
	}
	return s, s.size == t.cut.off
}

// abandon ends the lane of a track whose file is gone. What was seen of it and
// not read is lost.
func (w *Watcher) abandon(t *track) (outcome, error) {
	w.openLane(t)
	w.mu.Lock()
	if lost := t.file.size - t.at().off; lost > 0 && !t.in.compressed {
		w.stats.lost += lost
		t.report.Lost = lost
	}
	w.mu.Unlock()
	return w.endLane(t)
}

// inspect reads a compressed file to its end, to see whether it is sound: goesOn;
// or cut short, and perhaps still being written: rests; or damaged: ends.
func (w *Watcher) inspect(t *track) (outcome, compress.Verdict) {
	if _, err := t.in.f.Seek(0, io.SeekStart); err != nil {
		return goesOn, compress.Verdict{}
	}
	zr := compress.NewReader(t.in.f, w.readerOptions(t))
	_, _ = io.Copy(io.Discard, onlyRead{zr})
	zr.Close()
	v := zr.Verdict()
	switch {
	case v.Kind == compress.Truncated && !t.final:
		return rests, v
	case v.Damage():
		t.report.Format, t.report.CompressedBytes, t.report.Lost = zr.Format(), zr.CompressedBytes(), zr.Bytes()
		return ends, v
	}
	t.sound = true
	return goesOn, v
}

// refuse is serve for a file of which nothing is emitted.
func (w *Watcher) refuse(t *track, out outcome, v compress.Verdict) (outcome, error) {
	t.in.rest()
	if out == rests {
		return rests, nil
	}
	t.verdict = v
	w.openLane(t)
	t.lane.Skip()
	return w.endLane(t)
}

// onlyRead hides all methods but Read.
type onlyRead struct{ io.Reader }

// holds reports whether a plain file still has the text that was emitted: the
// beginning, and what lies before the place where reading goes on.
func (t *track) holds() bool {
	n := min(int64(len(t.head)), t.cut.off)
	return sameAt(t.in.f, 0, t.head[:n]) && sameAt(t.in.f, t.cut.off-int64(len(t.last)), t.last)
}

// sameAt reports whether f holds want at off.
func sameAt(f io.ReaderAt, off int64, want []byte) bool {
	if len(want) == 0 {
		return true
	}
	var buf [tailBytes]byte
	got := buf[:min(len(want), len(buf))]
	n, _ := f.ReadAt(got, off)
	return n == len(got) && bytes.Equal(got, want[:len(got)])
}

// note is called with each batch of t before it is emitted, when t.cut is behind
// it. It keeps what makes a checkpoint of that place, and returns the id of the
// restart point before it.
func (w *Watcher) note(t *track, b *pipeline.Batch) int64 {
	c := &t.cut
	keepPrelude(b, t.last)
	t.last = appendTail(t.last, b.In)
	p := place{c.off, c.line, c.oversize, digestOf(t.last)}
	var fresh *compress.RestartPoint
	if t.in.zr != nil {
		t.squeezed.Store(true)
		t.taken.Store(t.in.zr.CompressedBytes())
		if rp, ok := t.in.zr.RestartPoint(); ok && rp.Offset() > 0 {
			fresh = &rp
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t.places = append(t.places, p)
	if t.growHead(b, int(w.cfg.FingerprintBytes)) {
		w.rekey(t)
	}
	return w.notePoint(t, fresh)
}

// notePoint keeps a restart point if it is far enough behind the last one.
func (w *Watcher) notePoint(t *track, fresh *compress.RestartPoint) int64 {
	var before int64
	if n := len(t.points); n > 0 {
		before = t.points[n-1].p.Offset()
	}
	if fresh != nil && fresh.Offset()-before >= int64(w.cfg.RestartPointEvery) {
		t.points = append(t.points, point{id: w.cfg.Store.NewPoint(), p: *fresh})
	}
	if n := len(t.points); n > 0 {
		return t.points[n-1].id
	}
	return 0
}

// appendTail returns the last tailBytes bytes of last and text, in last.
func appendTail(last, text []byte) []byte {
	if len(text) >= tailBytes {
		return append(last[:0], text[len(text)-tailBytes:]...)
	}
	if drop := len(last) + len(text) - tailBytes; drop > 0 {
		last = last[:copy(last, last[drop:])]
	}
	return append(last, text...)
}

// growHead takes over what b has of the first n bytes of the text. It reports
// whether there was anything. The caller holds mu.
func (t *track) growHead(b *pipeline.Batch, n int) bool {
	if b.Off >= int64(n) || b.Off > int64(len(t.head)) {
		return false
	}
	t.head = append(t.head[:b.Off:b.Off], b.In[:min(len(b.In), n-int(b.Off))]...)
	return true
}

// rekey makes t known by as much of its beginning as was emitted. The caller
// holds mu.
func (w *Watcher) rekey(t *track) {
	n := min(t.cut.off, int64(len(t.head)), int64(w.cfg.FingerprintBytes))
	before := t.key
	t.key = headKey{n, digestOf(t.head[:n])}
	w.index(t, before)
}

// stateOf returns the state of a track that is done.
func stateOf(v compress.Verdict) checkpoint.State {
	if v.Damage() {
		return checkpoint.Damaged
	}
	return checkpoint.Done
}

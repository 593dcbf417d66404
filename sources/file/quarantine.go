package file

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file implements a watcher's handling of text that no checksum verifies.
// In a held lane, a damaged file passes through these states:
//
//	emitted as read ────────▶ damage found ──▶ closed ──────────────▶ done
//	checkpoint: reading     lane.Withdraw    checkpoint: quarantined  damaged
//
// A process that finds a file quarantined emits nothing more of it. It locates the
// damage again, and the sinks complete the work that the last process did not finish.

// mind makes the lane of a compressed file count its verified records, and
// holds the lane if unverified records can be withdrawn.
func (r *reader) mind(t *track, lane *engine.Lane) {
	if !t.read.in.compressed && !t.read.closed {
		return
	}
	t.read.cut.sums = func() int64 {
		switch {
		case t.read.seen != nil:
			return t.read.seen.verified
		case t.read.in.zr == nil:
			return t.read.cut.verified.Bytes
		}
		off, _ := t.read.in.zr.Verified()
		return off
	}
	t.read.cut.late = func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if n := len(t.positions); n > 0 {
			t.positions[n-1].loose = false
		}
	}
	lane.TrackVerified()
	if t.read.held = t.read.closed || r.cfg.OnDamage == damageQuarantine && r.cfg.Hold; t.read.held {
		lane.Hold()
		// The checkpoint of a held lane is at a verified end or at the
		// beginning.
		t.read.cut.verified, t.read.cut.atVerified = Extent{Bytes: t.read.cut.off, Lines: t.read.cut.line - 1}, t.read.cut.head
	}
}

// skips reports whether t is skipped if its file is damaged: nothing of the file
// was emitted, and no earlier look has found it intact.
func (r *reader) skips(t *track) bool {
	return r.cfg.OnDamage == damageSkip && t.read.cut.off == 0 && !t.read.intact
}

// inspect reads a whole compressed file before any of it is emitted, if the
// policy requires that. done reports whether there is nothing to emit now.
func (r *reader) inspect(ctx context.Context, t *track) (out outcome, done bool, err error) {
	t.read.seen, t.read.in.bound = nil, false
	skip := r.skips(t)
	if !t.read.in.compressed || !skip && (r.cfg.OnDamage != damageQuarantine || r.cfg.Hold) {
		return goesOn, false, nil
	}
	e, err := r.examine(ctx, t)
	switch {
	case errors.Is(err, errStopped):
		return stops, true, err
	case err != nil:
		return fails, true, err
	case e == nil:
		return goesOn, false, nil
	case e.err != nil:
		return fails, true, e.err // a read error says nothing about the content
	case !skip:
		t.read.seen, t.read.in.bound, t.read.in.limit = e, true, e.limit()
		return goesOn, false, nil
	case e.verdict.Kind == compress.Truncated && !t.sight.final:
		t.read.in.rest()
		return rests, true, nil
	case !e.verdict.Damage():
		t.read.intact = true
		return goesOn, false, nil
	}
	t.read.seen = e
	t.read.in.rest()
	t.judge()
	t.report().Lost = e.bytes
	r.openLane(t)
	t.lane.Skip()
	out, err = r.endLane(ctx, t)
	return out, true, err
}

// examine reads the compressed file of t from the last restart point before the
// position on, as far as it can be read.
func (r *reader) examine(ctx context.Context, t *track) (*examination, error) {
	var from compress.RestartPoint
	r.mu.Lock()
	if p := t.pointBefore(t.read.cut.off); p != nil {
		from = p.p
	}
	r.mu.Unlock()
	src, shut, err := t.read.in.f.again()
	if err != nil {
		return nil, err
	}
	defer func() { _ = shut() }() // opened for reading only
	zr, err := compress.NewReaderAt(src, from, r.files.readerOptions(t))
	if err != nil {
		return nil, err
	}
	defer zr.Close()
	e, err := examine(ctx, zr)
	if err == nil {
		err = zr.Err() // a read error says nothing about the content
	}
	return e, err
}

// judge records the verdict on a compressed file that was read to the end.
func (t *track) judge() {
	r := t.report()
	if e := t.read.seen; e != nil {
		t.end.verdict, r.Format, r.CompressedBytes, r.Unsummed = e.verdict, e.format, e.compressed, e.unsummed
		return
	}
	_, summed := t.read.in.zr.Verified()
	t.end.verdict, r.Format, r.CompressedBytes = t.read.in.zr.Verdict(), t.read.in.zr.Format(), t.read.in.zr.CompressedBytes()
	r.Unsummed = !summed && r.Format != compress.Plain
}

// whole reports whether a compressed text ends at the end of a record.
func (t *track) whole() bool {
	return !t.end.verdict.Cut && (t.read.seen == nil || !t.end.verdict.Damage())
}

// concludeClosed finishes a file after a restart: an earlier process has already
// withdrawn its unverified records.
func (r *reader) concludeClosed(ctx context.Context, t *track) (outcome, error) {
	zr := t.read.in.zr
	if zr == nil {
		return replaced, nil // no longer compressed
	}
	e, err := examine(ctx, zr)
	switch {
	case err != nil:
		return stops, err
	case e != nil && e.err != nil:
		return fails, e.err
	case e == nil || !e.verdict.Damage():
		// An intact copy with the same beginning has replaced the file.
		r.log.Warn("quarantined file no longer damaged, reading continues", "path", t.path)
		r.mu.Lock()
		t.read.closed, t.entry.State = false, checkpoint.Reading
		r.mu.Unlock()
		t.read.in.rest()
		return goesOn, nil
	}
	t.read.seen = e
	t.judge()
	r.openLane(t)
	return r.endLane(ctx, t)
}

// verifyEnd fills in which part of a damaged file is verified, and the extent
// of the rest.
func (r *reader) verifyEnd(ctx context.Context, t *track) error {
	found := t.report()
	found.Verified = t.read.cut.verified
	emitted := linesOf(found.Lines, t.read.last)
	found.Unverified = Extent{Bytes: t.read.cut.off - found.Verified.Bytes, Lines: emitted - found.Verified.Lines}
	if found.Unsummed && r.cfg.OnDamage == damageQuarantine {
		r.log.Warn("compressed file has no checksums, its records are unverified", "path", found.Path, "format", found.Format.String())
	}
	if !t.end.verdict.Damage() || !t.read.in.compressed && !t.read.closed || t.read.in.f == nil {
		found.Withheld = t.end.verdict.Damage() && t.read.held
		return nil
	}
	found.Withheld = t.read.held || t.lane.Skipped() || t.read.seen != nil
	rest := r.rest(t)
	var border int64 // offset in rest up to which records are verified: the batches of this process may not cover all of them
	if !t.read.held {
		border = max(0, r.verifiedBytes(t)-rest.off)
	}
	s, err := take(ctx, rest, border, &judge{framing: r.cfg.Framing, newFit: r.cfg.NewFit, head: t.read.cut.verifiedHead()})
	if errors.Is(err, errStopped) {
		return err
	}
	found.Verified.Bytes, found.Verified.Lines = found.Verified.Bytes+s.before.Bytes, found.Verified.Lines+s.before.Lines
	found.fill(s, emitted)
	return nil
}

// verifiedBytes returns the length of the verified part of a file that was read
// to the end.
func (r *reader) verifiedBytes(t *track) int64 {
	switch {
	case t.read.seen != nil:
		return t.read.seen.verified
	case t.read.in.zr == nil:
		return 0
	}
	off, _ := t.read.in.zr.Verified()
	return off
}

// rest returns the text of a file after its verified part. While t.read.raw is
// open, that file is read even if it was renamed.
func (r *reader) rest(t *track) *text {
	rest := &text{off: t.read.cut.verified.Bytes, opt: r.files.readerOptions(t)}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range t.points {
		if p := t.points[i].p; p.Offset() <= rest.off {
			rest.from = p
		}
	}
	f := t.read.in.f
	rest.open = func() (io.ReadSeeker, func() error, error) {
		if f == nil {
			return nil, nil, fs.ErrNotExist
		}
		return f.again()
	}
	return rest
}

// withdraw returns what to withdraw of a track that was read to the end, or
// nil. The file stays open until the sinks have read what they need.
func (r *reader) withdraw(t *track) *engine.Unverified {
	if !t.read.held || !t.end.verdict.Damage() {
		return nil
	}
	rest := r.rest(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	t.read.closed = true
	if t.read.raw = t.read.in.f; t.read.raw != nil {
		t.read.in.rest()
		t.read.in.f = nil
		r.files.descs--
	}
	return &engine.Unverified{Open: rest.Open}
}

// forgetRest resets a finished track whose unverified part was withdrawn to its
// verified end. The caller holds mu.
func (r *reader) forgetRest(t *track) {
	if t.read.raw != nil {
		_ = t.read.raw.Close() // opened for reading only
		t.read.raw = nil
	}
	if !t.read.closed {
		return
	}
	v := t.read.cut.verified
	t.read.cut.off, t.read.cut.line, t.read.cut.oversize = v.Bytes, v.Lines+1, false
	for n := len(t.positions); n > 0 && t.positions[n-1].off > v.Bytes; n-- {
		t.positions = t.positions[:n-1]
	}
	if n := len(t.positions); n == 0 {
		t.read.hash, t.read.hashFrom = newTextHash(), 0
	} else if state := t.positions[n-1].state; state != nil {
		t.read.hash = *state
	}
	r.known.rekey(t)
	r.progress.touch(t)
}

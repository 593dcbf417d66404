package file

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// This file reads files again, up to a position, to verify that they hold the
// text that was read before. That takes as long as reading them the first time,
// so separate goroutines do it. Nothing is emitted from the file meanwhile.

// A doubt says whether a file still holds the text that its track has read.
type doubt uint8

const (
	trusted   doubt = iota
	doubted         // the file has changed without growing: wait for the next scan
	suspected       // the file must be read and hashed
)

// rewritten reports whether a file that was in state s may hold another text
// now: it has changed, and neither growth nor a new name explains that.
func (s *fileState) rewritten(now *fileState, renamed bool) bool {
	switch {
	case now.size > s.size:
		return false
	case now.size != s.size || now.mtime != s.mtime:
		return true
	}
	return s.changed != 0 && now.changed != s.changed && !renamed
}

// changedSince returns the change time to record. If the size or the
// modification time is new as well, that explains a new change time, and
// changedSince returns s.changed. Otherwise it returns was.changed, so that the
// next scan decides whether a new name explains the change.
func (s *fileState) changedSince(was *fileState) int64 {
	if s.same(was) {
		return was.changed
	}
	return s.changed
}

// mustHash reports whether the hash of t covers more than the tail at its
// position.
func (t *track) mustHash() bool { off := t.at().off; return t.read.hashFrom < off-tailLen(off) }

// howKnown names the evidence by which a text was found to agree with t.
func (t *track) howKnown() string {
	switch {
	case t.read.hashFrom == 0:
		return "hash"
	case t.mustHash():
		return "head, and hash of a part"
	}
	return "head and tail"
}

// An answer is the result of comparing a text with the text of a track up to a
// position.
type answer uint8

const (
	differs   answer = iota
	lookalike        // same length and tail, different hash
	tooShort         // the text ends before the position
	agrees
)

// A rest says what follows the last compared position of a compressed text.
type rest uint8

const (
	restUnknown rest = iota // the text was not read that far, or is damaged there
	restNone
	restText
)

// A wanted is a position to compare a text at.
type wanted struct {
	t    *track
	from int64 // offset at which p.sum begins
	p    position
}

// want returns the current position of t.
func want(t *track) wanted { return wanted{t, t.read.hashFrom, t.at()} }

// begin returns the offset from which a must read the text.
func (a *wanted) begin() int64 { return min(a.from, a.p.off-tailLen(a.p.off)) }

// A matcher compares a text with positions while reading it.
type matcher struct {
	v    *verifier
	r    io.Reader
	off  int64
	last []byte
	sums map[int64]*textHash // by the offset at which they begin
	buf  []byte
	left int64 // bytes still to read
	err  error
}

// A verifier reads files again and compares their text with the text of tracks.
type verifier struct {
	cfg   *WatchConfig
	log   *slog.Logger
	files *opener
	crew  *crew

	mu        *sync.Mutex // lock of the watcher; guards the fields below
	stats     *counts
	verifying int64 // bytes still to be read for comparisons
}

// match reads a text from r, beginning at offset off, and answers the questions
// in asked, which are sorted by position. It returns errStopped, or an error of
// r other than the end of the text.
func (v *verifier) match(ctx context.Context, r io.Reader, off int64, asked []wanted, answers []answer) error {
	left := asked[len(asked)-1].p.off - off
	m := &matcher{v: v, r: r, off: off, sums: map[int64]*textHash{}, buf: make([]byte, min(verifyChunk, left)), left: left}
	v.expect(left)
	defer func() { v.expect(-m.left) }()
	for i := range asked {
		if a := &asked[i]; m.sums[a.from] == nil {
			h := newTextHash()
			m.sums[a.from] = &h
		}
	}
	for i := range asked {
		a := &asked[i]
		// While lanes are being read, pause after each read for as long as it
		// took, to leave them disk and CPU time.
		for m.off < a.p.off && m.err == nil {
			began := time.Now()
			var n int
			n, m.err = io.ReadFull(m.r, m.buf[:min(int64(len(m.buf)), a.p.off-m.off)])
			m.take(m.buf[:n])
			switch {
			case m.err == io.ErrUnexpectedEOF:
				m.err = io.EOF
			case ctx.Err() != nil || !m.v.crew.running():
				m.err = errStopped
			case m.verified(n):
				_ = pause.For(ctx, min(time.Since(began), 100*time.Millisecond)) // the loop looks at ctx
			}
		}
		h := *m.sums[a.from]
		switch {
		case m.err == io.EOF:
			answers[i] = tooShort
		case m.err != nil:
			return m.err
		case digestOf(m.last) != a.p.tail:
			answers[i] = differs
		case h.Sum64() != a.p.sum:
			answers[i] = lookalike
		default:
			answers[i] = agrees
		}
	}
	return nil
}

// verifyChunk is the number of bytes per read.
const verifyChunk = 1 << 20

// take hashes the next part of the text.
func (m *matcher) take(text []byte) {
	for from, h := range m.sums {
		if skip := max(0, from-m.off); skip < int64(len(text)) {
			_, _ = h.Write(text[skip:]) // never fails
		}
	}
	m.last = appendTail(m.last, text)
	m.off += int64(len(text))
}

// verified counts n bytes that were read again. It reports whether lanes are
// being read at the same time.
func (m *matcher) verified(n int) (busy bool) {
	m.left -= int64(n)
	m.v.mu.Lock()
	defer m.v.mu.Unlock()
	m.v.stats.verified += int64(n)
	m.v.verifying -= int64(n)
	return m.v.crew.reading.active > 0
}

// expect adds n to the bytes still to be read again.
func (v *verifier) expect(n int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.verifying += n
}

// largeText is the number of bytes at which verifying a text is logged.
const largeText = 64 << 20

// compareText answers the questions in asked, which are sorted by position, for
// the text of f. It returns what follows the last position.
func (v *verifier) compareText(ctx context.Context, f handle, path string, asked []wanted, answers []answer) (rest, error) {
	var raw [rawHead]byte
	n, err := f.ReadAt(raw[:], 0)
	if err != nil && err != io.EOF {
		return restUnknown, err
	}
	end := asked[len(asked)-1].p.off
	if end >= largeText {
		was, _ := v.files.fileOf(asked[len(asked)-1].t)
		v.log.Info("verifying file content", "path", path, "was", was, "bytes", end)
	}
	if !needsReader(raw[:n], path) {
		begin := end
		for i := range asked {
			begin = min(begin, asked[i].begin())
		}
		return restUnknown, v.match(ctx, io.NewSectionReader(f, begin, math.MaxInt64-begin), begin, asked, answers)
	}
	zr := compress.NewReader(io.NewSectionReader(f, 0, math.MaxInt64), decoding(v.cfg.Limits, path))
	defer zr.Close()
	err = v.match(ctx, onlyRead{zr}, 0, asked, answers)
	var one [1]byte
	n = 0
	if err == nil {
		n, _ = io.ReadFull(zr, one[:])
	}
	if zr.Err() != nil {
		return restUnknown, zr.Err()
	}
	switch {
	case err != nil || answers[len(answers)-1] == tooShort:
		return restUnknown, err
	case n > 0:
		return restText, nil
	case zr.Verdict().Damage():
		return restUnknown, nil
	}
	return restNone, nil
}

// logAnswer logs the result of comparing the file at path with a known text.
// The caller holds mu.
func (v *verifier) logAnswer(path string, a *wanted, got answer) {
	switch {
	case got == lookalike:
		v.stats.lookalikes++
		v.log.Warn("file resembles a known file but differs, reading from the beginning",
			"path", path, "was", a.t.path, "bytes", a.p.off, "verified", a.t.howKnown())
	case got == agrees && a.p.off >= largeText:
		v.log.Info("file content verified", "path", path, "was", a.t.path, "bytes", a.p.off, "verified", a.t.howKnown())
	case got == agrees:
		v.log.Debug("file content verified", "path", path, "was", a.t.path, "bytes", a.p.off, "verified", a.t.howKnown())
	}
}

// A proof is the job of checking whether the file of t, which changed without
// growing, still holds the text that was read.
type proof struct{ t *track }

// do implements job.
func (j *proof) do(ctx context.Context, w *watcher) {
	t := j.t
	w.mu.Lock()
	t.step = busy
	asked, answers := []wanted{want(t)}, []answer{differs}
	as, f := t.sight.file, t.read.in.f
	as.path = t.path
	w.mu.Unlock()
	seen, err := w.texts.prove(ctx, f, as, asked, answers)
	w.mu.Lock()
	defer w.mu.Unlock()
	t.step = resting
	w.crew.nudge()
	switch {
	case errors.Is(err, errStopped), errors.Is(err, errMoved), errors.Is(err, fs.ErrNotExist):
		return // the run ends, or the next scan finds the new path
	case err != nil:
		w.broken[as.path] = err.Error() // the next poll retries
		return
	}
	delete(w.broken, as.path)
	w.texts.logAnswer(as.path, &asked[0], answers[0])
	w.progress.touch(t)
	if t.sight.doubt = trusted; answers[0] == agrees {
		t.sight.file.stamps = seen.stamps
		return
	}
	w.bound.replace(t) // t.sight.file stays as it was, so that a restart has the same doubt
	w.bound.metBefore[as.id] = candidate{s: seen, meeting: meeting{since: w.bound.clock()}, checked: map[*track]checked{t: {off: asked[0].p.off, upto: asked[0].p.off, answer: answers[0]}}}
}

// prove compares f with a position. If f is nil, prove opens the file at the
// path of as. It returns the state of the file before the comparison.
func (v *verifier) prove(ctx context.Context, f handle, as fileState, asked []wanted, answers []answer) (seen fileState, err error) {
	if f == nil {
		if f, err = v.files.store.open(as.path, as.id); err != nil {
			return seen, err
		}
		defer func() { _ = f.Close() }()
	}
	if seen, err = f.stat(); err != nil {
		return seen, err
	}
	_, err = v.compareText(ctx, f, as.path, asked, answers)
	return seen.at(as.path, as.rel), err
}

// A hashAfter hashes everything written to it except the first skip bytes.
type hashAfter struct {
	skip int64
	hash textHash
}

// Write implements io.Writer. It never fails.
func (h *hashAfter) Write(text []byte) (int, error) {
	n := min(h.skip, int64(len(text)))
	h.skip -= n
	_, _ = h.hash.Write(text[n:])
	return len(text), nil
}

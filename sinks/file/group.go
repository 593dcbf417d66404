package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file has two parts:
//
//   - Submit and Barrier, which many goroutines call.
//   - The round: sync the files, answer batches, rename files.

// A held is a batch that was written, or must be written again, and waits for a
// sync. Its bytes are in the arena of the batch until it is answered.
type held struct {
	ticket engine.Ticket
	batch  *engine.Batch // nil: not from a lane
	head   []byte        // header, if the batch is the first of its file
	bytes  []byte
	end    []byte // line end for the last record, if that is incomplete
}

func (h *held) size() int { return len(h.head) + len(h.bytes) + len(h.end) }

// The wait before a broken output is retried doubles from the first value to
// the last.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Submit implements [engine.Sink]. It writes the batch, which a later round
// answers. It blocks while the output cannot be written.
func (s *log) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	h := held{ticket: t, batch: b, bytes: t.Stream().Bytes}
	if !endsRecord(b, t.Stream()) {
		h.end = lineFeed
	}
	err := s.hold(ctx, h)
	var lasting *lastingError
	if errors.As(err, &lasting) {
		t.Done(engine.Result{Err: err, Class: engine.Fatal})
		return nil
	}
	return err
}

// hold writes h and keeps it until it is durable. If it returns an error, of
// ctx or a lastingError, it has not kept h.
func (s *log) hold(ctx context.Context, h held) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.admit(ctx, h.batch, h.size())
	if err != nil {
		return err
	}
	if !o.begun() {
		h.head = s.cfg.Header
	}
	o.records += int64(len(h.ticket.Stream().Recs))
	o.inRecord = inRecord(h.batch)
	o.pending = append(o.pending, h)
	s.holds++
	s.unsynced += int64(h.size())
	s.counts.holds.Store(int64(s.holds))
	if err := s.alone(o, func() error { return s.put(o, &h) }); err != nil {
		s.breaks(o, err)
	}
	if s.many() {
		s.notify.ring()
	}
	return nil
}

// lineFeed ends a record that has no line end.
var lineFeed = []byte{'\n'}

// many reports whether enough batches wait for a sync to begin the next round at once.
// The caller holds mu.
func (s *log) many() bool {
	return s.holds*2 >= s.cfg.Batches || s.unsynced >= int64(s.cfg.SyncBytes)
}

// put adds h to the text of o. The caller holds mu.
func (s *log) put(o *output, h *held) error {
	if b := h.batch; b != nil && o.span.begins(b) {
		o.span = span{lane: b.Lane, segment: b.Segment, start: o.here(b.Lane.Held())}
	}
	if s.format == compress.Plain {
		return s.files.write(o, h.head, h.bytes, h.end)
	}
	if err := s.proceed(o); err != nil {
		return err
	}
	s.compress(o, h)
	return nil
}

// inRecord reports whether an oversize record continues after b.
func inRecord(b *engine.Batch) bool {
	return b != nil && (b.Piece == engine.First || b.Piece == engine.Middle)
}

// endsRecord reports whether s, the records of b, ends with a complete record. The last
// record of an input may have no line end. The output needs a line end there, because
// another record may follow and because recovery treats an incomplete line as torn.
// Records that are compressed apart need none, because their members delimit them, and
// binary records state their own length. A hole (see record.Stats) is not a record: the
// next line follows it directly.
func endsRecord(b *engine.Batch, s *engine.Stream) bool {
	p := s.Bytes
	return len(p) == 0 || p[len(p)-1] == '\n' || s.Apart || s.Binary || inRecord(b) || bytes.HasSuffix(p, hole)
}

// hole is the end of each part of a hole: 16 zero bytes.
var hole = make([]byte, 16)

var (
	errNotOpen = errors.New("file sink: not open")
)

// admit returns the output for n bytes of b, and waits while it cannot be
// written. The caller holds mu.
func (s *log) admit(ctx context.Context, b *engine.Batch, n int) (*output, error) {
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.state != logOpen {
			return nil, errNotOpen
		}
		if s.lasting != nil {
			return nil, s.lasting
		}
		o, err := s.table.current(b, n)
		if err == nil && o.err == nil {
			if !o.busy {
				return o, nil
			}
			s.idle.Wait()
			try = -1
			continue
		}
		if lasts(err) {
			s.fail(err)
			continue
		}
		if errors.Is(err, errCrowded) {
			s.crowded = true
			s.notify.ring()
			s.pause(ctx, s.cfg.SyncInterval)
			continue
		}
		if err != nil {
			s.complain(err)
		}
		s.pause(ctx, s.retryAfter(try))
	}
}

// A lastingError is an output error that a retry cannot fix.
type lastingError struct{ err error }

// Error implements error.
func (e *lastingError) Error() string { return "file sink: " + e.err.Error() }

// Unwrap returns the wrapped error.
func (e *lastingError) Unwrap() error { return e.err }

// lasts reports whether retrying after err is pointless: the output is not a
// regular file, or the file system lacks an operation that durable output
// requires.
func lasts(err error) bool {
	for _, e := range []error{disk.ErrRefused, errHeader, syscall.EPIPE, syscall.ESPIPE, syscall.EINVAL, syscall.ENXIO} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// fail ends the run with err, a lasting error: the next round answers all
// batches with it. The caller holds mu.
func (s *log) fail(err error) {
	if s.lasting != nil {
		return
	}
	s.lasting = &lastingError{err}
	s.wake()
	s.notify.ring()
}

// pause waits until an output is repaired, for d, or until ctx is done. The
// caller holds mu, which pause releases while it waits.
func (s *log) pause(ctx context.Context, d time.Duration) {
	mended := s.mended
	s.mu.Unlock()
	defer s.mu.Lock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-mended:
	case <-t.C:
	}
}

// wake wakes all goroutines in pause. The caller holds mu.
func (s *log) wake() {
	close(s.mended)
	s.mended = make(chan struct{})
}

// A bell holds one signal.
type bell chan struct{}

// ring sends the signal, unless there is one.
func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

// retryAfter returns the wait before the given retry.
func (s *log) retryAfter(try int) time.Duration { return min(s.firstRetry<<min(try, 6), lastRetry) }

// complain makes Health return err, and logs it if there was no error before.
func (s *log) complain(err error) {
	if s.sick.Swap(&err) == nil {
		s.log.Warn("output write failed, retrying", "error", err)
	}
}

// Barrier implements [engine.Sink]. It waits, without a time limit, for a
// round after which no output is broken.
func (s *log) Barrier(ctx context.Context) error {
	clean := make(chan struct{})
	s.mu.Lock()
	if s.state != logOpen {
		s.mu.Unlock()
		return errNotOpen
	}
	s.waiters = append(s.waiters, clean)
	s.mu.Unlock()
	s.notify.ring()
	select {
	case <-clean:
		return nil
	case <-s.over:
		return errNotOpen
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run performs rounds, at intervals and on request, until quit is closed.
func (s *log) run() {
	defer close(s.over)
	t := time.NewTicker(s.cfg.SyncInterval)
	defer t.Stop()
	for {
		late := false
		select {
		case <-s.quit:
			return
		case <-s.notify:
		case <-t.C:
			late = true
		}
		if s.round(late) {
			t.Reset(s.cfg.SyncInterval)
		}
	}
}

// A share is the part of one output in a round.
type share struct {
	o       *output
	batches int   // number of pending batches to sync
	end     place // end of the file with these batches
	err     error
}

// round syncs the outputs, if that is due, and answers their batches. It then
// renames finished files and lets the waiting Barriers return. late reports that
// the sync interval has passed.
func (s *log) round(late bool) (synced bool) {
	s.mu.Lock()
	waiters, requests := s.waiters, s.requests
	s.waiters, s.requests = nil, nil
	synced = late || s.many() || s.crowded || len(waiters)+len(requests) > 0
	s.table.rotateDue()
	// Repair the broken outputs that are due, and collect the outputs to
	// sync.
	var shares []share
	var work sync.WaitGroup // several outputs are compressed at the same time
	for _, o := range s.table.outputs() {
		if o.err == nil && !(synced && o.behind()) {
			continue
		}
		work.Go(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			for o.busy {
				s.idle.Wait()
			}
			if o.err != nil && !time.Now().Before(o.retry) {
				s.mend(o)
			}
			if o.err != nil || !synced || !o.behind() {
				return
			}
			err := s.alone(o, func() error { return s.flush(o) })
			switch {
			case errors.Is(err, errCrowded):
				return // the output has no batches, so the next round can flush it
			case err != nil:
				s.breaks(o, err)
				return
			}
			o.syncing = true
			shares = append(shares, share{o: o, batches: len(o.pending), end: o.here(false)})
		})
	}
	s.mu.Unlock()
	work.Wait()
	s.files.syncAll(shares)
	s.mu.Lock()
	durable := s.resolve(shares)
	var failed []held
	lasting := s.lasting
	if lasting != nil {
		failed = s.giveUp()
	}
	s.mu.Unlock()
	// This is the only place where this sink reports durability, directly
	// after the sync.
	for _, h := range durable {
		h.ticket.Done(engine.Result{})
	}
	for _, h := range failed {
		h.ticket.Done(engine.Result{Err: lasting, Class: engine.Fatal})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishAll(requests)
	s.table.publishAll()
	clean := s.diagnose()
	// Close the least recently used files if too many are open. Files that
	// wait for a sync stay open.
	if s.table.counts.open.Load() > int64(s.table.cfg.OpenFiles) {
		s.table.shutIdle(s.table.cfg.OpenFiles)
	}
	if s.crowded {
		s.crowded = false
		s.wake()
	}
	if !clean {
		s.waiters = append(waiters, s.waiters...)
		return synced
	}
	for _, w := range waiters {
		close(w)
	}
	return synced
}

// resolve removes the batches that became durable from their outputs and
// returns them, to be answered. It marks the outputs whose sync failed.
func (s *log) resolve(shares []share) (durable []held) {
	durable = s.durable[:0]
	for _, sh := range shares {
		o := sh.o
		o.syncing = false
		if sh.err != nil {
			s.failed(o, sh.err)
			continue
		}
		for _, h := range o.pending[:sh.batches] {
			s.unsynced -= int64(h.size())
		}
		durable = append(durable, o.pending[:sh.batches]...)
		o.pending = slices.Delete(o.pending, 0, sh.batches)
		s.holds -= sh.batches
		o.synced = sh.end
	}
	s.counts.holds.Store(int64(s.holds))
	s.durable = durable
	return durable
}

// breaks registers that o must be repaired before anything else is written to
// it. The caller holds mu.
func (s *log) breaks(o *output, err error) {
	o.err = fmt.Errorf("%s: %w", o.name, err)
	if lasts(err) {
		s.fail(o.err)
	}
	wait := s.retryAfter(o.tries)
	o.retry = time.Now().Add(wait)
	o.tries++
	time.AfterFunc(wait, s.notify.ring)
	s.complain(o.err)
}

// diagnose updates the error that Health returns, and reports whether all
// submitted batches can be written.
func (s *log) diagnose() (clean bool) {
	clean = true
	var worst error
	for _, st := range s.table.streams {
		if st.blocked != nil {
			worst = st.blocked
		}
	}
	for _, o := range s.table.outputs() {
		switch {
		case o.err != nil:
			clean, worst = false, o.err
		case o.unnamed != nil && worst == nil:
			worst = o.unnamed
		}
	}
	if worst != nil {
		s.complain(worst)
		return clean
	}
	if s.sick.Swap(nil) != nil {
		s.log.Info("output write recovered")
		s.wake()
	}
	return clean
}

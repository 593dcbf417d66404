package file

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline"
)

// This file is structured in the following way:
//
//   - Submit and Barrier, which many goroutines call.
//   - The round: sync, answer, and then the names of files.

// A held is a batch that was written, or is to be written again, and waits for a
// sync. Its bytes are in the arena of the batch until it is answered.
type held struct {
	ticket pipeline.Ticket
	bytes  []byte
	end    []byte // of its last record, if that has none
}

func (h *held) size() int { return len(h.bytes) + len(h.end) }

// The wait before a broken output is tried again doubles from the first value to
// the last.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// Submit implements [pipeline.Sink]. It writes the batch, and leaves it to a round
// to answer. While the output cannot be written it blocks.
func (s *log) Submit(ctx context.Context, b *pipeline.Batch, t pipeline.Ticket) error {
	stream := t.Stream()
	p := stream.Bytes
	if s.format != compress.Plain {
		p = stream.Packed
	}
	if len(p) == 0 && len(stream.Bytes) > 0 {
		t.Done(pipeline.Result{Err: errNotPacked, Class: pipeline.Fatal})
		return nil
	}
	h := held{ticket: t, bytes: p}
	if !endsRecord(b, stream) {
		h.end = s.lineFeed
	}
	err := s.hold(ctx, b, h)
	var lasting *lastingError
	if errors.As(err, &lasting) {
		t.Done(pipeline.Result{Err: err, Class: pipeline.Fatal})
		return nil
	}
	return err
}

// hold writes h and keeps it until it is durable. The error is that of ctx, or one
// that lasts, and then h was not taken.
func (s *log) hold(ctx context.Context, b *pipeline.Batch, h held) error {
	stream := h.ticket.Stream()
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.admit(ctx, b, h.size())
	if err != nil {
		return err
	}
	o.records += int64(len(stream.Recs))
	o.inRecord = inRecord(b)
	o.span.next(b, o.size)
	o.pending = append(o.pending, h)
	s.holds++
	s.unsynced += int64(h.size())
	s.counts.holds.Store(int64(s.holds))
	if err := s.files.write(o, &h); err != nil {
		s.breaks(o, err)
	}
	if s.holds*2 >= s.cfg.Batches || s.unsynced >= int64(s.cfg.SyncBytes) {
		s.notify.ring()
	}
	return nil
}

// inRecord reports whether an oversize record goes on after b.
func inRecord(b *pipeline.Batch) bool {
	return b != nil && (b.Piece == pipeline.First || b.Piece == pipeline.Middle)
}

// endsRecord reports whether s, the records of b, ends where a record does. The last
// record of an input may have no line end. Here something may follow it, and what
// looks torn after a crash must be torn. Records that are compressed apart say how long
// they are.
func endsRecord(b *pipeline.Batch, s *pipeline.Stream) bool {
	p := s.Bytes
	return len(p) == 0 || p[len(p)-1] == '\n' || s.Apart || inRecord(b)
}

var (
	errNotPacked = errors.New("file sink: a batch was not compressed by the pipeline")
	errNotOpen   = errors.New("file sink: not open")
)

// admit returns the output for n bytes of b, and waits while it cannot be written.
// The caller holds mu.
func (s *log) admit(ctx context.Context, b *pipeline.Batch, n int) (*output, error) {
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.closed || !s.opened {
			return nil, errNotOpen
		}
		if s.lasting != nil {
			return nil, s.lasting
		}
		o, err := s.table.current(b, n)
		if err == nil && o.err == nil {
			return o, nil
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

// A lastingError is the error of an output that no retry can heal.
type lastingError struct{ err error }

// Error implements error.
func (e *lastingError) Error() string { return "file sink: " + e.err.Error() }

// Unwrap returns the error of the system.
func (e *lastingError) Unwrap() error { return e.err }

// lasts reports whether trying again is of no use after err: the output is no regular
// file, or the file system cannot do what durable output takes.
func lasts(err error) bool {
	for _, e := range []error{disk.ErrRefused, syscall.EPIPE, syscall.ESPIPE, syscall.EINVAL, syscall.ENXIO} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// fail ends the run with err, which lasts: the next round answers all batches with it.
// The caller holds mu.
func (s *log) fail(err error) {
	if s.lasting != nil {
		return
	}
	s.lasting = &lastingError{err}
	s.wake()
	s.notify.ring()
}

// pause waits until something was mended, for d, or for ctx. The caller holds mu,
// which is free meanwhile.
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

// wake lets everybody who waits try again. The caller holds mu.
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

// retryAfter returns the wait before the next try.
func (s *log) retryAfter(try int) time.Duration { return min(s.firstRetry<<min(try, 6), lastRetry) }

// complain makes Health tell err.
func (s *log) complain(err error) {
	if s.sick.Swap(&err) == nil {
		s.log.Warn("the output cannot be written: it is tried again", "error", err)
	}
}

// Barrier implements [pipeline.Sink]. It waits for a round that found nothing
// broken, however long that takes.
func (s *log) Barrier(ctx context.Context) error {
	clean := make(chan struct{})
	s.mu.Lock()
	if !s.opened || s.closed {
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

// run goes round until quit is closed: at intervals, and when it is asked to.
func (s *log) run() {
	defer close(s.over)
	t := time.NewTicker(s.cfg.SyncInterval)
	defer t.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-s.notify:
		case <-t.C:
		}
		s.round()
	}
}

// A share is what one output has in a round.
type share struct {
	o       *output
	batches int   // of pending
	size    int64 // of the file with them
	err     error
}

// round brings down what was written, answers it, and does then what waits for
// that: files that are finished get their names, and Barriers return.
func (s *log) round() {
	s.mu.Lock()
	waiters, requests := s.waiters, s.requests
	s.waiters, s.requests = nil, nil
	s.rotateDue()
	shares := s.collect()
	s.mu.Unlock()
	s.files.syncAll(shares)
	s.mu.Lock()
	durable := s.resolve(shares)
	var failed []held
	lasting := s.lasting
	if lasting != nil {
		failed = s.giveUp()
	}
	s.mu.Unlock()
	answer(durable)
	for _, h := range failed {
		h.ticket.Done(pipeline.Result{Err: lasting, Class: pipeline.Fatal})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishAll(requests)
	s.publishAll()
	clean := s.diagnose()
	s.table.evict()
	if s.crowded {
		s.crowded = false
		s.wake()
	}
	if !clean {
		s.waiters = append(waiters, s.waiters...)
		return
	}
	for _, w := range waiters {
		close(w)
	}
}

// collect mends what is broken, if it is time to, and returns what there is to sync.
func (s *log) collect() (shares []share) {
	for _, o := range s.table.outputs() {
		if o.err != nil && !time.Now().Before(o.retry) {
			s.mend(o)
		}
		if o.err == nil && len(o.pending) > 0 {
			shares = append(shares, share{o: o, batches: len(o.pending), size: o.size})
		}
	}
	return shares
}

// resolve takes what became durable out of the outputs, for answer, and marks those
// whose sync failed.
func (s *log) resolve(shares []share) (durable []held) {
	durable = s.durable[:0]
	for _, sh := range shares {
		o := sh.o
		if sh.err != nil {
			s.failed(o, sh.err)
			continue
		}
		durable = append(durable, o.pending[:sh.batches]...)
		o.pending = slices.Delete(o.pending, 0, sh.batches)
		s.unsynced -= sh.size - o.synced
		s.holds -= sh.batches
		o.synced = sh.size
	}
	s.counts.holds.Store(int64(s.holds))
	s.durable = durable
	return durable
}

// answer answers batches that are durable. It is the only place where this sink
// says so, and is called right after the sync.
func answer(durable []held) {
	for _, h := range durable {
		h.ticket.Done(pipeline.Result{})
	}
}

// breaks notes that o must be mended before anything else is written to it. The
// caller holds mu.
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

// diagnose tells Health what is wrong, and reports whether all that was submitted
// can be written.
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
		s.log.Info("the output can be written again")
		s.wake()
	}
	return clean
}

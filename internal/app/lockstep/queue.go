package lockstep

import (
	"io"
	"sync"
	"time"
)

// A queue writes answers in a separate goroutine, so that the goroutine that
// computes them does not wait for the reader.
type queue struct {
	w        io.Writer
	limit    int           // bytes that may wait
	stalled  func()        // called once when push has waited for patience; may be nil
	patience time.Duration // 0: forever

	mu      sync.Mutex
	changed sync.Cond
	waiting []byte // answers that are not being written
	spare   []byte // memory for waiting
	closed  bool
	err     error // error of the first failed write; then nothing more is written
	done    chan struct{}
}

func newQueue(w io.Writer, limit int) *queue {
	q := &queue{w: w, limit: limit, done: make(chan struct{})}
	q.changed.L = &q.mu
	go q.run()
	return q
}

// push adds answers to the queue. It waits while the queue is full, except for
// answers that are longer than the limit by themselves. It takes the memory of b
// and returns other memory for the next answers.
func (q *queue) push(b []byte) ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wait(len(b))
	if q.err != nil {
		return b[:0], q.err
	}
	if len(q.waiting) == 0 {
		q.waiting, b = b, q.waiting
	} else {
		q.waiting = append(q.waiting, b...)
	}
	q.changed.Broadcast()
	return b[:0], nil
}

// wait waits until n more bytes fit.
func (q *queue) wait(n int) {
	full := func() bool { return q.err == nil && len(q.waiting) > 0 && len(q.waiting)+n > q.limit }
	if !full() {
		return
	}
	if q.patience > 0 && q.stalled != nil {
		timer := time.AfterFunc(q.patience, q.stalled)
		defer func() {
			if !timer.Stop() {
				q.stalled = nil // call it only once
			}
		}()
	}
	for full() {
		q.changed.Wait()
	}
}

// keepBytes is the maximum size in bytes of memory that is kept for further
// answers.
const keepBytes = 4 << 20

// run writes what is in the queue, until it is closed and empty or a write fails.
func (q *queue) run() {
	defer close(q.done)
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.waiting) == 0 && !q.closed {
			q.changed.Wait()
		}
		if len(q.waiting) == 0 {
			return
		}
		b := q.waiting
		q.waiting, q.spare = q.spare[:0], nil
		q.mu.Unlock()
		_, err := q.w.Write(b)
		q.mu.Lock()
		if cap(b) <= keepBytes {
			q.spare = b[:0]
		}
		q.changed.Broadcast()
		if q.err = err; err != nil {
			return
		}
	}
}

// close waits until everything is written and returns the error of the first
// write that failed.
func (q *queue) close() error {
	q.mu.Lock()
	q.closed = true
	q.changed.Broadcast()
	q.mu.Unlock()
	<-q.done
	return q.err
}

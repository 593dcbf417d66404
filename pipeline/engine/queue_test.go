package engine

import (
	"sync"
	"testing"
)

// TestQueueBindsNoBatch checks that a batch is not assigned to a worker that waits, so
// that one that does not wait can take it.
func TestQueueBindsNoBatch(t *testing.T) {
	q := newQueue(1, 2)
	waits, woken := make(chan struct{}), make(chan struct{})
	go func() {
		close(waits)
		<-q.signal
		close(woken)
	}()
	<-waits
	b := new(Batch)
	q.put(b)
	if got := q.take(); got != b {
		t.Errorf("take after put: got %p, want %p", got, b)
	}
	<-woken
	if got := q.take(); got != nil {
		t.Errorf("take from an empty queue: got %p, want nil", got)
	}
}

// TestQueueLosesNoSignal checks that workers that wait for signals take all batches,
// whatever the order of events is.
func TestQueueLosesNoSignal(t *testing.T) {
	const workers, batches, rounds = 4, 3, 2000
	for range rounds {
		q := newQueue(batches, workers)
		var left sync.WaitGroup
		left.Add(batches)
		over := make(chan struct{})
		var ended sync.WaitGroup
		for range workers {
			ended.Go(func() {
				for {
					if q.take() != nil {
						left.Done()
						continue
					}
					select {
					case <-q.signal:
					case <-over:
						return
					}
				}
			})
		}
		for range batches {
			go q.put(new(Batch))
		}
		left.Wait() // hangs if a signal is lost
		close(over)
		ended.Wait()
	}
}

package engine

// A queue holds the batches that wait for a worker. A worker without a batch
// waits for a signal, not for a batch. A channel would assign the next batch to
// a waiting worker at once. Until a processor is free to continue that worker,
// the batch would wait, even if another worker asks for a batch.
type queue struct {
	batches chan *Batch
	signal  chan struct{} // holds up to one signal for each worker
}

// newQueue returns a queue with room for n batches and for a signal to each worker.
func newQueue(n, workers int) queue {
	return queue{batches: make(chan *Batch, n), signal: make(chan struct{}, workers)}
}

// put adds b. It never blocks, because q has room for all batches.
func (q *queue) put(b *Batch) {
	q.batches <- b
	select {
	case q.signal <- struct{}{}:
	default: // there is already a signal for each worker
	}
}

// take removes the first batch, or returns nil. A worker calls it again after
// each batch and each signal.
func (q *queue) take() *Batch {
	select {
	case b := <-q.batches:
		return b
	default:
		return nil
	}
}

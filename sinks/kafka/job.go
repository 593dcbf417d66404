package kafka

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A job is a batch that is being written to the topic. The arena of the batch
// must not be modified until the last of its records is answered.
type job struct {
	b    *engine.Batch
	t    engine.Ticket
	left atomic.Int32 // unanswered records, plus one until all are queued

	parts []int32  // partition of each record
	order []uint32 // records by partition, in order within each
	start []int    // start of each partition in order, and the end

	failed failures // guarded by sink.mu
}

// failures holds the records of a job that were not written.
type failures struct {
	err     error
	class   engine.Class
	code    kafka.Code // code shared by all records; -1 if they differ
	records []uint32
	untried []uint32 // not tried, because an earlier record of the lane was refused
}

// A piece is the part of a job for one partition.
type piece struct {
	j       *job
	records []uint32 // indexes into Stream.Recs
}

// partition sorts the records of j by partition.
func (s *sink) partition(j *job) {
	st := j.t.Stream()
	n := len(s.writers)
	s.mu.Lock()
	s.turn++
	turn := s.turn % n
	s.mu.Unlock()
	j.parts = j.parts[:0]
	j.start = append(j.start[:0], make([]int, n+1)...)
	for i := range st.Recs {
		p := s.format.partition(j.b, st, i, n, turn)
		j.parts = append(j.parts, int32(p))
		j.start[p+1]++
	}
	for p := range n {
		j.start[p+1] += j.start[p]
	}
	j.order = append(j.order[:0], make([]uint32, len(st.Recs))...)
	for i, p := range j.parts {
		j.order[j.start[p]] = uint32(i)
		j.start[p]++
	}
	copy(j.start[1:], j.start)
	j.start[0] = 0
}

// done counts n records of j as answered.
func (s *sink) done(j *job, n int) {
	if j.left.Add(int32(-n)) == 0 {
		s.answer(j)
	}
}

// fail counts one record of j as answered but not written.
func (s *sink) fail(j *job, record uint32, class engine.Class, err error) {
	s.mu.Lock()
	if f := &j.failed; f.err == nil || class == engine.Fatal || class == engine.Retryable && f.class != engine.Fatal {
		j.failed.err, j.failed.class = err, class
	}
	j.failed.records = append(j.failed.records, record)
	s.mu.Unlock()
	s.done(j, 1)
}

// refuse counts one record as answered and refused by the broker.
func (s *sink) refuse(r ref, e *kafka.RecordsError) {
	r.j.t.Hold()
	s.mu.Lock()
	f := &r.j.failed
	if len(f.records) == 0 {
		f.code = e.Code
	} else if f.code != e.Code {
		f.code = mixed
	}
	s.mu.Unlock()
	// The error does not quote the record.
	s.fail(r.j, r.record, engine.Permanent, fmt.Errorf("%w: %w", errRefused, e.Code))
}

// mixed is the code of records that were refused with different codes.
const mixed kafka.Code = -1

// fault returns the name of a code that refuses records, and what it objects
// to. INVALID_TIMESTAMP may also mean that the clock or the topic's limits are
// wrong.
func fault(code kafka.Code) (string, engine.Fault) {
	switch code {
	case mixed:
		return "", engine.FaultRecord
	case kafka.MessageTooLarge, kafka.RecordListTooLarge:
		return code.Name(), engine.FaultSize
	case kafka.InvalidRecord:
		return code.Name(), engine.FaultRecord
	}
	return code.Name(), engine.FaultUnknown
}

// leave counts one record as answered but not tried.
func (s *sink) leave(r ref) {
	s.mu.Lock()
	r.j.failed.untried = append(r.j.failed.untried, r.record)
	s.mu.Unlock()
	s.done(r.j, 1)
}

var errUntried = errors.New("kafka sink: an earlier record was refused")

// result returns the answer for j after all of its records are answered.
func (j *job) result() engine.Result {
	f := &j.failed
	slices.Sort(f.records)
	slices.Sort(f.untried)
	switch {
	case f.err != nil && f.class != engine.Permanent:
		return engine.Result{Err: f.err, Class: f.class}
	case f.err != nil:
		r := engine.Result{Err: f.err, Class: f.class, Failed: f.records, Untried: f.untried}
		r.Code, r.Fault = fault(f.code)
		return r
	case len(f.untried) > 0:
		return engine.Result{Err: errUntried, Class: engine.Retryable, Untried: f.untried}
	}
	return engine.Result{}
}

// answer answers the ticket of j after all of its records are answered.
func (s *sink) answer(j *job) {
	r := j.result()
	t := j.t
	t.Done(r)
	j.b, j.t = nil, engine.Ticket{}
	select {
	case s.jobs <- j:
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting--; s.waiting == 0 && s.resolved != nil {
		close(s.resolved)
		s.resolved = nil
	}
}

// A ref is one record of a job.
type ref struct {
	j      *job
	record uint32
}

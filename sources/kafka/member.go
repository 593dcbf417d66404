package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A member is this process in one generation of the group.
type member struct {
	s    *source
	gen  *kafka.Generation
	idle chan struct{} // closed when all readers have ended
	over chan struct{} // closed when the generation is over

	mu    sync.Mutex // held during commits, so that no offset moves backwards
	ended bool       // commits are no longer possible
}

// A commitment is an offset to commit for a partition.
type commitment struct {
	p      *partition
	lane   *engine.Lane
	offset int64
	note   string // note of the pipeline, which is stored with the offset
}

// run reads during one generation. The generation is over when gctx is done;
// ctx is the context of source.Run.
func (m *member) run(gctx, ctx context.Context, fail context.CancelCauseFunc) {
	defer close(m.over)
	parts := m.open()
	m.read(gctx, ctx, fail, parts)
	if m.s.cfg.UntilEOF && gctx.Err() == nil {
		fail(errEnd) // the readers have ended at the end of the log, or fail was called before
	}
	close(m.idle)
	<-gctx.Done()
	m.drain(parts)
	if ctx.Err() != nil {
		m.s.quit() // otherwise the source would join the group again
	}
}

// open creates a lane for each assigned partition.
func (m *member) open() []*partition {
	var parts []*partition
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	for _, a := range m.gen.Assignments() {
		p := &partition{
			m: m, s: m.s, topic: a.Topic, id: a.Partition, assigned: a, committed: a.Offset,
			decoder: kafka.Decoder{
				MaxBytes:  int(m.s.cfg.MaxBatchBytes),
				Committed: m.s.cfg.Isolation == "read_committed",
			},
			names: map[string]string{},
		}
		p.lane = p.newLane()
		p.next.Store(a.Offset)
		p.end.Store(-1)
		p.epoch.Store(-1)
		m.s.parts[p.lane] = p
		parts = append(parts, p)
	}
	return parts
}

// read runs the readers of parts until gctx or ctx is done, or a reader fails.
func (m *member) read(gctx, ctx context.Context, fail context.CancelCauseFunc, parts []*partition) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(gctx, stop)()
	known := m.notes(ctx, parts)
	var wg sync.WaitGroup
	for _, p := range parts {
		wg.Go(func() {
			defer func() { m.s.rt.End(p.lane) }() // evaluate p.lane at the end, because reload may have replaced it
			defer m.s.guard()
			var err error
			if known {
				err = p.run(ctx)
			}
			if err != nil {
				fail(fmt.Errorf("%w: %w", errBroken, err))
			}
		})
	}
	wg.Wait()
}

// notes asks what is committed for parts. While they are assigned to this member,
// nobody else commits. It returns false if ctx is done.
func (m *member) notes(ctx context.Context, parts []*partition) bool {
	list := make([]kafka.Assignment, len(parts))
	for i, p := range parts {
		list[i] = p.assigned
	}
	for try := 0; len(list) > 0; try++ {
		err := m.s.group.Notes(ctx, list)
		if err == nil {
			break
		}
		if ctx.Err() == nil {
			m.s.faults.set(m.s.log, "group", fmt.Errorf("consumer group %s: fetch the committed offsets: %w", m.s.cfg.Group, err))
		}
		if !kafka.Pause(ctx, try) {
			return false
		}
	}
	m.s.faults.clear("group")
	for i, p := range parts {
		p.assigned, p.committed = list[i], list[i].Offset
		p.next.Store(p.assigned.Offset)
	}
	return true
}

// drain waits for the batches in flight, commits the durable offsets, and
// revokes the lanes. If keys must be stored before an offset, the pipeline
// commits.
func (m *member) drain(parts []*partition) {
	ctx, cancel := context.WithTimeout(context.Background(), m.s.cfg.drain())
	defer cancel()
	late := 0
	for _, p := range parts {
		if err := p.lane.Drain(ctx); errors.Is(err, context.DeadlineExceeded) {
			late++
		}
	}
	if late > 0 {
		m.s.log.Warn("kafka rebalance did not wait for all records, they will be read again", "partitions", late)
	}
	var list []commitment
	for _, p := range parts {
		if p.lane.KeepsKeys() {
			p.lane.AwaitCommit(ctx)
		} else if pos, ok := p.lane.Watermark(); ok {
			list = append(list, commitment{p: p, lane: p.lane, offset: pos.A})
		}
	}
	last, stop := context.WithTimeout(context.Background(), leaveTimeout)
	defer stop()
	if _, err := m.commit(last, list); err != nil {
		m.s.log.Warn("kafka final commit failed, records will be read again", "error", err)
	}
	m.mu.Lock()
	m.ended = true
	m.mu.Unlock()
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	for _, p := range parts {
		p.lane.Revoke()
		delete(m.s.parts, p.lane)
		m.s.faults.forget(p.lane.Name() + fetching)
		m.s.faults.forget(p.lane.Name() + reading)
		m.s.faults.forget(p.lane.Name() + loading)
	}
}

// commit stores offsets. It reports whether the generation is over, which is no
// error: the new owner of the partition resumes at the last committed offset.
func (m *member) commit(ctx context.Context, list []commitment) (over bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var offsets []kafka.Assignment
	for _, u := range list {
		if !m.ended && u.lane == u.p.lane && u.offset > u.p.committed {
			offsets = append(offsets, u.p.assignment(u.offset, u.note))
		}
	}
	if len(offsets) == 0 {
		return m.ended, nil
	}
	err = m.gen.Commit(ctx, offsets)
	switch {
	case kafka.Stale(err):
		m.ended = true
		m.s.log.Warn("kafka commit refused after the end of its generation, records will be read again", "error", err)
		return true, nil
	case err != nil:
		return false, fmt.Errorf("commit offsets: %w", err)
	}
	for _, u := range list {
		if u.lane == u.p.lane {
			u.p.committed = max(u.p.committed, u.offset)
		}
	}
	return false, nil
}

package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urlfold/urlfold/config/field"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/ground/pause"
)

const (
	// lookEvery is the time between checks of a consumer that works. The checks
	// update the lag, which otherwise only arrives with messages, and the floor.
	lookEvery = 10 * time.Second
	// lookAgain is the longest pause between checks while something is wrong.
	lookAgain = 5 * time.Second
	// maxMissed is how many consecutive checks may fail before that is an
	// outage.
	maxMissed = 3
)

// suspect shuts the gate and makes the guard check stream and consumer. It does
// not block.
func (s *jetStream) suspect() {
	s.gate.shut()
	select {
	case s.alarm <- struct{}{}:
	default:
	}
}

// guard monitors stream and consumer until ctx is done.
func (s *jetStream) guard(ctx context.Context) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-s.alarm:
		}
		for try := 0; !s.inspect(ctx); try++ {
			if pause.For(ctx, min(50*time.Millisecond<<min(try, 10), lookAgain)) != nil {
				return
			}
		}
	}
}

// inspect checks stream and consumer, creates a missing consumer if configured,
// and opens the gate if all is well. It returns false if the guard should check
// again soon.
func (s *jetStream) inspect(ctx context.Context) bool {
	shut, shuts := s.gate.state()
	conn := s.Conn()
	if !conn.Up() || s.next.Load() != nil {
		return !shut
	}
	err := s.inspectNow(ctx, conn, shut)
	switch {
	case err == nil:
	case errors.Is(err, errReplaced):
		return false
	case ctx.Err() != nil:
		return true
	default:
		if s.missed++; shut || s.missed >= maxMissed || errors.Is(err, client.ErrNoStream) || errors.Is(err, client.ErrNoConsumer) {
			s.missed = maxMissed
			s.gate.shut()
			s.outage.Set(err)
			return false
		}
		return true
	}
	s.missed = 0
	s.outage.Clear()
	if !s.gate.open(shuts, s.epoch.Load()) {
		return false
	}
	if p := s.pull.Load(); shut && p != nil {
		p.Resume()
	}
	return true
}

// errReplaced means that another stream now has the name of the stream.
var errReplaced = errors.New("stream was deleted and recreated")

// inspectNow checks the stream, then the consumer. shut reports whether the
// gate is shut.
func (s *jetStream) inspectNow(ctx context.Context, conn *client.Conn, shut bool) error {
	stream, err := conn.Stream(ctx, s.cfg.Stream)
	if err != nil {
		return err
	}
	e := s.epoch.Load()
	if !stream.Created.Equal(e.stream.Created) {
		s.gate.shut()
		s.stats.streams.Add(1)
		s.log.Error("stream recreated, its sequences restart", "stream", stream.Name,
			"created", stream.Created, "before", e.stream.Created, "first_sequence", stream.First, "last_sequence", stream.Last)
		s.next.Store(&epoch{stream: stream})
		return errReplaced
	}
	if err := checkFilters(&stream, s.cfg.Consumer.FilterSubjects); err != nil {
		return err
	}
	info, err := s.consumer(ctx, conn, &stream)
	if err != nil {
		return err
	}
	last := s.info.Swap(&info)
	if last == nil || !last.Since.Equal(info.Since) || info.Created {
		e.floor.reset(info.AckFloor)
	} else {
		e.floor.raise(info.AckFloor)
	}
	if last == nil || !last.Since.Equal(info.Since) || shut && !stream.Limits { // the server may have lost some of its state
		e.unread.begin(&stream, &info)
	}
	s.compare(ctx, conn, e, &stream, &info)
	s.stats.pending.Store(info.Pending)
	s.stats.ackPending.Store(uint64(info.AckPending))
	return nil
}

// consumer returns the consumer. It creates a missing consumer if configured:
// after the last sequence known to be acknowledged, or else at the configured
// start.
func (s *jetStream) consumer(ctx context.Context, conn *client.Conn, stream *client.StreamInfo) (client.ConsumerInfo, error) {
	want := s.want()
	floor, known := s.epoch.Load().floor.last()
	if known {
		want.Start = client.Start{After: min(floor, stream.Last)}
	}
	if stream.WorkQueue { // a work queue holds no acknowledged messages and permits no other start
		want.Start = client.Start{}
	}
	info, err := conn.Consumer(ctx, want, s.cfg.Consumer.Create)
	if err != nil || !info.Created {
		return info, err
	}
	if err := s.verify(ctx, conn, stream); err != nil {
		return info, err
	}
	start := info.Delivered.Stream + 1
	if !known {
		s.stats.unknown.Add(1)
		s.log.Error("consumer recreated, nothing known to be acknowledged", "stream", stream.Name, "consumer", want.Durable,
			"start", s.cfg.Start, "start_sequence", start)
		return info, nil
	}
	s.stats.recreated.Add(1)
	s.log.Warn("consumer recreated", "stream", stream.Name, "consumer", want.Durable, "acknowledged", floor, "start_sequence", start)
	if floor > stream.Last {
		s.stats.ends.Add(int64(floor - stream.Last))
		s.log.Error("stream lost messages at its end", "stream", stream.Name, "acknowledged", floor, "last_sequence", stream.Last, "lost_messages", floor-stream.Last)
	}
	switch {
	case stream.First <= floor+1 || stream.WorkQueue:
	case stream.Limits:
		s.missing(s.epoch.Load(), floor+1, stream.First-1)
	default: // retention by interest: while there was no consumer, the stream kept no messages for it
		s.doubt(floor+1, stream.First-1)
	}
	return info, nil
}

// verify checks whether the stream in which a consumer was created is still the
// stream that was checked before. In a new stream of the same name, the
// consumer would start after messages that nobody has read, so verify deletes
// the consumer.
func (s *jetStream) verify(ctx context.Context, conn *client.Conn, stream *client.StreamInfo) error {
	for {
		now, err := conn.Stream(ctx, stream.Name)
		switch {
		case err == nil && now.Created.Equal(stream.Created), errors.Is(err, client.ErrNoStream):
			return err
		case err == nil:
			err = conn.DeleteConsumer(ctx, stream.Name, s.cfg.Durable)
			if err == nil || errors.Is(err, client.ErrNoConsumer) {
				return errReplacedMeanwhile
			}
		}
		if ctx.Err() != nil || pause.For(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

// errReplacedMeanwhile means that the check must be repeated.
var errReplacedMeanwhile = errors.New("stream was deleted and recreated during the check")

// want returns the desired settings of the consumer.
func (s *jetStream) want() client.Consumer {
	c := &s.cfg.Consumer
	return client.Consumer{
		Stream: s.cfg.Stream, Durable: s.cfg.Durable, Filters: c.FilterSubjects,
		AckWait: c.AckWait, MaxAckPending: c.MaxAckPending, Start: client.Start{New: s.cfg.Start.Latest, Time: s.cfg.Start.At},
	}
}

// look checks stream and consumer for the first time.
func (s *jetStream) look(ctx context.Context, conn *client.Conn, create bool) error {
	stream, err := conn.Stream(ctx, s.cfg.Stream)
	if err != nil {
		return err
	}
	s.durability = append(stream.DurabilityWarnings(), stream.LimitWarnings()...)
	s.Limit = conn.MessageLimit(&stream)
	if err := checkFilters(&stream, s.cfg.Consumer.FilterSubjects); err != nil {
		return err
	}
	info, err := conn.Consumer(ctx, s.want(), create)
	if err != nil {
		return err
	}
	if info.Created {
		s.log.Info("consumer created", "stream", stream.Name, "consumer", s.cfg.Durable,
			"start", s.cfg.Start, "start_sequence", info.Delivered.Stream+1)
	}
	e := &epoch{stream: stream}
	e.floor.reset(info.AckFloor)
	e.unread.begin(&stream, &info)
	s.compare(ctx, conn, e, &stream, &info)
	s.epoch.Store(e)
	s.info.Store(&info)
	s.stats.pending.Store(info.Pending)
	s.stats.ackPending.Store(uint64(info.AckPending))
	s.warnings = s.warn(&info)
	if info.MaxDeliver > 0 && s.cfg.Poison.After >= info.MaxDeliver {
		return fmt.Errorf("consumer %q of stream %q: %w", s.cfg.Durable, stream.Name,
			field.Wrong("poison.after", "must be less than max_deliver of the consumer, otherwise the server drops the message first"))
	}
	if s.cfg.Delays && info.MaxDeliver > 0 {
		return fmt.Errorf("consumer %q of stream %q: max_deliver is %d, but dedupe.bucket requires -1, because delayed messages are delivered again: run nats consumer edit %[2]s %[1]s --max-deliver -1",
			s.cfg.Durable, stream.Name, info.MaxDeliver)
	}
	return nil
}

package kafka

import (
	"context"
	"errors"
	"time"

	"github.com/urlfold/urlfold/internal/client/kafka"
)

// A fetcher requests record batches, ahead of the reader.
type fetcher struct {
	p       *partition
	offset  int64
	log     kafka.Log
	epoch   int32 // leader epoch of the last record before offset; -1: unknown
	out     chan *answer
	free    chan *answer
	changed chan *change // the fetcher sends one and waits until it is done

	beyond int       // consecutive times that the log ended before offset
	stuck  time.Time // since when records exist after offset but none arrived
}

// An answer is a response of the broker for the records from offset from on.
type answer struct {
	f    kafka.Fetched
	from int64
}

// ahead is how many answers of a partition are held in memory.
const ahead = 2

// stallTimeout is the longest time without a new record while the log has more.
const stallTimeout = 30 * time.Second

var (
	errStalled = errors.New("no records received for 30 s although the log has more")
	errPartial = errors.New("broker sends only the beginning of a record batch, never all of it")
)

// run fetches until ctx is done.
func (f *fetcher) run(ctx context.Context) {
	cfg := &f.p.s.cfg
	for try := 0; ; {
		var a *answer
		select {
		case a = <-f.free:
		case <-ctx.Done():
			return
		}
		err := f.p.s.client.Fetch(ctx, &kafka.FetchRequest{
			Topic: f.p.topic, Partition: f.p.id, Offset: f.offset,
			MaxWait: cfg.FetchWait, MaxBytes: int(cfg.FetchBytes), Committed: f.p.decoder.Committed, Log: f.log,
		}, &a.f)
		if err == nil {
			err = f.got(a)
		} else {
			f.free <- a
		}
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			try = 0
			f.p.good(fetching)
		case (kafka.Moved(err) || kafka.CodeOf(err) == kafka.OffsetOutOfRange) && f.follow(ctx):
		case kafka.CodeOf(err) == kafka.OffsetOutOfRange && f.relocate(ctx):
		default:
			f.p.fault(fetching, err)
			f.p.s.client.Refresh()
			kafka.Pause(ctx, try)
			try++
		}
	}
}

// got passes an answer to the reader, or back to the free list if it advances
// nothing. In that case got returns errPartial if the answer is a part of a
// batch, and errStalled if no record has come for longer than stallTimeout
// although the log has more.
func (f *fetcher) got(a *answer) error {
	end := a.f.HighWatermark
	if f.p.decoder.Committed && a.f.LastStable >= 0 {
		end = a.f.LastStable
	}
	f.p.end.Store(end)
	f.beyond = 0
	if next := a.f.Next(f.offset); next > f.offset {
		a.from, f.offset, f.stuck = f.offset, next, time.Time{}
		f.epoch = max(f.epoch, a.f.Epoch)
		f.out <- a // never blocks: out has room for all answers
		return nil
	}
	partial := len(a.f.Set) > 0
	f.free <- a
	switch {
	case partial:
		return errPartial
	case f.offset >= end:
		f.stuck = time.Time{}
	case f.stuck.IsZero():
		f.stuck = time.Now()
	case time.Since(f.stuck) > stallTimeout:
		return errStalled
	}
	return nil
}

// patience is how many times in a row the log must end before the position
// until the fetcher accepts that: a new leader may lag for a moment.
const patience = 5

// relocate finds an offset that exists. It returns false if it must be called
// again.
func (f *fetcher) relocate(ctx context.Context) bool {
	p := f.p
	first, err := p.s.client.Offset(ctx, p.topic, p.id, kafka.Earliest)
	if err != nil {
		return false
	}
	if f.offset < first {
		gap := first - f.offset
		p.s.mu.Lock()
		p.s.count.gaps[p.topic] += gap
		p.s.mu.Unlock()
		p.s.log.Error("kafka records deleted by retention before they were read",
			"topic", p.topic, "partition", p.id, "from", f.offset, "to", first, "lost_records", gap)
		f.offset = first
		return true
	}
	last, err := p.s.client.Offset(ctx, p.topic, p.id, kafka.Latest)
	if f.beyond++; err != nil || f.offset <= last || f.beyond < patience {
		return false
	}
	to, err := p.s.client.Offset(ctx, p.topic, p.id, p.s.cfg.startAt())
	return err == nil && f.send(ctx, &change{what: ended, log: f.log, from: f.offset, end: last, to: to, epoch: -1})
}

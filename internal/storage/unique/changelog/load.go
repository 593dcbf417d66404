package changelog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Load implements [engine.LaneKeySet]. It reads the partition of the changelog
// up to the end that it has when Load is called.
func (c *Changelog) Load(ctx context.Context, l *engine.Lane, from engine.Position) error {
	p, err := partitionOf(l)
	if err != nil {
		return err
	}
	if p >= c.partitions {
		return fmt.Errorf("changelog %s has %d partitions: add partitions until it has as many as the input, and restart", c.cfg.Topic, c.partitions)
	}
	select {
	case c.loads <- struct{}{}:
		defer func() { <-c.loads }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ld := loader{c: c, partition: p, before: from.A, into: c.newLaneSet(p)}
	began := time.Now()
	err = ld.run(ctx)
	if err == nil {
		err = ld.announce(ctx)
	}
	if err != nil {
		if ctx.Err() == nil {
			c.client.Refresh()
		}
		return errors.Join(fmt.Errorf("changelog %s[%d]: %w", c.cfg.Topic, p, err), ld.into.close())
	}
	c.mu.Lock()
	before := c.lanes[l]
	c.lanes[l] = ld.into
	c.loaded, c.ahead, c.stale = c.loaded+ld.used, c.ahead+ld.ahead, c.stale+ld.stale
	c.mu.Unlock()
	if before != nil {
		_ = before.close() // the files are temporary
	}
	c.cfg.Log.Info("keys of dedupe loaded", "partition", l.Name(), "offset", from.A, "keys", ld.into.len(),
		"ahead", ld.ahead, "other", ld.stale, "seconds", time.Since(began).Seconds())
	return nil
}

// A loader reads one partition of the changelog.
type loader struct {
	c         *Changelog
	partition int
	before    int64 // entries of records from this offset on are ignored
	into      *laneSet

	firsts             []engine.FirstKey
	used, ahead, stale int64
	identity           keyset.Identity // identity of the member that has loaded the partition last; nil: unknown
}

// Limits of a request.
const (
	fetchBytes = 1 << 20
	fetchWait  = 500 * time.Millisecond
	maxBatch   = 64 << 20 // maximum decompressed size of a batch
)

// stalls is how many requests in a row may return nothing although there are
// records: a new leader may lag for a moment.
const stalls = 20

// run reads the partition from its beginning to its present end.
func (ld *loader) run(ctx context.Context) error {
	client, topic := ld.c.client, ld.c.cfg.Topic
	offset, err := client.Offset(ctx, topic, ld.partition, kafka.Earliest)
	if err != nil {
		return err
	}
	end, err := client.Offset(ctx, topic, ld.partition, kafka.Latest)
	if err != nil {
		return err
	}
	var f kafka.Fetched
	d := kafka.Decoder{MaxBytes: maxBatch}
	for stalled := 0; offset < end; {
		r := kafka.FetchRequest{Topic: topic, Partition: ld.partition, Offset: offset, MaxWait: fetchWait, MaxBytes: fetchBytes}
		if err := client.Fetch(ctx, &r, &f); err != nil {
			return fmt.Errorf("offset %d: %w", offset, err)
		}
		next := f.Next(offset)
		if err := ld.take(&d, &f, offset); err != nil {
			return err
		}
		if next > offset {
			offset, stalled = next, 0
		} else if stalled++; stalled == stalls {
			return fmt.Errorf("offset %d: no records received, although the log ends at %d", offset, end)
		}
	}
	return ld.flush()
}

// announce logs if the last member that has loaded the partition had another set,
// because its configuration was different, and writes the identity of this instance.
func (ld *loader) announce(ctx context.Context) error {
	cfg := &ld.c.cfg
	if maps.Equal(ld.identity, cfg.Identity) {
		return nil
	}
	if ld.identity != nil {
		unique.LogReset(cfg.Log.With("partition", fmt.Sprintf("%s[%d]", cfg.Topic, ld.partition)), ld.identity, cfg.Identity)
	}
	text, err := json.Marshal(cfg.Identity)
	if err != nil {
		return err
	}
	var e kafka.Encoder
	e.Append(&kafka.Record{Millis: time.Now().UnixMilli(), Key: []byte(identityKey), Value: text})
	batch, err := e.Finish(kafka.NoProducer, 0, 0)
	if err != nil {
		return err
	}
	_, err = ld.c.client.Produce(ctx, cfg.Topic, ld.partition, batch)
	return err
}

// take collects the entries of f. It skips messages before the given offset.
func (ld *loader) take(d *kafka.Decoder, f *kafka.Fetched, offset int64) error {
	d.Reset(f, offset)
	for r := new(kafka.Record); d.Next(r); {
		if id, is := identityOf(r); is {
			ld.identity = id
			continue
		}
		f, ours, err := entryOf(r, ld.c.set)
		switch {
		case err != nil:
			return fmt.Errorf("offset %d: %w", r.Offset, err)
		case !ours:
			ld.stale++
		case f.At >= ld.before:
			ld.ahead++
		default:
			ld.used++
			ld.firsts = append(ld.firsts, f)
		}
		if len(ld.firsts) == batchEntries {
			if err := ld.flush(); err != nil {
				return err
			}
		}
	}
	if err := d.Err(); err != nil {
		return fmt.Errorf("offset %d: %w", d.Offset(), err)
	}
	return nil
}

// flush adds the keys of the collected entries to the set.
func (ld *loader) flush() error {
	err := ld.into.addFirsts(ld.firsts)
	ld.firsts = ld.firsts[:0]
	return err
}

package kafka

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file delivers each record exactly once. A topic cannot be truncated as a
// file can, so the sink reads back what a killed process has written after its
// last checkpoint:
//
//   - Each message has the header urlfold-id, which is the same each time the
//     record is read.
//   - The checkpoint holds an extent of each partition: an offset that every message
//     with a record that the checkpoint does not cover is at or after, and the number
//     of the next record of the producer.
//   - A restart reads each partition from its extent to its end, and does not write
//     the records that it finds there again.
//
// A request of the killed process can still arrive after that. The restart
// therefore continues the sequence of the killed producer: the broker accepts
// only one of the two requests with the next number. The first batch of each
// writer counts as written only if reading back finds its records.

// idHeader is the name of the header with the id of the record.
const idHeader = "urlfold-id"

// An id identifies a record. It is the same each time the record is read.
type id struct {
	lane    uint64 // hash of sink · 0 · lane id · 0 · dead
	pos     int64  // position in the lane of the input record
	ordinal int    // index among the output records of the input record
}

// idOf returns the id of record i, for the sink with the given name.
func idOf(sink string, b *engine.Batch, st *engine.Stream, i int) (r id) {
	var space [256]byte
	origin := append(append(append(space[:0], sink...), 0), b.Lane.ID()...)
	if origin = append(origin, 0); b.IsDead(st) {
		origin = append(origin, 1)
	}
	r.lane = xxh3.Hash(origin)
	r.pos, r.ordinal = b.Origin(st, i)
	return r
}

// appendTo appends the text of the id, such as 5f3a09c1e2d4b687:1048576.0.
func (r id) appendTo(dst []byte) []byte {
	dst = strconv.AppendUint(dst, r.lane, 16)
	dst = strconv.AppendInt(append(dst, ':'), r.pos, 10)
	return strconv.AppendInt(append(dst, '.'), int64(r.ordinal), 10)
}

// parseID reads the text of an id.
func parseID(text string) (r id, ok bool) {
	lane, rest, _ := strings.Cut(text, ":")
	pos, ordinal, _ := strings.Cut(rest, ".")
	var errs [3]error
	r.lane, errs[0] = strconv.ParseUint(lane, 16, 64)
	r.pos, errs[1] = strconv.ParseInt(pos, 10, 64)
	r.ordinal, errs[2] = strconv.Atoi(ordinal)
	return r, errors.Join(errs[:]...) == nil
}

// A found holds the records that the topic has and that no checkpoint covers. Several
// writers use it.
type found struct {
	mu    sync.Mutex
	at    map[id]place
	lanes map[uint64]*engine.Lane // by id.lane: lanes that are being read again
}

// A place is the position of a message in the topic.
type place struct {
	partition int
	offset    int64
}

// add adds the record of message r, if it has an id.
func (f *found) add(partition int, r *kafka.Record) {
	for _, h := range r.Headers {
		if string(h.Name) != idHeader {
			continue
		}
		if record, ok := parseID(string(h.Value)); ok {
			f.mu.Lock()
			f.at[record] = place{partition, r.Offset}
			f.mu.Unlock()
		}
	}
}

// take removes a record that b contains, and reports whether it was there.
func (f *found) take(r id, b *engine.Batch) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lanes[r.lane] = b.Lane
	_, ok := f.at[r]
	delete(f.at, r)
	return ok
}

func (f *found) len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.at)
}

// firsts returns the offset of the first record in each partition that has any. It
// removes records before the watermark of their lane: they will not be read again, for
// example because a condition was changed and drops them now.
func (f *found) firsts() map[int]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := map[int]int64{}
	for r, p := range f.at {
		if l := f.lanes[r.lane]; l != nil {
			if mark, ok := l.Watermark(); ok && r.pos < mark.A {
				delete(f.at, r)
				continue
			}
		}
		if offset, ok := first[p.partition]; !ok || p.offset < offset {
			first[p.partition] = p.offset
		}
	}
	return first
}

// pathPrefix is the beginning of the path of an extent.
const pathPrefix = "kafka://"

// extentPath returns the path of the extent of a partition.
func (c *Config) extentPath(partition int) string {
	return pathPrefix + c.Topic + "/" + strconv.Itoa(partition)
}

// Makes reports whether path is the path of an extent of this topic.
func (c *Config) Makes(path string) bool {
	return strings.HasPrefix(path, pathPrefix+c.Topic+"/")
}

// IsExtent reports whether path is the path of an extent of a topic.
func IsExtent(path string) bool { return strings.HasPrefix(path, pathPrefix) }

// Extents implements [engine.ExtentReporter].
func (s *sink) Extents(dst []engine.Extent) []engine.Extent {
	if s.found == nil {
		return dst
	}
	firsts := s.found.firsts()
	for _, w := range s.writers {
		length, ok := firsts[w.id]
		if !ok {
			length = w.next
		}
		end := binary.BigEndian.AppendUint64(nil, uint64(w.producer.ID))
		end = binary.BigEndian.AppendUint16(end, uint16(w.producer.Epoch))
		end = binary.BigEndian.AppendUint32(end, uint32(w.sequence))
		dst = append(dst, engine.Extent{Path: s.cfg.extentPath(w.id), Length: length, End: hex.EncodeToString(end)})
	}
	return dst
}

// resume prepares the writers for exactly-once delivery, if it is on.
func (s *sink) resume(ctx context.Context) error {
	if !s.cfg.ExactlyOnce {
		return nil
	}
	s.found = &found{at: map[id]place{}, lanes: map[uint64]*engine.Lane{}}
	for _, w := range s.writers {
		if err := w.resume(ctx); err != nil {
			return fmt.Errorf("kafka sink: %s[%d]: %w", s.cfg.Topic, w.id, err)
		}
	}
	if n := s.found.len(); n > 0 {
		s.log.Info("records after the checkpoint found in the topic, not writing them again", "topic", s.cfg.Topic, "records", n)
	}
	return nil
}

// resume prepares w for exactly-once delivery: it continues the producer of the
// extent, and reads back what was written after the extent. It retries until nothing
// has succeeded for RequestTimeout.
func (w *writer) resume(ctx context.Context) error {
	s := w.s
	for _, m := range s.cfg.Resume {
		if m.Path != s.cfg.extentPath(w.id) {
			continue
		}
		w.next = m.Length
		if end, err := hex.DecodeString(m.End); err == nil && len(end) == 14 {
			w.producer.ID = int64(binary.BigEndian.Uint64(end))
			w.producer.Epoch = int16(binary.BigEndian.Uint16(end[8:]))
			w.sequence = int32(binary.BigEndian.Uint32(end[10:]))
			w.known, w.unsure = true, true
		}
	}
	began, at := time.Now(), w.next
	for try := 0; ; try++ {
		err := w.begin(ctx)
		if err == nil {
			return nil
		}
		if w.next > at {
			began, at, try = time.Now(), w.next, 0
		}
		if kafka.Blocked(err) || time.Since(began) > s.cfg.RequestTimeout || !kafka.Pause(ctx, try) {
			return err
		}
		s.client.Refresh()
	}
}

// begin reads back, or finds the end of the partition if there is no checkpoint. It
// then requests a producer id if the checkpoint has none.
func (w *writer) begin(ctx context.Context) (err error) {
	if len(w.s.cfg.Resume) > 0 {
		err = w.readBack(ctx, false)
	} else {
		w.next, err = w.s.client.Offset(ctx, w.s.cfg.Topic, w.id, kafka.Latest)
	}
	if err != nil {
		return err
	}
	return w.identify(ctx)
}

// Limits of a request that reads back.
const (
	fetchBytes = 1 << 20
	fetchWait  = 500 * time.Millisecond
	maxBatch   = 128 << 20 // maximum decompressed size of a batch
	lagTries   = 6         // questions for an end that lies before a known offset: about 5 seconds
)

// readBack reads the partition from w.next to its present end, and adds the records
// that it finds to found. If it finds batches of w.producer, w continues after them.
// With must, it waits until it finds one, but at most for RequestTimeout: a new leader
// may lag.
func (w *writer) readBack(ctx context.Context, must bool) (err error) {
	defer caught(&err)
	s, before, began := w.s, w.sequence, time.Now()
	end, err := w.bounds(ctx)
	if err != nil {
		return err
	}
	var f kafka.Fetched
	var r kafka.Record
	d := kafka.Decoder{MaxBytes: maxBatch}
	for w.next < end || must && w.sequence == before && time.Since(began) < s.cfg.RequestTimeout {
		req := kafka.FetchRequest{Topic: s.cfg.Topic, Partition: w.id, Offset: w.next, MaxWait: fetchWait, MaxBytes: fetchBytes}
		if err := s.client.Fetch(ctx, &req, &f); err != nil {
			return fmt.Errorf("offset %d: %w", w.next, err)
		}
		for d.Reset(&f, w.next); d.Next(&r); {
			s.found.add(w.id, &r)
		}
		if d.Err() != nil {
			return fmt.Errorf("offset %d: %w", d.Offset(), d.Err())
		}
		if next, ok := f.Sequence(w.producer); ok {
			w.sequence = next
		}
		w.next = f.Next(w.next)
	}
	return nil
}

// bounds returns the end of the partition. If the log begins after w.next, or ends
// before it, a part of the log is gone, and w.next moves to the beginning. A new leader
// may not know the end for a moment, so bounds asks again.
func (w *writer) bounds(ctx context.Context) (end int64, err error) {
	s := w.s
	start, err := s.client.Offset(ctx, s.cfg.Topic, w.id, kafka.Earliest)
	if err != nil {
		return 0, err
	}
	for try := 0; ; try++ {
		if end, err = s.client.Offset(ctx, s.cfg.Topic, w.id, kafka.Latest); err != nil {
			return 0, err
		}
		if w.next <= end || try == lagTries || !kafka.Pause(ctx, try) {
			break
		}
	}
	if w.next < start || w.next > end {
		s.log.Warn("part of the topic after the checkpoint is gone, records may be written twice",
			"partition", fmt.Sprintf("%s[%d]", s.cfg.Topic, w.id), "checkpoint", w.next, "start", start, "end", end)
		w.next = start
	}
	return end, nil
}

// errUnsure is the answer of the broker to the first batch of a writer, if the
// killed process has written a batch with the same number.
var errUnsure = errors.New("kafka sink: another batch has the sequence number")

// confirm reads back after the first batch of w, until there is an answer. Afterwards
// skip finds the records of the batch that the topic has. written reports whether
// the broker has accepted a batch with the number of this batch.
func (w *writer) confirm(written bool) error {
	before := w.sequence
	for try := 0; ; try++ {
		err := w.readBack(w.s.ctx, written && w.sequence == before)
		if err == nil {
			break
		}
		if errors.As(err, new(*kafka.PanicError)) {
			return err
		}
		w.s.fault(w.id, err)
		w.s.client.Refresh()
		if !kafka.Pause(w.s.ctx, try) {
			return errStopped
		}
	}
	w.s.fault(w.id, nil)
	switch moved := w.sequence != before; {
	case written:
		w.unsure = !moved // without its records, the batch is sent again, with the same number
	case !moved: // the broker has forgotten the producer, so nobody can write with its number
		w.known, w.unsure = false, false
	}
	return nil
}

// skip answers the records that the topic already has, and returns the others.
func (w *writer) skip(refs []ref) []ref {
	if w.s.found == nil || w.s.found.len() == 0 {
		return refs
	}
	rest := refs[:0]
	for _, r := range refs {
		if w.s.found.take(idOf(w.s.cfg.Name, r.j.b, r.j.t.Stream(), int(r.record)), r.j.b) {
			w.s.done(r.j, 1)
			continue
		}
		rest = append(rest, r)
	}
	return rest
}

// Package changelog stores the keys of a deduplicated Kafka topic in another
// topic, the changelog, so that the keys of a partition move with it between
// the members of a consumer group.
//
// The changelog is compacted and has as many partitions as the input. Partition
// n holds the keys of partition n of the input. An entry is written when the
// first record of its key is durable in every sink, and before the offset after
// that record is committed:
//
//	owner        first record durable ──▶ entry ──▶ offset
//	next owner   offset ──▶ entries before the offset ──▶ read
//
// So a process that dies between the two steps leaves entries that the next
// owner ignores, because it reads their records again. A member that has lost
// the partition and still writes does no harm either: its entries for records
// before the offset are true, and its other entries are ignored.
package changelog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strconv"
	"sync"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Config describes a changelog.
type Config struct {
	Connection connect.Kafka
	Topic      string
	Create     bool   // create the topic if it does not exist
	Input      string // topic that is deduplicated
	Identity   keyset.Identity
	Window     *engine.Window // nil: keys never expire
	MaxMemory  int64          // bytes for the keys of all partitions; more keys move to files
	Dir        string         // folder of these files, which are temporary
	Log        *slog.Logger
}

// A Changelog is the sets of keys of the partitions that this process owns. It
// implements [engine.LaneKeySet].
type Changelog struct {
	unique.Counts
	cfg        Config
	client     kafka.Client
	set        setID
	dry        bool // check, and create nothing
	partitions int
	loads      chan struct{} // holds an element for each partition that is being loaded

	mu     sync.Mutex
	lanes  map[*engine.Lane]*laneSet
	stale  int64 // entries of other sets that were read
	ahead  int64 // entries at or beyond the committed offset that were read
	loaded int64 // entries that were used
}

// maxLoads is the maximum number of partitions that are loaded at the same time.
const maxLoads = 8

// Open connects to the brokers, creates the changelog if it is missing and
// cfg.Create is set, and checks it. The error says why the changelog cannot be
// used.
func Open(ctx context.Context, cfg Config) (*Changelog, error) { return open(ctx, cfg, false) }

// Check connects to the brokers and checks the changelog like Open. If it does not
// exist, Check only asks the brokers whether it could be created.
func Check(ctx context.Context, cfg Config) error {
	c, err := open(ctx, cfg, true)
	if err != nil {
		return err
	}
	return c.Close()
}

// open implements Open. With dry, it creates nothing.
func open(ctx context.Context, cfg Config, dry bool) (*Changelog, error) {
	set, err := idOf(cfg.Identity)
	if err != nil {
		return nil, err
	}
	client, err := kafka.New(cfg.Connection, cfg.Topic, cfg.Input)
	if err != nil {
		return nil, err
	}
	c := &Changelog{cfg: cfg, client: client, set: set, dry: dry, loads: make(chan struct{}, maxLoads), lanes: map[*engine.Lane]*laneSet{}}
	if err := c.check(ctx); err != nil {
		client.Close()
		return nil, fmt.Errorf("%s: %w", cfg.Topic, err)
	}
	return c, nil
}

// partitionOf returns the number of the partition of l: the last part of the id
// that the Kafka source gives to its lanes.
func partitionOf(l *engine.Lane) (int, error) {
	n, err := strconv.Atoi(path.Base(l.ID()))
	if err != nil {
		return 0, fmt.Errorf("BUG: lane %s is not a partition of a topic", l.ID())
	}
	return n, nil
}

// lane returns the set of l, or nil if it is not loaded.
func (c *Changelog) lane(l *engine.Lane) *laneSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lanes[l]
}

// Has implements [engine.LaneKeySet].
func (c *Changelog) Has(l *engine.Lane, k codec.Key, window uint32) (bool, error) {
	s := c.lane(l)
	if s == nil {
		return false, fmt.Errorf("BUG: the keys of %s are not loaded", l.Name())
	}
	return s.has(keyset.KeyOf(k.Uint64s()), s.groupOf(window))
}

// batchEntries is the maximum number of entries in a record batch: about 100 KB.
const batchEntries = 2000

// Seal implements [engine.LaneKeySet]. It returns when all in-sync replicas
// have the entries.
func (c *Changelog) Seal(ctx context.Context, l *engine.Lane, firsts []engine.FirstKey) error {
	p, err := partitionOf(l)
	if err != nil {
		return err
	}
	w, now := entryWriter{set: c.set, windows: c.cfg.Window != nil}, time.Now().UnixMilli()
	for len(firsts) > 0 {
		n := min(len(firsts), batchEntries)
		var e kafka.Encoder
		for _, f := range firsts[:n] {
			e.Append(w.message(f, now))
		}
		if err := c.produce(ctx, p, &e); err != nil {
			return err
		}
		firsts = firsts[n:]
	}
	return nil
}

// produce writes the messages of e to partition p.
func (c *Changelog) produce(ctx context.Context, p int, e *kafka.Encoder) error {
	batch, err := e.Finish(kafka.NoProducer, 0, 0)
	if err != nil {
		return err
	}
	if _, err := c.client.Produce(ctx, c.cfg.Topic, p, batch); err != nil {
		c.client.Refresh()
		return fmt.Errorf("write to changelog %s[%d]: %w", c.cfg.Topic, p, err)
	}
	return nil
}

// Stored implements [engine.LaneKeySet].
func (c *Changelog) Stored(l *engine.Lane, firsts []engine.FirstKey) error {
	s := c.lane(l)
	if s == nil {
		return nil
	}
	return s.addFirsts(firsts)
}

// maxTombstones is the maximum number of entries that a call of Forget removes, so
// that commits wait for less than a second. It is not less than the number of keys
// that wait for a commit, so entries are removed as fast as they are written.
const maxTombstones = 256 << 10

// Forget implements [engine.LaneKeySet]. It writes tombstones.
func (c *Changelog) Forget(ctx context.Context, l *engine.Lane, least uint32) error {
	s := c.lane(l)
	if s == nil {
		return nil
	}
	s.retire(least)
	w, now := entryWriter{set: c.set}, time.Now().UnixMilli()
	for n := 0; n < maxTombstones; n += batchEntries {
		keys, err := s.piece(batchEntries)
		if err != nil || len(keys) == 0 {
			return err
		}
		var e kafka.Encoder
		for _, k := range keys {
			e.Append(w.tombstone(k, now))
		}
		if err := c.produce(ctx, s.partition, &e); err != nil {
			return err
		}
		s.forgotten()
	}
	return nil
}

// Drop implements [engine.LaneKeySet].
func (c *Changelog) Drop(l *engine.Lane) {
	c.mu.Lock()
	s := c.lanes[l]
	delete(c.lanes, l)
	c.mu.Unlock()
	if s != nil {
		_ = s.close() // the files are temporary
	}
}

// Close releases all sets and closes the connections.
func (c *Changelog) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for l, s := range c.lanes {
		errs = append(errs, s.close())
		delete(c.lanes, l)
	}
	c.client.Close()
	return errors.Join(errs...)
}

// Metrics emits the metrics of the sets.
func (c *Changelog) Metrics(emit metric.Emit) {
	count, gauge := metric.Of(emit)
	var keys, memory, disk int64
	c.mu.Lock()
	for _, s := range c.lanes {
		keys += s.len()
		m, d := s.bytes()
		memory, disk = memory+m, disk+d
	}
	loaded, stale, ahead := c.loaded, c.stale, c.ahead
	c.mu.Unlock()
	const read = "Number of entries that were read from dedupe.changelog, by result: used, ahead if the record of the entry is not before the committed offset, or other if the entry belongs to another configuration."
	gauge("dedupe_keys", "Number of keys in the stored set.", keys)
	gauge("dedupe_memory_bytes", "Memory of the stored set of keys, in bytes.", memory)
	gauge("dedupe_disk_bytes", "Size of the files of the stored set of keys, in bytes.", disk)
	count("dedupe_changelog_entries_total", read, loaded, "result", "used")
	count("dedupe_changelog_entries_total", read, ahead, "result", "ahead")
	count("dedupe_changelog_entries_total", read, stale, "result", "other")
	c.Counts.Metrics(emit)
}

// newLaneSet returns an empty set for one partition. All partitions share the
// memory, because this process may own all of them. The keys of adjacent windows
// share a set, so that about four sets are open at the same time.
func (c *Changelog) newLaneSet(partition int) *laneSet {
	s := &laneSet{partition: partition, groups: map[uint32]*keyset.Set{}}
	limit := c.cfg.MaxMemory / int64(max(c.partitions, 1))
	if w := c.cfg.Window; w != nil {
		open := uint32(w.Lateness/w.Size) + 2
		s.step = 1 + open/4
		limit /= int64(open/s.step + 1)
	}
	s.open = func() *keyset.Set { return keyset.New(keyset.Options{MaxMemory: max(limit, 1), Dir: c.cfg.Dir}) }
	return s
}

// Interface guard.
var _ engine.LaneKeySet = (*Changelog)(nil)

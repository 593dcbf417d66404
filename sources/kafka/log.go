package kafka

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/urlfold/urlfold/internal/client/kafka"
)

// This file handles a log that is no longer the log that a stored position
// refers to. A topic that was recreated has another id, and its offsets belong
// to other records. A log that a lagging replica continues has lost its last
// records. An election changes only the leader epoch, so the position remains
// valid.

// A change says why and where reading starts again.
type change struct {
	what  string // a reason below
	log   kafka.Log
	from  int64 // the position
	end   int64 // what: ended: the end of the log
	to    int64 // where reading starts again
	epoch int32 // leader epoch of the last record before to; -1: unknown
	was   kafka.TopicID
}

// The reasons, which are values of a label of a metric.
const (
	recreated = "recreated" // the topic has another id
	truncated = "truncated" // a new leader does not have the records before the position
	ended     = "ended"     // the log ends before the position
)

// Error implements error: a change ends a session of a partition.
func (c *change) Error() string { return "the log was " + c.what }

// markPrefix is the beginning of the text that is stored with an offset. The id of the
// topic, a leader epoch and the note of the pipeline follow.
const markPrefix = "urlfold log 1 "

// assignment returns what is stored for an offset. The caller holds member.mu.
func (p *partition) assignment(offset int64, note string) kafka.Assignment {
	a := kafka.Assignment{Topic: p.topic, Partition: p.id, Offset: offset, Epoch: p.epoch.Load(), Note: note}
	if p.log.Known() {
		a.Note = fmt.Sprintf("%s%s %d %s", markPrefix, idText(p.log.ID), a.Epoch, note)
	}
	return a
}

// parseMark returns the log to which a stored offset belongs, and the note of
// the pipeline.
func parseMark(text string) (log kafka.Log, note string) {
	rest, ours := strings.CutPrefix(text, markPrefix)
	if !ours {
		return kafka.Log{Epoch: -1}, text
	}
	id, rest, _ := strings.Cut(rest, " ")
	epoch, note, _ := strings.Cut(rest, " ")
	n, err1 := strconv.ParseInt(epoch, 10, 32)
	b, err2 := base64.RawURLEncoding.DecodeString(id)
	if err1 != nil || err2 != nil || copy(log.ID[:], b) != len(log.ID) {
		return kafka.Log{Epoch: -1}, ""
	}
	log.Epoch = int32(n)
	return log, note
}

// start returns the offset to start at, and the note of the pipeline that is stored
// with it. It returns false if ctx is done.
func (p *partition) start(ctx context.Context) (offset int64, note string, ok bool) {
	ok = p.retry(ctx, fetching, func() (err error) {
		offset, note, err = p.locate(ctx)
		return err
	})
	return offset, note, ok
}

// locate implements start. It commits an offset that depends on the current state of
// the log, so that a restart uses the same offset.
func (p *partition) locate(ctx context.Context) (offset int64, note string, err error) {
	was, note := parseMark(p.assigned.Note)
	now, err := p.s.client.LogState(ctx, p.topic, p.id)
	if err != nil {
		return 0, "", err
	}
	p.set(now, was.Epoch)
	offset = p.assigned.Offset
	if offset < 0 {
		at := p.s.cfg.startAt()
		if offset, err = p.s.client.Offset(ctx, p.topic, p.id, at); err == nil && at != kafka.Earliest {
			_, err = p.m.commit(ctx, []commitment{{p: p, lane: p.lane, offset: offset}})
		}
		return offset, "", err
	}
	c, err := p.compare(ctx, was, now, offset, was.Epoch)
	if err != nil || c == nil {
		return offset, note, err
	}
	p.set(now, c.epoch)
	if err := p.restart(ctx, c); err != nil {
		return 0, "", err
	}
	return c.to, "", nil
}

// compare returns how the log has changed since it had the state was, for a
// position after a record of an epoch. It returns nil if the position
// remains valid.
func (p *partition) compare(ctx context.Context, was, now kafka.Log, position int64, epoch int32) (*change, error) {
	switch {
	case !was.Known() || !now.Known():
		return nil, nil
	case was.ID != now.ID:
		to, err := p.s.client.Offset(ctx, p.topic, p.id, p.s.cfg.startAt())
		return &change{what: recreated, was: was.ID, log: now, from: position, to: to, epoch: -1}, err
	case epoch < 0 || now.Epoch <= was.Epoch:
		return nil, nil
	}
	end, err := p.s.client.EpochEnd(ctx, p.topic, p.id, now.Epoch, epoch)
	if err != nil || end < 0 || end >= position {
		return nil, err
	}
	return &change{what: truncated, log: now, from: position, to: end, epoch: epoch}, nil
}

// set sets the log of p, which permits commits of lower offsets.
func (p *partition) set(log kafka.Log, epoch int32) {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	p.log, p.committed = log, -1
	p.epoch.Store(epoch)
	if log.Known() {
		p.lane.SetLog(idText(log.ID))
	}
}

func idText(id kafka.TopicID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// restart commits where reading starts again, and reports why.
func (p *partition) restart(ctx context.Context, c *change) error {
	if _, err := p.m.commit(ctx, []commitment{{p: p, lane: p.lane, offset: c.to}}); err != nil {
		return err
	}
	p.s.mu.Lock()
	p.s.count.resets[reset{p.topic, c.what}]++
	p.s.mu.Unlock()
	switch log := p.s.log; c.what {
	case recreated:
		log.Error("kafka topic recreated, its offsets restart",
			"topic", p.topic, "partition", p.id, "position", c.from, "to", c.to, "id", idText(c.log.ID), "before", idText(c.was))
	case truncated:
		log.Error("kafka log truncated, records already read were removed from it",
			"topic", p.topic, "partition", p.id, "position", c.from, "from", c.to, "to", c.from, "offsets", c.from-c.to, "leader_epoch", c.log.Epoch)
	default:
		log.Error("kafka log ends before the position, restarting at the configured start",
			"topic", p.topic, "partition", p.id, "position", c.from, "end", c.end, "to", c.to, "offsets", c.from-c.end)
	}
	return nil
}

// reload prepares p to read again from another offset, in a new lane: no
// position of the old lane can be stored any more, and the keys that are not
// before the offset are forgotten. It returns false if ctx is done.
func (p *partition) reload(ctx context.Context, c *change) bool {
	if err := p.lane.Drain(ctx); err != nil {
		return false // the next generation notices the change
	}
	if p.lane.KeepsKeys() {
		p.lane.AwaitCommit(ctx)
	}
	old, next := p.lane, p.newLane()
	p.m.mu.Lock()
	p.lane = next
	p.m.mu.Unlock()
	p.s.mu.Lock()
	delete(p.s.parts, old)
	p.s.parts[next] = p
	p.s.mu.Unlock()
	p.set(c.log, c.epoch)
	old.Revoke()
	p.s.rt.End(old)
	return p.retry(ctx, fetching, func() error { return p.restart(ctx, c) }) && p.load(ctx, c.to, "")
}

// follow checks the log after the broker has answered that the log has moved or
// lacks the position. It returns true if reading can go on, or if f has sent a
// change.
func (f *fetcher) follow(ctx context.Context) bool {
	p := f.p
	now, err := p.s.client.LogState(ctx, p.topic, p.id)
	if err != nil || now == f.log {
		return false
	}
	c, err := p.compare(ctx, f.log, now, f.offset, f.epoch)
	switch {
	case err != nil:
		return false
	case c != nil:
		return f.send(ctx, c)
	case now.Epoch <= f.log.Epoch:
		return false // the answer comes from a broker that is behind
	}
	f.log = now
	return true
}

// send sends c and waits for the end of f.
func (f *fetcher) send(ctx context.Context, c *change) bool {
	f.changed <- c
	<-ctx.Done()
	return true
}

package nats

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	client "github.com/urlfold/urlfold/internal/client/nats"
)

// An unread tracks which sequences are missing although this consumer has not
// read them. Three things make a missing sequence ambiguous: the consumer has a
// filter, the stream removes acknowledged messages, or the stream already had
// gaps when it was found.
type unread struct {
	mu     sync.Mutex
	every  bool   // the consumer gets every message of the stream
	limits bool   // the stream removes messages only because of its limits, or by request
	gaps   uint64 // a sequence up to this one may have been missing before
	told   []span // missing sequences that are reported

	// With a filter: every message up to checked was read or reported. The next
	// check sets checked to latest if the stream has deleted nothing meanwhile,
	// or still has the messages after checked.
	checked, latest client.SequencePair
}

type span struct{ from, to uint64 }

// begin sets the properties of stream and consumer.
func (u *unread) begin(stream *client.StreamInfo, info *client.ConsumerInfo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.every, u.limits, u.gaps = !info.Partial && !stream.Mirror, stream.Limits, 0
	u.checked, u.latest = info.Delivered, info.Delivered
	if !stream.Limits || stream.Gaps {
		u.gaps = stream.Last
	}
}

// maxTold is the maximum number of reported spans that are kept. The sequences
// of an older span were passed long ago.
const maxTold = 64

// report returns the parts of the missing sequences from...to that were not
// reported before.
func (u *unread) report(from, to uint64) (parts []span) {
	if from > to {
		return nil
	}
	at := from
	for _, t := range u.told {
		if at <= to && t.to >= at {
			if t.from > at {
				parts = append(parts, span{at, min(t.from-1, to)})
			}
			at = max(at, t.to+1)
		}
	}
	if at <= to {
		parts = append(parts, span{at, to})
	}
	u.told = append(u.told, span{from, to})
	slices.SortFunc(u.told, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	u.told = u.told[max(0, len(u.told)-maxTold):]
	return parts
}

// missing reports that the sequences from...to are missing and were not read.
func (s *jetStream) missing(e *epoch, from, to uint64) {
	u := &e.unread
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range u.report(from, to) {
		sure := p.to + 1 // first sequence that was a message for this consumer
		if u.every {
			sure = max(p.from, u.gaps+1)
		}
		if u.limits && p.from < sure {
			s.doubt(p.from, min(sure-1, p.to))
		}
		if sure <= p.to {
			s.stats.gaps.Add(int64(p.to - sure + 1))
			s.log.Error("messages deleted before they were acknowledged", "stream", s.cfg.Stream, "from", sure, "to", p.to, "lost_messages", p.to-sure+1)
		}
	}
}

// doubt reports that messages of this consumer may be among the missing
// sequences from...to.
func (s *jetStream) doubt(from, to uint64) {
	s.stats.doubts.Add(int64(to - from + 1))
	s.log.Error("messages possibly deleted before they were acknowledged", "stream", s.cfg.Stream, "from", from, "to", to, "sequences", to-from+1)
}

// compare looks for messages that the stream has deleted at its beginning and
// the consumer has not delivered. info must be newer than stream. With a filter,
// compare asks whether the stream has deleted messages since.
func (s *jetStream) compare(ctx context.Context, conn *client.Conn, e *epoch, stream *client.StreamInfo, info *client.ConsumerInfo) {
	gone := max(stream.First, 1) - 1
	if !info.Partial {
		read, _ := e.floor.last()
		s.missing(e, max(read, info.Delivered.Stream)+1, gone)
	} else if stream.Limits {
		now, err := conn.Stream(ctx, s.cfg.Stream)
		same := err == nil && now.Created.Equal(stream.Created) && now.First == stream.First
		if from := e.unread.advance(gone, stream.Last, info, same); from <= gone {
			s.doubt(from, gone)
		}
	}
}

// advance returns the first sequence that a consumer with a filter may not have
// read, if sequences up to gone are deleted. If the consumer has made as many
// deliveries since the last check as sequences were deleted, it has read the
// deleted messages. same reports whether no more were deleted when info was
// read.
func (u *unread) advance(gone, last uint64, info *client.ConsumerInfo, same bool) (from uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	from = u.checked.Stream + 1
	deliveries := max(info.Delivered.Consumer, u.checked.Consumer) - u.checked.Consumer
	if gone < from+deliveries {
		from = gone + 1
	}
	// The state of the stream is older than the state of the consumer, which
	// could not read messages deleted in between. The next check compares
	// those messages.
	u.checked, u.latest = u.latest, info.Delivered
	if info.Pending == 0 {
		u.latest.Stream = max(u.latest.Stream, last)
	}
	if same {
		u.checked = u.latest
	}
	u.checked.Stream = max(u.checked.Stream, gone)
	return from
}

// follow looks for sequences that the consumer has skipped between two
// deliveries. Only deliveries with consecutive numbers show this: if the numbers
// have a gap, other instances got the deliveries in the gap.
func (r *reader) follow(m client.Meta) {
	next := m.Consumer == r.last.Consumer+1
	r.last.Consumer = m.Consumer
	switch {
	case m.Delivered > 1:
		if !next {
			r.last.Stream = math.MaxUint64 // unknown until the next message
		}
	case r.last.Stream == math.MaxUint64 || !next && m.Stream > r.last.Stream:
		r.last.Stream = m.Stream
	case m.Stream > r.last.Stream:
		if m.Stream > r.last.Stream+1 && r.of.unread.complete() {
			r.s.missing(r.of, r.last.Stream+1, m.Stream-1)
		}
		r.last.Stream = m.Stream
	}
}

// complete reports whether the consumer gets every message.
func (u *unread) complete() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.every
}

package engine

import (
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// A Position is the point at which to resume after the records that it covers.
// It is opaque to the pipeline.
//
//	file        A = offset in the decompressed stream, B = id of a restart point
//	Kafka       A = next offset to read,               B = leader epoch, or -1
//	JetStream   A = stream sequence,                   B = consumer sequence
type Position struct{ A, B int64 }

// A Span is the range of Len bytes that starts at offset Off in an arena.
// Arenas are smaller than 4 GiB.
type Span struct{ Off, Len uint32 }

// A Piece reports whether the input arena of a batch holds whole records or one
// piece of a record that exceeds the source's record limit. The pieces of a
// record are consecutive batches of one lane, with no other batch between them.
type Piece uint8

// The values of a Piece. Most batches have the zero value.
const (
	Whole  Piece = iota // In holds whole records
	First               // the first piece of an oversize record
	Middle              // neither the first nor the last piece
	Last                // the last piece, including the line end if there is one
	Unread              // not a piece: In is one line about an input that cannot be read, and becomes a dead letter
)

// A Batch is a contiguous part of exactly one lane on its way through the
// pipeline. The holder of the batch owns all of its bytes: the source until it
// emits the batch, then the worker, then the sinks, which only read, until the
// last sink has answered its ticket. Nobody may keep a slice of the batch after
// that.
type Batch struct {
	Lane *Lane
	Seq  uint64   // consecutive within the lane, from 0; set by Emit
	End  Position // where to resume after this batch

	In    []byte // input arena; its capacity is at least Options.BatchBytes
	Off   int64  // offset of In[0] in the lane's (decompressed) stream
	Line  int64  // number of the first line of In, from 1
	Piece Piece

	// Head is the directive in force at the start of In (see record.Director).
	// If it is nil, the lane's header record applies. The source sets Head and
	// does not modify its bytes afterwards.
	Head []byte

	// Verified reports that matching checksums cover all text of the lane up to
	// the end of this batch. The source sets it.
	Verified bool
	// Segment is the number, from 0, of the run of batches that ends with the
	// next Verified batch. Emit sets it.
	Segment uint64

	// Msgs are the messages of a broker. In then holds their values, one after
	// the other, and no record extends beyond the value that it starts in. If
	// Msgs is nil, In is a part of a stream.
	Msgs  []Message
	Heads []Header // headers of all Msgs; see Message.Heads
	Side  []byte   // arena of keys and headers
	Ext   any      // private data of the source; kept when the batch is reused, by any source

	// Set by the worker.
	Next    int          // offset in In of the current record; all earlier records are done
	NextMsg int          // index in Msgs of the current message
	Out     Stream       // output for the sinks
	Dead    Stream       // output for the dead-letter sink
	Stats   record.Stats // counts of this batch alone

	held  atomic.Bool // taken from the free list
	epoch uint32      // epoch of the lane when the batch was taken
	start int64       // offset of the record that the batch is a piece of, or -1; set by Emit
	round round
	decision
	handover
}

// A round is the next task of a worker for a batch.
type round uint8

const (
	firstRound   round = iota // read the records
	decidedRound              // remove the records that the filter has dropped
	lateRound                 // write the dead letters of the records that sinks refused
)

// A decision is what a filter or a [Dedupe] has decided about a batch.
type decision struct {
	keep         Keep      // records of Out that the filter keeps
	marked       []uint32  // duplicates of Out that are marked and kept
	read         time.Time // when the source emitted the batch
	pieceDropped bool      // the batch is a piece of a record that the filter dropped

	void    bool     // the lane was revoked before the decision; no sink gets the batch
	series  *series  // series of the decision; nil: not decided
	number  uint64   // number of the decision
	needs   uint64   // the greatest number of a batch that holds the first record of a duplicate; 0: none
	relied  []relied // duplicates whose first records were not settled at the decision
	orphans []uint64 // positions of duplicates that need a dead letter: see OutRec.position
	orphan  bool     // the current dead letter belongs to a duplicate whose first record was refused

	claims []*Claim // claims that the batch holds; see claims.go
	leans  []lean   // records that were dropped because of claims of this process
	delays Keep     // the messages that are acknowledged and need not be delivered again; empty: all
	again  int64    // records that were dropped until their messages are delivered again
}

// reset forgets the decision.
func (d *decision) reset() {
	clear(d.claims)
	clear(d.leans)
	*d = decision{
		keep: d.keep[:0], marked: d.marked[:0], relied: d.relied[:0], orphans: d.orphans[:0],
		claims: d.claims[:0], leans: d.leans[:0], delays: d.delays[:0],
	}
}

// A handover is the delivery of a batch to the sinks.
type handover struct {
	delivery *delivery
	legs     []leg // one per sink, the last one for the dead letter
	ids      atomic.Uint32
	pend     atomic.Int32 // unresolved legs, plus one while deliver runs
	lost     atomic.Bool  // a leg was given up

	// Guarded by delivery.mu.
	refused         []uint64 // positions of records that a sink refused: see OutRec.position
	lostDeadLetters int64    // dead letters that were refused and dropped
}

// done reports whether the codec has processed all of b.
func (b *Batch) done() bool { return b.Next == len(b.In) && b.NextMsg == len(b.Msgs) }

// position encodes the position of the input record of r in one number.
func (r OutRec) position() uint64 { return uint64(r.Msg)<<32 | uint64(r.Src) }

// A Stream is one output arena of a batch.
type Stream struct {
	Bytes []byte   // rendered records, one after the other
	Recs  []OutRec // position of each record in Bytes, in order

	// Apart reports that each record is compressed into separate members or
	// frames. The codec sets it.
	Apart bool
	// Binary reports that the records are binary and end without a line end. A
	// sink must neither add nor remove one. The codec sets it.
	Binary bool

	// Truncated reports that these are dead letters which the sink has refused
	// for their size, and which are shorter now. A sink adds neither the key nor
	// the headers of the input message to them.
	Truncated bool

	// Facts holds the key, the host and the flags of each record. It is as long
	// as Recs, or nil if the codec was not asked for facts.
	Facts []record.Fact

	// IDs holds the identity of each record; the zero key means that the record
	// has no identity. Times holds the time of each record. Each of these slices
	// is as long as Recs, or empty if the codec was not asked for it.
	IDs   []codec.Key
	Times []record.Time

	// To holds, for each record of Batch.Out, the set of sinks that get it: one
	// bit for each index in Options.Sinks. It is as long as Recs, or empty if
	// every sink gets every record. The codec may also set higher bits; a sink
	// finds them in To of its own stream.
	To []uint64

	whole *Stream  // the stream that Recs is a part of; nil if Recs is complete
	index []uint32 // indexes of Recs in whole
}

// Whole returns the records that s had when its batch was first submitted, and
// the index of record i among them. With a route, these are the records of all
// sinks. The offsets in recs do not apply to s.Bytes. A sink that has taken
// some records of a batch gets the others again in a Stream whose Bytes still
// holds all of them.
func (s *Stream) Whole(i int) (recs []OutRec, at int) {
	if s.whole == nil {
		return s.Recs, i
	}
	return s.whole.Recs, int(s.index[i])
}

// IsDead reports whether s is the dead-letter stream of b or a part of it.
func (b *Batch) IsDead(s *Stream) bool { return s == &b.Dead || s.whole == &b.Dead }

// An OutRec is one record of a [Stream].
type OutRec struct {
	Span
	Src uint32 // offset in Batch.In of the input record
	Msg uint32 // index in Batch.Msgs of the message that contains Src; 0 without Msgs
}

// Origin returns the position in the lane of the input record of output record
// i of s: the position of its message, or its offset in the stream. ordinal is
// the index, from 0, of record i among the output records with that position.
// Together with [Lane.ID] the result is the same each time the record is read.
func (b *Batch) Origin(s *Stream, i int) (pos int64, ordinal int) {
	recs, i := s.Whole(i)
	r := recs[i]
	pos = b.Off + int64(r.Src)
	same := func(o OutRec) bool { return o.Src == r.Src }
	if len(b.Msgs) > 0 {
		pos = b.Msgs[r.Msg].Pos
		same = func(o OutRec) bool { return o.Msg == r.Msg }
	}
	for ordinal < i && same(recs[i-ordinal-1]) {
		ordinal++
	}
	return pos, ordinal
}

package pipeline

import (
	"sync/atomic"

	"github.com/urlfold/urlfold/codec/record"
)

// A Position says where to resume after the records that it covers. It is
// opaque to the pipeline.
//
//	file        A = offset in the decompressed stream, B = id of a restart point
//	Kafka       A = next offset to read,               B = leader epoch, or -1
//	JetStream   A = stream sequence,                   B = consumer sequence
type Position struct{ A, B int64 }

// A Span is a range of bytes in an arena: Off, Off+1, … Off+Len-1. Arenas are
// smaller than 4 GiB.
type Span struct{ Off, Len uint32 }

// A Piece says whether the input arena of a batch holds whole records or a
// piece of one record that is longer than the source's record limit. Pieces of
// one record are consecutive batches of one lane, nothing else between them.
type Piece uint8

// The values of a Piece. The zero value is the usual one.
const (
	Whole  Piece = iota // In holds whole records
	First               // the beginning of an oversize record
	Middle              // neither its beginning nor its end
	Last                // its end, with the line end if it has one
)

// A Batch is a contiguous piece of exactly one lane on its way through the
// pipeline. Whoever holds the batch owns all of its bytes: the source until it
// emits it, then the worker, then the sinks (which only read) until the last of
// them has answered its ticket. Nobody keeps a slice of it after that.
type Batch struct {
	Lane *Lane
	Seq  uint64   // dense per lane, from 0; set by Emit
	End  Position // where to resume after this batch

	In    []byte // input arena; its capacity is Options.BatchBytes, or more
	Off   int64  // offset of In[0] in the lane's (decompressed) stream
	Line  int64  // number of the first line of In, from 1
	Piece Piece

	// Sum and Size are the CRC-32 and the length of the record that In is a piece of, up
	// to the end of In. Size is 0 if the source does not know them.
	Sum  uint32
	Size int64

	// Head is the directive in force at the start of In (see record.Director), or nil:
	// then it is the head of the lane. The source sets it, and does not change its bytes.
	Head []byte

	// Verified says that all text of the lane up to the end of this batch is covered by
	// checksums that match. The source sets it.
	Verified bool
	// Segment is the number, from 0, of the run of batches that ends with the next
	// Verified one. Emit sets it.
	Segment uint64

	// Of a broker: In is the values of Msgs, one after the other. A record does not
	// go beyond the value that it begins in. Nil: In is a piece of a stream.
	Msgs  []Message
	Heads []Header // of all Msgs; see Message.Heads
	Side  []byte   // arena of keys and headers
	Ext   any      // the source's own; it stays when the batch is used again, by any source

	// What the worker makes of it.
	Next    int          // offset in In of the record in hand; everything before it is done
	NextMsg int          // index in Msgs of the message in hand
	Out     Stream       // for the sinks
	Dead    Stream       // for the dead-letter sink
	Stats   record.Stats // of this batch alone

	p            *Pipeline
	held         atomic.Bool  // taken from the free list
	epoch        uint32       // of the lane, when the batch was taken
	pend         atomic.Int32 // legs that are not resolved, and one for who delivers
	lost         atomic.Bool  // a leg was given up
	keep         Keep         // what the filter keeps of Out
	filtered     bool         // it has been through the filter
	pieceDropped bool         // a piece of a record that the filter dropped
	late         bool         // second round: dead letters for the records that sinks refused
	legs         []leg        // one per sink, the last one for the dead letter
	ids          atomic.Uint32
	refused      []uint64 // records that a sink refused, see position; guarded by Pipeline.mu

	lostDeadLetters int64 // dead letters that were refused and dropped; guarded by Pipeline.mu
}

// done reports whether the codec has come to the end of b.
func (b *Batch) done() bool { return b.Next == len(b.In) && b.NextMsg == len(b.Msgs) }

// position tells where the record stood that r was made of, in one number.
func (r OutRec) position() uint64 { return uint64(r.Msg)<<32 | uint64(r.Src) }

// A Stream is one output arena of a batch.
type Stream struct {
	Bytes  []byte   // rendered records, one after the other
	Recs   []OutRec // where each lies in Bytes, in order
	Packed []byte   // Bytes compressed as complete members or frames, if the sink is a Packer; else empty

	// Apart says that each record is compressed to members or frames of its own. The
	// codec sets it.
	Apart bool

	// Facts has the same length as Recs, or is nil if the codec was not asked for
	// them: keys to partition by, flags.
	Facts []record.Fact

	whole *Stream  // of which Recs is a part; nil: this is all of it
	index []uint32 // of Recs in whole
}

// Whole returns the records that s had when its batch was submitted for the first
// time, and the index of record i among them. A sink that has taken some records of
// a batch gets the others again in a Stream whose Bytes still holds all of them.
func (s *Stream) Whole(i int) (recs []OutRec, at int) {
	if s.whole == nil {
		return s.Recs, i
	}
	return s.whole.Recs, int(s.index[i])
}

// IsDead reports whether s is, or is a part of, the dead letters of b.
func (b *Batch) IsDead(s *Stream) bool { return s == &b.Dead || s.whole == &b.Dead }

// An OutRec is one record of a [Stream].
type OutRec struct {
	Span
	Src uint32 // offset in Batch.In of the input record that it was made of
	Msg uint32 // index in Batch.Msgs of the message that Src lies in; 0 without Msgs
}

// Origin tells where in the lane the record stood that record i was made of: the
// position of its message, or its offset in the stream, and which of the records
// of that position it is, from 0. With [Lane.ID] it is the same whenever the record
// is read again. s is the stream that the record is in, i its index there.
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

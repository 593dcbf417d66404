package record

import (
	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
)

// A Fact is what a sink may want to know of a record besides its bytes: what to
// partition by, and what is wrong.
type Fact struct {
	Key   codec.Key   // of the record's first URL, at the job's level; zero if it has none
	Host  uint64      // XXH3 of that URL's host; zero if it has none
	Flags codec.Flags // of all its URLs
}

// Facts reports whether the job's workers collect a Fact of each record.
func (j *Job) Facts() bool { return j.facts }

// Fact returns what the last call of Append learned of its record. It is zero if
// the job does not collect facts, for a record without a URL, and after Reject and
// Piece.
func (w *Worker) Fact() Fact { return w.n.fact }

// learn adds the URL at hand to the fact. first says that it is the first of its
// record with a reading.
func (n *normalizer) learn(first bool) {
	c := &n.cur
	n.fact.Flags = n.fact.Flags.Union(c.flags)
	if !first {
		return
	}
	n.fact.Key = n.keyOf()
	if host := n.res.Out.Span(codec.Host); !c.nohost && host.Len() > 0 {
		n.fact.Host = xxh3.Hash(c.norm[host.Start:host.End])
	}
}

package record

import (
	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
)

// Fact holds the properties of a record that a sink needs besides its bytes,
// such as those it partitions by.
type Fact struct {
	Key   codec.Key   // key of the record's first URL at the job's level; zero if it has none
	Host  uint64      // XXH3 of that URL's host; zero if none
	Flags codec.Flags // union over all URLs of the record
}

// Time is the field time of a record.
type Time struct {
	Seconds int64 // since 1970
	Known   bool  // whether the record has the field
}

// facts is all that is known about a record besides its output. Most jobs need a part.
type facts struct {
	Fact
	Identity codec.Key
	Time     Time
}

// Facts reports whether the workers of the job collect a Fact about each
// record.
func (j *Job) Facts() bool { return j.facts }

// AppendFact appends the Fact about the record of the last Append or AppendRun. It is
// zero if the job does not collect facts, if the record has no URL, and after Reject
// and Piece.
func (w *Worker) AppendFact(dst []Fact) []Fact {
	if !w.job.facts {
		return append(dst, Fact{})
	}
	return append(dst, w.n.fact.Fact)
}

// addFact adds the current URL to the fact. first is set for the first URL of the
// record that could be parsed.
func (n *normalizer) addFact(first bool) {
	c := &n.cur
	n.fact.Flags = n.fact.Flags.Union(c.flags)
	if !first {
		return
	}
	if n.hasKey() {
		n.fact.Key = n.keyOf()
	}
	if host := n.res.Out.Span(codec.Host); !c.nohost && host.Len() > 0 {
		n.fact.Host = xxh3.Hash(c.norm[host.Start:host.End])
	}
}

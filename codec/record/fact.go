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

	// Identity is the same for two records if they have the same URLs, as
	// Config.Identity says. It is zero if the record has none: without a URL, or
	// if one of its URLs was rejected or has no key.
	Identity codec.Key

	// Time is the field time of the record, in seconds since 1970, if HasTime is
	// set. It is collected if Config.Identity says so, for records with a URL.
	Time    int64
	HasTime bool
}

// Facts reports whether the workers of the job collect a Fact about each
// record.
func (j *Job) Facts() bool { return j.facts }

// AppendFact appends the Fact about the record of the last Append or AppendNext. It is
// zero if the job does not collect facts, if the record has no URL, and after Reject
// and Piece.
func (w *Worker) AppendFact(dst []Fact) []Fact {
	dst = append(dst, Fact{})
	// Each word is copied as it was written: a load of several words would wait
	// until the stores to all of them are complete.
	f, n := &dst[len(dst)-1], &w.n.fact
	f.Identity.Hi, f.Identity.Lo = n.Identity.Hi, n.Identity.Lo
	f.Time, f.HasTime = n.Time, n.HasTime
	if w.job.learns {
		f.Key.Hi, f.Key.Lo = n.Key.Hi, n.Key.Lo
		f.Host, f.Flags = n.Host, n.Flags
	}
	return dst
}

// learn adds the current URL to the fact. first is set for the first URL of the
// record that could be parsed.
func (n *normalizer) learn(first bool) {
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

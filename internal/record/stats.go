package record

import (
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Stats counts what happened to the records of a block, a file or a run. The
// zero Stats is an empty count. This equation, the ledger, always holds:
//
//	Records = Emitted + Dropped + Filtered + Duplicates + Dead
type Stats struct {
	Records  int64 // records read, including blank lines and headers
	Emitted  int64 // records for which something was written to the output
	Dropped  int64 // records for which the rendering writes nothing: without a URL, blank, or rejected
	Filtered int64 // records that Config.Where dropped
	Dead     int64 // records sent to the dead letters

	// Duplicates are records that a filter after the worker dropped, because
	// their key has been seen.
	Duplicates int64

	URLs      int64 // URLs found
	Changed   int64 // URLs whose normal form differs from the input
	Flagged   int64 // URLs with at least one flag
	Unwritten int64 // URLs left unchanged because the fields of their record cannot hold the normal form
	Skipped   int64 // links of HTML documents that are not URLs to follow: empty, to a fragment of the document, javascript:, data: and similar
	NoURL     int64 // well-formed records without a URL ("-", "*", CONNECT)
	Blank     int64 // blank lines
	Hole      int64 // bytes of holes, which are no records: see locate.HoleLen
	Heads     int64 // headers and comments
	Bare      int64 // URLs without a scheme, if Config.Scheme is empty and there is no base
	Oversize  int64 // records longer than the limit, which are not read
	Rejected  int64 // rejected records, whatever the reason and the disposition
	Panics    int64 // records on which the codec panicked; also counted as rejected

	Flags    [128]int64        // URLs by flag
	Rules    [64]int64         // URLs by applied rule: rules that changed a normal form, without repairs, and rules of the keys computed at K2 and K3
	Rejects  [NumReasons]int64 // rejected records by reason
	Discards [NumReasons]int64 // the rejected records in Dropped, which are in no output

	// Lacking counts the records that lack an attribute that a condition has
	// read, by the index of the attribute in AttributeNames. Having is the set
	// of attributes that at least one record had, with the same indexes as
	// bits.
	Lacking [locate.NumAttrs]int64
	Having  uint16
}

// AttributeNames returns the names of the output fields that show properties of a
// request other than its URL, in a new slice.
func AttributeNames() []string { return slices.Clone(locate.AttrNames[:]) }

// Add adds o to s.
func (s *Stats) Add(o *Stats) {
	s.Records += o.Records
	s.Emitted += o.Emitted
	s.Dropped += o.Dropped
	s.Filtered += o.Filtered
	s.Duplicates += o.Duplicates
	s.Dead += o.Dead
	s.URLs += o.URLs
	s.Changed += o.Changed
	s.Flagged += o.Flagged
	s.Unwritten += o.Unwritten
	s.Skipped += o.Skipped
	s.NoURL += o.NoURL
	s.Blank += o.Blank
	s.Hole += o.Hole
	s.Heads += o.Heads
	s.Bare += o.Bare
	s.Oversize += o.Oversize
	s.Rejected += o.Rejected
	s.Panics += o.Panics
	for i, n := range o.Flags {
		s.Flags[i] += n
	}
	for i, n := range o.Rules {
		s.Rules[i] += n
	}
	for i, n := range o.Rejects {
		s.Rejects[i] += n
	}
	for i, n := range o.Discards {
		s.Discards[i] += n
	}
	for i, n := range o.Lacking {
		s.Lacking[i] += n
	}
	s.Having |= o.Having
}

// drop counts a record for which nothing is written. bad is the reason for a
// rejected record, and otherwise 0.
func (s *Stats) drop(bad Reason) {
	s.Dropped++
	if bad != 0 && bad < NumReasons {
		s.Discards[bad]++
	}
}

// Discarded returns the number of records that were rejected and dropped by the
// job. It does not count records that a sink refused.
func (s *Stats) Discarded() (n int64) {
	for r, k := range s.Discards {
		if Reason(r) != Refused {
			n += k
		}
	}
	return n
}

// Uninspected returns the number of records whose URLs were not read, because
// the record does not match the format, is too long or cannot be decoded.
// Config.Secrets and Config.Redact hide the values that they find in the text,
// but the text may hold more secrets.
func (s *Stats) Uninspected() int64 {
	return s.Rejects[Unparsed] + s.Rejects[ColumnCount] + s.Rejects[TooLong] + s.Rejects[Panic] + s.Rejects[NoSchema]
}

// Balanced reports whether the ledger holds: every record read is accounted
// for.
func (s *Stats) Balanced() bool {
	return s.Records == s.Emitted+s.Dropped+s.Filtered+s.Duplicates+s.Dead
}

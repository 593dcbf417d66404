package record

// Stats counts what happened to the records of one block, file or run. The zero
// Stats is an empty count. The ledger holds at all times:
//
//	Records = Emitted + Dropped + Filtered + Dead
type Stats struct {
	Records  int64 // records read, blank lines and headers among them
	Emitted  int64 // records of which something was written to the output
	Dropped  int64 // records of which the chosen rendering writes nothing: no URL in them, blank, or without a reading
	Filtered int64 // records that a filter behind the worker has dropped
	Dead     int64 // records that went to the dead letter

	URLs      int64 // URLs found
	Changed   int64 // URLs whose normal form differs from what stood there
	Flagged   int64 // URLs with at least one flag
	Unwritten int64 // URLs that stay as they are because the fields of their record cannot hold the normal form
	NoURL     int64 // records that are well formed and have no URL ("-", "*", CONNECT)
	Blank     int64 // blank lines
	Oversize  int64 // records longer than the limit, passed through unread
	Rejected  int64 // records without a reading, by whatever reason, whatever became of them
	Panics    int64 // records on which the codec failed; each is rejected too

	Flags   [128]int64        // URLs by flag
	Rules   [64]int64         // URLs by rule: what changed those of Changed, repairs aside, and, of the keys that were made, K2 and K3
	Rejects [NumReasons]int64 // records by reason of rejection
}

// Add adds o to s.
func (s *Stats) Add(o *Stats) {
	s.Records += o.Records
	s.Emitted += o.Emitted
	s.Dropped += o.Dropped
	s.Filtered += o.Filtered
	s.Dead += o.Dead
	s.URLs += o.URLs
	s.Changed += o.Changed
	s.Flagged += o.Flagged
	s.Unwritten += o.Unwritten
	s.NoURL += o.NoURL
	s.Blank += o.Blank
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
}

// Balanced reports whether every record read is accounted for.
func (s *Stats) Balanced() bool {
	return s.Records == s.Emitted+s.Dropped+s.Filtered+s.Dead
}

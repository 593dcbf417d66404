package engine

// A codec may distribute records over the sinks (see Stream.To). Batch.Out then
// holds the records of all sinks, in the order of the input, and each sink gets
// a copy of its own records in a separate stream:
//
//	worker   read · render ──▶ Out  a b c d e f
//	         share             ──▶ leg 0  a   c d
//	                           ──▶ leg 1    b     e f
//	         outlets of the sinks
//
// A batch without records for a sink still passes the sink's outlet, so that
// the order, the watermark and the cut work as without a route.

// allSinks is the value of Stream.To for a record that every sink gets.
const allSinks = ^uint64(0)

// pick sets s to the records of whole that the given sink gets.
func (s *Stream) pick(whole *Stream, sink uint64) {
	s.Bytes, s.Recs, s.Facts, s.IDs, s.To, s.index = s.Bytes[:0], s.Recs[:0], s.Facts[:0], s.IDs[:0], s.To[:0], s.index[:0]
	s.Apart, s.Binary, s.whole = whole.Apart, whole.Binary, whole
	for i, r := range whole.Recs {
		if whole.To[i]&sink == 0 {
			continue
		}
		at := uint32(len(s.Bytes))
		s.Bytes = append(s.Bytes, whole.Bytes[r.Off:r.Off+r.Len]...)
		r.Off = at
		s.Recs, s.To = append(s.Recs, r), append(s.To, whole.To[i])
		s.index = append(s.index, uint32(i))
		if len(whole.Facts) > 0 {
			s.Facts = append(s.Facts, whole.Facts[i])
		}
		if len(whole.IDs) > 0 {
			s.IDs = append(s.IDs, whole.IDs[i])
		}
	}
}

// full returns the records of b for the sink of slot, before any of them was
// submitted.
func (b *Batch) full(slot int) *Stream {
	switch {
	case slot == b.delivery.dead:
		return &b.Dead
	case b.legs[slot].owns:
		return &b.legs[slot].out
	}
	return &b.Out
}

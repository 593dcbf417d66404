package pipeline

import (
	"slices"

	"github.com/urlfold/urlfold/codec/record"
)

// Dead letters come from two places. Records that have no reading are put into
// Batch.Dead by the codec, and submitted together with the output. Records that
// a sink will never take are known only when all sinks have answered: then the
// batch goes back to a worker once more, its codec writes a letter for each of
// them, and Batch.Dead is submitted a second time. Nobody reads its first
// contents any more by then.

// refuse notes the records of s that a sink will never take, and settles the leg.
func (p *Pipeline) refuse(b *Batch, s *Stream, slot int, r Result) {
	p.complain(&p.refuseLog, p.sinkName(slot)+" refuses records for good", "lane", b.Lane.Name(), "error", r.cause())
	if !p.noteRefused(b, s, r.Failed) {
		p.fail(bugf("%s refused a record that does not exist", p.sinkName(slot)))
		p.giveUp(b)
		return
	}
	p.settle(b)
}

// noteRefused adds the input offsets of the failed records of s to b. It reports
// false if there is no such record.
func (p *Pipeline) noteRefused(b *Batch, s *Stream, failed []uint32) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if failed == nil {
		for i := range s.Recs {
			b.refused = append(b.refused, s.Recs[i].place())
		}
		return true
	}
	for _, i := range failed {
		if int(i) >= len(s.Recs) {
			return false
		}
		b.refused = append(b.refused, s.Recs[i].place())
	}
	return true
}

// writeLetters sends b, settled, to a worker for its second round.
func (p *Pipeline) writeLetters(b *Batch) {
	b.late = true
	p.active.Add(1)
	p.work <- b // never blocks: its capacity is the number of batches there are
}

// letters writes the second round of dead letters of b.
func (w *worker) letters(b *Batch) error {
	b.Dead.Bytes, b.Dead.Recs, b.Dead.Packed = b.Dead.Bytes[:0], b.Dead.Recs[:0], b.Dead.Packed[:0]
	slices.Sort(b.refused)
	b.refused = slices.Compact(b.refused)
	for _, place := range b.refused {
		b.Next, b.NextMsg = int(uint32(place)), int(place>>32)
		if err := w.guard(w.codec.Refuse, b, "Refuse"); err != nil {
			return err
		}
	}
	b.Next, b.NextMsg = len(b.In), len(b.Msgs)
	w.packStreams(b)
	return nil
}

// writeOff moves the refused records of b in the ledger: they were counted as
// emitted, and are dead letters or, without a dead letter, dropped. A piece of
// an oversize record may hold output that is counted with another piece.
func (p *Pipeline) writeOff(b *Batch) {
	slices.Sort(b.refused)
	b.refused = slices.Compact(b.refused)
	n := min(int64(len(b.refused)), b.Stats.Emitted)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range []*record.Stats{&b.Stats, &p.feedOf(b.Lane).handled} {
		s.Emitted -= n
		s.Rejected += n
		s.Rejects[record.Refused] += n
		if b.late {
			s.Dead += n
		} else {
			s.Dropped += n
		}
	}
}

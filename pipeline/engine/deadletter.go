package engine

import (
	"slices"

	"github.com/urlfold/urlfold/internal/record"
)

// Dead letters have two origins. The codec appends records that cannot be
// parsed to Batch.Dead, which is submitted together with the output. Records
// that a sink permanently refuses are known only after all sinks have answered.
// Unless such records are dropped or block their lane (see refused.go), the
// batch then makes a second round: a worker's codec writes a dead letter for
// each of them, and Batch.Dead is submitted again. Its first contents are no
// longer in use by then.
//
// A dead letter is longer than its record, so its sink may refuse it for its
// size. It is then cut until the sink accepts it.

// deadLetters writes the dead letters of the second round of b.
func (w *worker) deadLetters(b *Batch) error {
	b.Dead.Bytes, b.Dead.Recs = b.Dead.Bytes[:0], b.Dead.Recs[:0]
	slices.Sort(b.refused)
	b.refused = slices.Compact(b.refused)
	slices.Sort(b.orphans)
	b.orphans = slices.DeleteFunc(slices.Compact(b.orphans), func(pos uint64) bool {
		_, refused := slices.BinarySearch(b.refused, pos)
		return refused
	})
	for i, pos := range slices.Concat(b.refused, b.orphans) {
		b.Next, b.NextMsg = int(uint32(pos)), int(pos>>32)
		b.orphan = i >= len(b.refused)
		if err := w.guard(w.codec.Refuse, b, "Refuse"); err != nil {
			return err
		}
	}
	b.Next, b.NextMsg = len(b.In), len(b.Msgs)
	return nil
}

// cutDeadLetters submits the dead letters of s again, the refused ones in a
// shorter form. It returns false if a dead letter cannot be shortened.
func (d *delivery) cutDeadLetters(b *Batch, s *Stream, failed []uint32, r *Result) bool {
	rest := slices.Concat(failed, r.Untried)
	slices.Sort(rest)
	var arena []byte
	spans := make([]Span, len(rest))
	for k, i := range rest {
		letter, start := s.Bytes[s.Recs[i].Off:][:s.Recs[i].Len], len(arena)
		if !slices.Contains(failed, i) {
			arena = append(arena, letter...)
		} else if arena = record.CutDeadLetter(arena, letter); len(arena) == start {
			return false
		}
		spans[k] = Span{uint32(start), uint32(len(arena) - start)}
	}
	d.complain(&d.cutLog, "dead letters refused for their size, truncated", "component", DeadLetterName, "lane", b.Lane.Name(),
		"position", b.position(s.Recs, failed), "records", len(failed), "code", r.Code, "error", r.cause())
	d.unblock(b, d.dead)
	g := &b.legs[d.dead]
	g.pick(s, rest)
	g.rest.Bytes, g.rest.Truncated, g.try = arena, true, 0
	for k := range spans {
		g.rest.Recs[k].Span = spans[k]
	}
	d.sinks[d.dead].adjust(0, 1)
	d.again(b, d.dead, untried)
	return true
}

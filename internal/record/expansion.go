package record

import (
	"slices"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file bounds the output of a record with many URLs. Each URL gives a separate
// output, so with the field record the output would grow with the square of the
// record.

// The default of Config.MaxExpansion is expansionFactor times the length of the
// record, and at least leastExpansion bytes.
const (
	expansionFactor = 64
	leastExpansion  = 64 << 20
)

// urlOutput is an estimate of the output for a URL without the field record, in
// bytes.
const urlOutput = 512

// An expansion is the state of the output of one record.
type expansion struct {
	start, most int  // where the output begins, and its maximum length
	omits       bool // the field record stays empty from here on
}

// expand prepares for the output of rec at the end of out, which it may grow.
func (w *Worker) expand(out, rec []byte) []byte {
	e := &w.n.expansion
	*e = expansion{start: len(out), most: w.job.maxExpansion}
	if e.most == 0 {
		e.most = max(expansionFactor*len(rec), leastExpansion)
	}
	if n := w.found.N; n > 1 && w.job.wants.has(fRecord) {
		out = slices.Grow(out, min(n*len(rec), e.most)+len(rec)+n*urlOutput) // growing step by step would double the memory
	}
	return out
}

// item appends the output for the current URL at s. If the output exceeds the limit,
// item writes it without the record, and also the outputs of all later URLs.
func (w *Worker) item(out []byte, s *locate.Site, rec []byte, at *Position, st *Stats) []byte {
	e, before := &w.n.expansion, len(out)
	out = w.r.item(out, s, rec, at)
	if e.omits || len(out)-e.start <= e.most || !w.job.wants.has(fRecord) {
		return out
	}
	e.omits = true
	c := &w.n.cur
	if c.flags.IsZero() && c.why == 0 {
		st.Flagged++
	}
	if c.why == 0 {
		st.Flags[codec.FlagRecordOmitted]++
	}
	c.flags = c.flags.With(codec.FlagRecordOmitted)
	return w.r.item(out[:before], s, rec, at)
}

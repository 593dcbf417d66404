package record

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file is the fast path for the most frequent kinds of jobs. It may give up, but
// its result never differs from the result of Append.

// An Extent is the length of a record with its line end, the length of its output,
// and its identity if the job asks for one. The output of a record that Config.Where
// drops is empty.
type Extent struct {
	In, Out  uint32
	Identity codec.Key
}

// Runs reports whether AppendRun can handle records of the job. If not, it
// always gives up.
func (w *Worker) Runs() bool { return w.keeper != nil }

// Begin begins a block of records, which AppendRun reads from then on. The bytes of the
// block must not change before the last of these calls.
func (w *Worker) Begin(block []byte) {
	w.n.walk.Begin(block)
	w.n.located = locatedRecord{}
}

// AppendRun is [Worker.Append] for records of the block from offset pos to end. It
// stops after most records, or at the first record that needs more work or a dead
// letter. It appends the extent of each record to run, and moves at to the next record.
// If it has handled fewer than most records, the caller must call Append for the next
// record. Consecutive unchanged records are copied together. AppendRun does not retain
// at.
func (w *Worker) AppendRun(out []byte, run []Extent, pos, end int, at *Position, most int, st *Stats) ([]byte, []Extent) {
	if w.keeper == nil {
		return out, run
	}
	w.err = nil
	w.n.forget()
	in := w.n.walk.Block[:end]
	var c copier // assign the fields one by one: a composite literal would be copied, and the copy would wait for the stores
	c.out, c.in, c.from, c.pos = out, in, pos, pos
	kept, flagged := int64(0), flagCount{}
	line, off, first := at.Line, at.Off-int64(pos), len(run)
records:
	for c.pos < end && len(run) < first+most && (in[c.pos] != 0 || !w.holes) {
		n := w.keeper.keep(&w.n, c.pos, end, at.Head)
		size, copied := n, n > 0 && n <= w.longest
		switch {
		case copied && w.n.isPlain():
			if w.job.keeps.where == nil || w.keepsUnread(in[c.pos:c.pos+n], st) {
				kept++
			} else {
				size = 0
				c.leaveOut(n, st)
			}
		case copied && w.copiesFlagged():
			kept++
			flagged.take(w.n.cur.flags, st)
			w.n.forget()
		default:
			before := c.size()
			move(at, line, off, len(run)-first, c.pos)
			if n = w.appendOther(&c, n, at, st); n == 0 {
				break records
			}
			size = c.size() + n - before
		}
		c.pos += n
		run = append(run, Extent{uint32(n), uint32(size), w.identity()})
	}
	move(at, line, off, len(run)-first, c.pos)
	flagged.add(st)
	st.Records += kept
	st.Emitted += kept
	st.URLs += kept
	for r := range w.keyHits.All() {
		st.Rules[r] += kept
	}
	return append(c.out, in[c.from:c.pos]...), run
}

// leaveOut leaves out the current record, of n bytes, which the condition drops.
func (c *copier) leaveOut(n int, st *Stats) {
	st.Records++
	st.Filtered++
	c.drop(locate.Between(0, n))
}

// move sets p to the position that is lines lines and size bytes after line and
// off.
func move(p *Position, line, off int64, lines, size int) {
	p.Line = line + int64(lines)
	if !p.Message {
		p.Off = off + int64(size)
	}
}

// forget forgets what a keeper has said about a record.
func (n *normalizer) forget() {
	n.cur.flags, n.missed.size, n.fronted = codec.Flags{}, 0, locate.Span{}
}

// isPlain reports whether the record that the keeper has kept is the same in
// the output, and its URL raised no flag.
func (n *normalizer) isPlain() bool { return n.fronted.End == 0 && n.cur.flags.IsZero() }

// copiesFlagged reports whether the record that the keeper has kept is only copied, even if
// its URL has flags.
func (w *Worker) copiesFlagged() bool {
	return w.n.fronted.End == 0 && w.plan == nil && w.job.keeps.where == nil && !w.job.redact
}

// flagCount counts URLs in a row that have the same flags. Most URLs of a log
// have the same flags as the previous one.
type flagCount struct {
	flags codec.Flags
	n     int64
}

// take adds a URL with the given flags.
func (c *flagCount) take(flags codec.Flags, st *Stats) {
	if c.flags != flags {
		c.add(st)
		c.flags, c.n = flags, 0
	}
	c.n++
}

// add adds the count to st.
func (c *flagCount) add(st *Stats) {
	if c.n == 0 {
		return
	}
	st.Flagged += c.n
	for f := range c.flags.All() {
		st.Flags[f] += c.n
	}
}

// appendOther is AppendRun for one record that needs more than copying, or that
// the keeper does not keep. n is the keeper's result for the record.
// appendOther returns the length of the record, or 0 if it gives up.
func (w *Worker) appendOther(c *copier, n int, at *Position, st *Stats) int {
	switch {
	case w.job.maxRecord > 0 && n > w.job.maxRecord:
		n = 0
	case n > 0 && w.job.redact && bytes.IndexByte(w.n.cur.url, '@') >= 0:
		n = 0 // the URL may hold a password to hide
	case n > 0:
		w.appendKept(c, n, at, st)
	case w.n.missed.size > 0:
		n = w.appendMissed(c, at, st)
	}
	w.n.forget()
	return n
}

// appendKept is AppendRun for one record of n bytes, in whose URL at most the scheme and
// the authority change.
func (w *Worker) appendKept(c *copier, n int, at *Position, st *Stats) {
	rec := c.in[c.pos : c.pos+n]
	if w.job.keeps.where != nil && !w.keepsUnread(rec, st) {
		c.leaveOut(n, st)
		return
	}
	st.Records++
	st.Emitted++
	st.URLs++
	countFlags(w.n.cur.flags, st)
	countHits(w.keyHits, st)
	switch {
	case w.n.fronted.End > 0:
		w.appendFronted(c, st)
	case w.plan != nil:
		c.drop(locate.Between(0, n))
		c.out = w.planned(c.out, rec, at)
	}
}

// A copier copies records, and replaces some of their parts. It copies the unchanged
// bytes up to the next part that changes, or to the end of the last record.
type copier struct {
	out, in []byte
	from    int // start of the bytes that have not been copied
	pos     int // position of the current record
}

// size returns the length of the output up to the current record.
func (c *copier) size() int { return len(c.out) + c.pos - c.from }

// drop leaves out the bytes at s in the current record, for which the caller can append
// other text to c.out.
func (c *copier) drop(s locate.Span) {
	c.out = append(c.out, c.in[c.from:c.pos+s.Start]...)
	c.from = c.pos + s.End
}

package tap

import (
	"math/rand/v2"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A cursor reads consecutive records of a batch that a codec has processed.
type cursor struct {
	b        *engine.Batch
	whole    bool            // each message is one record
	director record.Director // nil without directives in the format
	off, msg int             // offset and message of the next record
	head     []byte          // directive in force at the next record
}

// newCursor returns a cursor at a random record of b for which the codec has
// written something, or else at the first record.
func newCursor(b *engine.Batch, job *record.Job, random *rand.Rand) *cursor {
	c := &cursor{b: b, whole: job.WholeMessages(), head: b.Lane.Head()}
	c.director, _ = job.Framing().(record.Director)
	if n := len(b.Out.Recs) + len(b.Dead.Recs); n > 0 {
		i := random.IntN(n)
		list := b.Out.Recs
		if i >= len(list) {
			i, list = i-len(list), b.Dead.Recs
		}
		c.off, c.msg = int(list[i].Src), int(list[i].Msg)
	}
	start := 0
	switch {
	case len(b.Msgs) > 0:
		start = int(b.Msgs[c.msg].Value.Off)
	case b.Head != nil:
		c.head = b.Head
	}
	c.off = max(c.off, start)
	c.direct(b.In[start:c.off])
	return c
}

// direct takes note of the directives in recs.
func (c *cursor) direct(recs []byte) {
	if c.director != nil && len(recs) > 0 {
		if d := c.director.Directive(c.head, recs); d != nil {
			c.head = d
		}
	}
}

// next returns the next record and its position. It reports false at the end of
// the batch. w finds the end of the record.
func (c *cursor) next(w *record.Worker) (rec []byte, at record.Position, ok bool) {
	b, end := c.b, len(c.b.In)
	at = record.Position{Name: b.Lane.Name(), Head: c.head, Off: b.Off + int64(c.off)}
	if len(b.Msgs) > 0 {
		for c.msg < len(b.Msgs) && c.off >= c.endOf(c.msg) {
			if c.msg++; c.msg < len(b.Msgs) {
				c.off, c.head = int(b.Msgs[c.msg].Value.Off), b.Lane.Head()
			}
		}
		if c.msg == len(b.Msgs) {
			return nil, at, false
		}
		end, at.Off, at.Message = c.endOf(c.msg), b.Msgs[c.msg].Pos, true
		at.Head = c.head
	}
	if c.off >= end {
		return nil, at, false
	}
	if !c.whole || len(b.Msgs) == 0 {
		end = c.off + w.Next(b.In[c.off:end])
	}
	rec = b.In[c.off:end:end]
	c.off = end
	c.direct(rec)
	return rec, at, len(rec) > 0
}

// endOf returns the offset of the end of a message.
func (c *cursor) endOf(msg int) int {
	v := c.b.Msgs[msg].Value
	return int(v.Off + v.Len)
}

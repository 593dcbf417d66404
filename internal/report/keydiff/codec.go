package keydiff

import (
	"bytes"
	"cmp"
	"sync"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Fields are the fields that both codecs write, in tsv.
var Fields = []string{"url", "norm", "key", "error"}

// A pairCodec processes each batch under both profiles and adds the keys to the
// graph. Both codecs write a line with [Fields] for each URL of a record, so
// the nth line of one corresponds to the nth line of the other.
type pairCodec struct {
	engine.Codec        // codec of A
	other        mirror // codec of B
	pairer
}

// A pairer pairs the output of two codecs.
type pairer struct {
	into            collector
	urlBuf, normBuf []byte // unescaped
}

// A collector counts URLs by their keys. The caller of add, reject and bad must
// hold the lock. add and reject do not retain url and norm.
type collector interface {
	sync.Locker
	add(a, b codec.Key, url, norm []byte) // a URL with both keys
	reject(side int, url, norm []byte)    // a URL that a profile rejects
	bad()                                 // a record without a URL
}

// A mirror processes the batches of another codec once more.
type mirror struct {
	codec engine.Codec
	batch engine.Batch // output for the current batch
}

// process processes the input of b. It rejects a record on which the codec
// panics, as the pipeline does.
func (m *mirror) process(b *engine.Batch) {
	s := &m.batch
	s.Lane, s.In, s.Off, s.Line, s.Piece, s.Head = b.Lane, b.In, b.Off, b.Line, b.Piece, b.Head
	s.Msgs, s.Heads, s.Side, s.Next, s.NextMsg = b.Msgs, b.Heads, b.Side, 0, 0
	for _, o := range []*engine.Stream{&s.Out, &s.Dead} {
		o.Bytes, o.Recs = o.Bytes[:0], o.Recs[:0]
	}
	s.Stats = record.Stats{}
	for s.Next < len(s.In) || s.NextMsg < len(s.Msgs) {
		if m.attempt(); m.stopped() {
			return // Process has handled all records before the one that stops it
		}
	}
}

// stopped reports whether the codec cannot go on.
func (m *mirror) stopped() bool {
	s, ok := m.codec.(engine.Stopper)
	return ok && s.Err() != nil
}

func (m *mirror) attempt() {
	defer func() {
		if recover() != nil {
			m.codec.Reject(&m.batch)
		}
	}()
	m.codec.Process(&m.batch)
}

// NewCodecs returns a function that creates the codec of a worker. newA and
// newB create the codecs of A and B, which must write [Fields] in tsv.
func (d *Diff) NewCodecs(newA, newB func() engine.Codec) func() engine.Codec {
	return func() engine.Codec {
		return &pairCodec{Codec: newA(), other: mirror{codec: newB()}, pairer: pairer{into: d.graph}}
	}
}

// Process implements [engine.Codec].
func (c *pairCodec) Process(b *engine.Batch) {
	c.Codec.Process(b)
	c.other.process(b)
	c.compare(b, &c.other.batch)
}

// compare pairs the output of A and B record by record.
func (c *pairer) compare(a, b *engine.Batch) {
	c.into.Lock()
	defer c.into.Unlock()
	i, j := 0, 0
	for i < len(a.Out.Recs) && j < len(b.Out.Recs) {
		ra, rb := a.Out.Recs[i], b.Out.Recs[j]
		order := cmp.Or(cmp.Compare(ra.Msg, rb.Msg), cmp.Compare(ra.Src, rb.Src))
		if order <= 0 {
			i++
		}
		if order >= 0 {
			j++
		}
		if order == 0 {
			// Pair the lines of the two records.
			ta, tb := a.Out.Bytes[ra.Off:ra.Off+ra.Len], b.Out.Bytes[rb.Off:rb.Off+rb.Len]
			for len(ta) > 0 && len(tb) > 0 {
				var la, lb []byte
				la, ta, _ = bytes.Cut(ta, newline)
				lb, tb, _ = bytes.Cut(tb, newline)
				c.url(la, lb)
			}
		}
	}
}

var newline = []byte{'\n'}

// url adds one URL to the graph.
func (c *pairer) url(la, lb []byte) {
	fa, fb := splitFields(la), splitFields(lb)
	if len(fa[0]) == 0 && len(fa[3]) > 0 && len(fb[3]) > 0 {
		c.into.bad()
		return
	}
	url, norm := fa[0], fa[1]
	if len(norm) == 0 {
		norm = fb[1]
	}
	c.urlBuf, c.normBuf = tsv.AppendUnescaped(c.urlBuf[:0], url), tsv.AppendUnescaped(c.normBuf[:0], norm)
	ka, errA := codec.ParseKey(fa[2])
	kb, errB := codec.ParseKey(fb[2])
	switch {
	case errA == nil && errB == nil:
		c.into.add(ka, kb, c.urlBuf, c.normBuf)
	case errB == nil:
		c.into.reject(rejectedByA, c.urlBuf, c.normBuf)
	case errA == nil:
		c.into.reject(rejectedByB, c.urlBuf, c.normBuf)
	default:
		c.into.reject(rejectedByBoth, c.urlBuf, c.normBuf)
	}
}

// splitFields splits a line at its tabs.
func splitFields(line []byte) (f [5][]byte) {
	for i := range f {
		f[i], line, _ = bytes.Cut(line, []byte{'\t'})
	}
	return f
}

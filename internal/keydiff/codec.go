package keydiff

import (
	"bytes"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/tsv"
	"github.com/urlfold/urlfold/pipeline"
)

// Fields are the fields that both codecs write, in tsv.
var Fields = []string{"url", "norm", "key", "error"}

// A pairCodec processes each batch under both profiles and adds the keys to the
// graph. Both codecs write a line with [Fields] for each URL of a record, so
// the nth line of one corresponds to the nth line of the other.
type pairCodec struct {
	pipeline.Codec                 // A's
	other           pipeline.Codec // B's
	shadow          pipeline.Batch // output of B for the current batch
	graph           *graph
	urlBuf, normBuf []byte // unescaped
}

// NewCodecs returns a function that creates the codec of a worker. newA and
// newB create the codecs of A and B, which must write [Fields] in tsv.
func (d *Diff) NewCodecs(newA, newB func() pipeline.Codec) func() pipeline.Codec {
	return func() pipeline.Codec { return &pairCodec{Codec: newA(), other: newB(), graph: d.graph} }
}

// Process implements [pipeline.Codec].
func (c *pairCodec) Process(b *pipeline.Batch) {
	c.Codec.Process(b)
	s := &c.shadow
	s.Lane, s.In, s.Off, s.Line, s.Piece, s.Next = b.Lane, b.In, b.Off, b.Line, b.Piece, 0
	s.Out.Bytes, s.Out.Recs, s.Stats = s.Out.Bytes[:0], s.Out.Recs[:0], record.Stats{}
	for s.Next < len(s.In) {
		c.processShadow()
	}
	c.compare(b, s)
}

// processShadow is Process for B. It rejects a record on which B panics, as the
// pipeline does for A.
func (c *pairCodec) processShadow() {
	defer func() {
		if recover() != nil {
			c.other.Reject(&c.shadow)
		}
	}()
	c.other.Process(&c.shadow)
}

// compare pairs the output of A and B record by record.
func (c *pairCodec) compare(a, b *pipeline.Batch) {
	c.graph.mu.Lock()
	defer c.graph.mu.Unlock()
	i, j := 0, 0
	for i < len(a.Out.Recs) && j < len(b.Out.Recs) {
		ra, rb := a.Out.Recs[i], b.Out.Recs[j]
		if ra.Src <= rb.Src {
			i++
		}
		if rb.Src <= ra.Src {
			j++
		}
		if ra.Src == rb.Src {
			c.lines(a.Out.Bytes[ra.Off:ra.Off+ra.Len], b.Out.Bytes[rb.Off:rb.Off+rb.Len])
		}
	}
}

// lines pairs the lines of one record.
func (c *pairCodec) lines(a, b []byte) {
	for len(a) > 0 && len(b) > 0 {
		var la, lb []byte
		la, a, _ = bytes.Cut(a, newline)
		lb, b, _ = bytes.Cut(b, newline)
		c.url(la, lb)
	}
}

var newline = []byte{'\n'}

// url adds one URL to the graph.
func (c *pairCodec) url(la, lb []byte) {
	fa, fb := splitFields(la), splitFields(lb)
	if len(fa[0]) == 0 && len(fa[3]) > 0 && len(fb[3]) > 0 {
		c.graph.records++
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
		c.graph.add(ka, kb, c.urlBuf, c.normBuf)
	case errB == nil:
		c.graph.reject(rejectedByA, c.urlBuf, c.normBuf)
	case errA == nil:
		c.graph.reject(rejectedByB, c.urlBuf, c.normBuf)
	default:
		c.graph.reject(rejectedByBoth, c.urlBuf, c.normBuf)
	}
}

// splitFields splits a line at its tabs.
func splitFields(line []byte) (f [5][]byte) {
	for i := range f {
		f[i], line, _ = bytes.Cut(line, []byte{'\t'})
	}
	return f
}

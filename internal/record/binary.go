package record

import (
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// Binary reports whether the output consists of binary records, which do not
// end with a line end.
func (j *Job) Binary() bool { return j.lengths != nil && j.render == RenderRewrite }

// WholeMessages reports whether each message of a broker is one record.
func (j *Job) WholeMessages() bool { return j.lengths != nil }

// MessagesOnly reports whether the format cannot read files.
func (j *Job) MessagesOnly() bool {
	_, ok := j.reader.(locate.MessageReader)
	return ok
}

// resizer writes binary records whose URLs have changed. It is scratch memory
// that a Worker reuses.
type resizer struct {
	text  []byte        // new URLs, concatenated
	news  []locate.Span // range of each site's new URL in text; empty if it stays
	grow  []int         // for each length field, the growth of the bytes that it counts
	field []byte
}

// rewriteBinary is rewrite for a binary record.
func (w *Worker) rewriteBinary(out, dead, rec []byte, at *Position, st *Stats) (o, d []byte) {
	var v verdict
	z := &w.resizer
	z.text, z.news = z.text[:0], z.news[:0]
	for i := range w.found.N {
		start := len(z.text)
		ok := w.read(&w.found.Sites[i], rec, &v, st)
		if v.left {
			break
		}
		if ok && !w.n.cur.same {
			z.text = append(z.text, w.n.cur.back...)
		}
		z.news = append(z.news, locate.Between(start, len(z.text)))
	}
	if dead, done := w.conclude(dead, rec, &v, at, st); done {
		return out, dead
	}
	w.close(&v, st)
	st.Emitted++
	if len(z.text) == 0 {
		return append(out, rec...), dead
	}
	return z.append(out, rec, w.found.Lengths, w.job.lengths), dead
}

// append appends rec with its new URLs and the resulting lengths.
func (z *resizer) append(out, rec []byte, lengths []locate.LengthField, enc locate.BinaryReader) []byte {
	z.measure(rec, lengths, enc)
	from := 0
	for i := range lengths {
		l := &lengths[i]
		if z.grow[i] != 0 {
			out = append(out, rec[from:l.Start]...)
			out = enc.AppendLength(out, l.In(rec), l.End-l.Span.End+z.grow[i])
			from = l.Span.End
		}
		if l.Site >= 0 && z.news[l.Site].End > z.news[l.Site].Start {
			out = append(out, rec[from:l.Span.End]...)
			out = append(out, z.news[l.Site].In(z.text)...)
			from = l.End
		}
	}
	return append(out, rec[from:]...)
}

// measure sets z.grow. It starts at the innermost fields, because a length
// field can itself become longer.
func (z *resizer) measure(rec []byte, lengths []locate.LengthField, enc locate.BinaryReader) {
	z.grow = z.grow[:0]
	for range lengths {
		z.grow = append(z.grow, 0)
	}
	for i := len(lengths) - 1; i >= 0; i-- {
		l := &lengths[i]
		counted := l.End - l.Span.End
		if l.Site >= 0 {
			if now := z.news[l.Site]; now.End > now.Start {
				z.grow[i] = now.End - now.Start - counted
			}
		}
		grow := z.grow[i]
		if grow == 0 {
			continue
		}
		z.field = enc.AppendLength(z.field[:0], l.In(rec), counted+grow)
		if l.Outer >= 0 {
			z.grow[l.Outer] += grow + len(z.field) - (l.Span.End - l.Start)
		}
	}
}

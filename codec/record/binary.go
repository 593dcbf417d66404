package record

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/internal/ground/redact"
)

// binaryReader is implemented by Readers of binary records. Such records have
// no line ends, and a message holds exactly one of them. Their URLs are strings
// after a field with their length, so a URL that changes also changes that
// field, and the fields with the lengths of everything around it.
type binaryReader interface {
	// appendLength appends the length n in the encoding of field, a length field
	// of a record.
	appendLength(dst, field []byte, n int) []byte
}

// Binary reports whether the output consists of binary records, which do not
// end with a line end.
func (j *Job) Binary() bool { return j.lengths != nil && j.render == RenderRewrite }

// WholeMessages reports whether each message of a broker is one record.
func (j *Job) WholeMessages() bool { return j.lengths != nil }

// messageReader is implemented by Readers of records that occur only in
// messages.
type messageReader interface{ messagesOnly() }

// MessagesOnly reports whether the format cannot read files.
func (j *Job) MessagesOnly() bool {
	_, ok := j.reader.(messageReader)
	return ok
}

// lengthField is a field of a binary record that states the length of the bytes
// after it.
type lengthField struct {
	span      // of the field
	end   int // of the bytes that it counts, which begin where the field ends
	outer int // index of the innermost field that counts this one; -1 if there is none
	site  int // index of the site whose bytes it counts; -1 if it counts more than a URL
}

// addLength adds a length field and returns its index. The caller adds the
// fields in the order in which they occur. end can be set later.
func (f *Found) addLength(field span, end, outer int) int {
	f.lengths = append(f.lengths, lengthField{field, end, outer, -1})
	return len(f.lengths) - 1
}

// addCounted adds a URL of a binary record, from the end of its length field to
// end.
func (f *Found) addCounted(field span, end, outer int) {
	if end == field.end {
		return // no URL
	}
	i := f.addLength(field, end, outer)
	f.lengths[i].site = f.n
	f.add(span{field.end, end}, roleURL, nil)
}

// resizer writes binary records whose URLs have changed. It is scratch memory
// that a Worker reuses.
type resizer struct {
	text  []byte // new URLs, one after the other
	news  []span // range of each site's new URL in text; empty if it stays
	grow  []int  // by how much the bytes grow that each length field counts
	field []byte
}

// rewriteBinary is rewrite for a binary record.
func (w *Worker) rewriteBinary(out, dead, rec []byte, at *Position, st *Stats) (o, d []byte) {
	var v verdict
	z := &w.resizer
	z.text, z.news = z.text[:0], z.news[:0]
	for i := range w.found.n {
		start := len(z.text)
		ok := w.read(&w.found.sites[i], rec, &v, st)
		if v.left {
			break
		}
		if ok && !w.n.cur.same {
			z.text = append(z.text, w.n.cur.back...)
		}
		z.news = append(z.news, span{start, len(z.text)})
	}
	if w.job.where != nil && w.left(rec, &v, st) {
		return out, dead
	}
	w.close(&v, st)
	if v.bad != 0 && w.job.divert {
		st.Dead++
		return out, w.r.deadLine(dead, rec, &v, at)
	}
	st.Emitted++
	if len(z.text) == 0 {
		return append(out, rec...), dead
	}
	return z.append(out, rec, w.found.lengths, w.job.lengths), dead
}

// append appends rec with its new URLs and the lengths that follow from them.
func (z *resizer) append(out, rec []byte, lengths []lengthField, enc binaryReader) []byte {
	z.measure(rec, lengths, enc)
	from := 0
	for i := range lengths {
		l := &lengths[i]
		if z.grow[i] != 0 {
			out = append(out, rec[from:l.start]...)
			out = enc.appendLength(out, l.in(rec), l.end-l.span.end+z.grow[i])
			from = l.span.end
		}
		if l.site >= 0 && z.news[l.site].end > z.news[l.site].start {
			out = append(out, rec[from:l.span.end]...)
			out = append(out, z.news[l.site].in(z.text)...)
			from = l.end
		}
	}
	return append(out, rec[from:]...)
}

// measure sets z.grow. It begins with the innermost fields, because a length
// field can itself become longer.
func (z *resizer) measure(rec []byte, lengths []lengthField, enc binaryReader) {
	z.grow = z.grow[:0]
	for range lengths {
		z.grow = append(z.grow, 0)
	}
	for i := len(lengths) - 1; i >= 0; i-- {
		l := &lengths[i]
		counted := l.end - l.span.end
		if l.site >= 0 {
			if now := z.news[l.site]; now.end > now.start {
				z.grow[i] = now.end - now.start - counted
			}
		}
		grow := z.grow[i]
		if grow == 0 {
			continue
		}
		z.field = enc.appendLength(z.field[:0], l.in(rec), counted+grow)
		if l.outer >= 0 {
			z.grow[l.outer] += grow + len(z.field) - (l.span.end - l.start)
		}
	}
}

// checkBinary returns the errors in c for a format of binary records.
func (c *Config) checkBinary() error {
	errs := []error{c.refuseDialect(), c.refuseReferer()}
	if c.BaseField != "" {
		errs = append(errs, wrong("BaseField", "base fields apply only to the format jsonl and tables such as csv"))
	}
	if !c.URL.IsZero() {
		errs = append(errs, wrong("URL", "a URL can be composed only of the fields of the format jsonl and of tables such as csv"))
	}
	if _, _, ok := c.baseHost(); ok {
		errs = append(errs, in("Base", fmt.Errorf("the base URL cannot contain a field with the format %s", c.Format)))
	}
	if c.Render == RenderExtend {
		errs = append(errs, errNoRoom())
	}
	errs = append(errs, c.refuseHiding("fields"))
	if c.OnOversize == DispositionTruncate {
		errs = append(errs, in("OnOversize", fmt.Errorf("records of the format %s cannot be truncated, because they state their own length", c.Format)))
	}
	return errors.Join(errs...)
}

// refuseHiding returns the errors in c for a format whose records are rewritten
// with other parts of them unchanged, so that nothing in these can be hidden.
func (c *Config) refuseHiding(parts string) error {
	var errs []error
	refuse := func(field, what string, is bool) {
		if is && c.Render == RenderRewrite {
			errs = append(errs, wrong(field, "the rendering rewrite cannot hide "+what+" in "+c.Format+" records, whose other "+parts+" are copied unchanged; use another rendering"))
		}
	}
	_, hides, _ := redact.Parse(c.Redact) // New reports the error
	refuse("Redact", "passwords", hides)
	refuse("Secrets", "secrets", len(c.Secrets) > 0)
	return errors.Join(errs...)
}

// binaryFraming implements [LengthFraming], and Next of [Reader], for files of
// binary records that follow each other without a separator. After damage no
// later record can be found: the rest of the file is one damaged record. Embed
// it in a Reader.
type binaryFraming struct {
	// span returns the length of the first record of block: 0 if block ends
	// within the record, and -1 if block cannot begin with a record.
	span func(block []byte) int
	// length is Length of [LengthFraming].
	length func(block []byte) int64
}

// Cut implements [Framing].
func (f binaryFraming) Cut(block []byte) int {
	for at := 0; ; {
		n := 0
		if at < len(block) {
			n = f.span(block[at:])
		}
		if n <= 0 {
			return at
		}
		at += n
	}
}

// Head implements [Framing].
func (binaryFraming) Head([]byte) int { return 0 }

// Next implements [Reader].
func (f binaryFraming) Next(in []byte) int {
	if len(in) > 0 {
		if n := f.span(in); n > 0 {
			return n
		}
	}
	return len(in)
}

// Span implements [LengthFraming].
func (f binaryFraming) Span(block []byte, last bool) (n int, sound bool) {
	if len(block) == 0 {
		return 0, true
	}
	n = f.span(block)
	switch {
	case n > 0:
		return n, true
	case last:
		return len(block), false
	}
	return 0, n == 0
}

// Length implements [LengthFraming].
func (f binaryFraming) Length(block []byte) int64 { return f.length(block) }

// Ends implements [LengthFraming]. A record has no mark at its end.
func (binaryFraming) Ends([]byte) bool { return true }

// Resync implements [LengthFraming]. There is nothing to look for.
func (binaryFraming) Resync(block []byte) (n int, found bool) { return len(block), false }

// Incomplete implements [LengthFraming].
func (f binaryFraming) Incomplete(block []byte) bool { return len(block) > 0 && f.span(block) == 0 }

// multiline implements [lineCounter]: records have no lines.
func (binaryFraming) multiline() {}

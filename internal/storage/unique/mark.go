package unique

import (
	"bytes"
	"errors"
	"slices"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Mark is a filter that keeps all records, and changes the note of the records
// whose identity has been seen.
type Mark struct {
	Marked  int64    // number of these records
	Samples *Samples // of these records; may be nil
	set     *keyset.Set
	notes
	identities
}

// MarkNote is the note of the records that Mark reads.
var MarkNote = record.Note{Name: "duplicate", Value: "false"}

// NewMark returns a filter with an empty set, for output with the given rendering.
// Close releases it.
func NewMark(o keyset.Options, render record.Render) *Mark {
	return &Mark{set: keyset.New(o), notes: notes{render: render, old: MarkNote.Value}}
}

// Filter implements [engine.Filter]. It needs the identities of the records.
func (m *Mark) Filter(b *engine.Batch, _ engine.Keep) error {
	m.read(b)
	if err := m.set.Add(m.keys, m.is); err != nil {
		return err
	}
	m.Samples.look(b, m.keys, m.is)
	m.begin(len(m.keys))
	for i, added := range m.is {
		if !added {
			m.value(i, "true")
			m.Marked++
		}
	}
	return m.write(&b.Out)
}

// Close releases the memory and the temporary files of the set.
func (m *Mark) Close() error { return m.set.Close() }

// NewMarker returns an [engine.Dedupe.NewMark] for output with the given
// rendering and MarkNote: it changes the notes of duplicates.
func NewMarker(render record.Render) func() func(*engine.Stream, []uint32) error {
	return func() func(*engine.Stream, []uint32) error {
		n := &notes{render: render, old: MarkNote.Value}
		return func(s *engine.Stream, duplicates []uint32) error {
			n.begin(len(s.Recs))
			for _, i := range duplicates {
				n.value(int(i), "true")
			}
			return n.write(s)
		}
	}
}

// notes changes the notes at the ends of rendered records.
type notes struct {
	render record.Render
	old    string // value of the note in the rendered records
	values []string
	any    bool
	longer bool // one of the values is longer than old
	buf    []byte
}

// begin forgets the values of the previous batch. The next batch has the given number
// of records.
func (n *notes) begin(records int) {
	n.values, n.any, n.longer = slices.Grow(n.values[:0], records)[:records], false, false
	clear(n.values)
}

// value sets the note of record i.
func (n *notes) value(i int, v string) {
	n.values[i], n.any, n.longer = v, true, n.longer || len(v) > len(n.old)
}

// write writes the notes that were set into s: in place if no note gets longer,
// otherwise into the buffer of n, which s then uses. After an error, do not use
// s.
func (n *notes) write(s *engine.Stream) error {
	if !n.any {
		return nil
	}
	e := edit{src: s.Bytes, out: s.Bytes[:0]}
	if n.longer {
		e.out = n.buf[:0]
	}
	for i := range s.Recs {
		r := &s.Recs[i]
		from, to := int(r.Off), int(r.Off+r.Len)
		r.Off = uint32(e.moved(from))
		if n.values[i] != "" {
			if err := n.record(&e, from, to, n.values[i]); err != nil {
				return err
			}
		}
		r.Len = uint32(e.moved(to)) - r.Off
	}
	e.copy(len(s.Bytes))
	if n.longer {
		n.buf = s.Bytes
	}
	s.Bytes = e.out
	return nil
}

// An edit copies src to out and replaces parts of it, from the front to the
// back. src and out may begin at the same byte if no part gets longer.
type edit struct {
	src, out []byte
	read     int // bytes of src that are in out or were replaced
}

// copy appends src up to offset to.
func (e *edit) copy(to int) {
	e.out = append(e.out, e.src[e.read:to]...)
	e.read = to
}

// moved returns the offset in out of the offset at in src, if nothing from
// e.read to at is replaced.
func (e *edit) moved(at int) int { return len(e.out) + at - e.read }

// record replaces the note in each row of the record at from.
func (n *notes) record(e *edit, from, to int, value string) error {
	for from < to {
		row := e.src[from : from+n.rowEnd(e.src[from:to])]
		// Insert the note before a closing brace and before the line end.
		end := blankEnd(row)
		if end > 0 && row[end-1] == '}' {
			end = blankEnd(row[:end-1])
		}
		start := end - len(n.old)
		if start < 0 || string(row[start:end]) != n.old {
			return errors.New("BUG: a record does not end in its note")
		}
		e.copy(from + start)
		e.out = append(e.out, value...)
		e.read = from + end
		from += len(row)
	}
	return nil
}

// blankEnd returns the length of text without trailing blanks and line ends.
func blankEnd(text []byte) int {
	end := len(text)
	for end > 0 && (text[end-1] == ' ' || text[end-1] == '\t' || text[end-1] == '\r' || text[end-1] == '\n') {
		end--
	}
	return end
}

// rowEnd returns the length of the first row of a rendered record. In the rendering
// csv, line ends in quotes end no row; in extend, the record is one row.
func (n *notes) rowEnd(rec []byte) int {
	switch n.render {
	case record.RenderExtend:
		return len(rec)
	case record.RenderCSV:
		return csvRowEnd(rec)
	}
	if i := bytes.IndexByte(rec, '\n'); i >= 0 {
		return i + 1
	}
	return len(rec)
}

func csvRowEnd(rec []byte) int {
	quoted := false
	for i, c := range rec {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\n' && !quoted:
			return i + 1
		}
	}
	return len(rec)
}

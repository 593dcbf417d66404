package unique

import (
	"bytes"
	"errors"
	"slices"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline"
)

// Mark is a filter that keeps all records, and changes the note of those whose
// identity has been seen.
type Mark struct {
	Marked int64 // number of these records
	set    *keyset.Set
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

// Filter implements [pipeline.Filter]. It needs the facts of the records.
func (m *Mark) Filter(b *pipeline.Batch, _ pipeline.Keep) error {
	m.read(b)
	if err := m.set.Add(m.keys, m.is); err != nil {
		return err
	}
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

// NewMarker returns a [pipeline.Dedupe.NewMark] for output with the given
// rendering and MarkNote: it changes the notes of duplicates.
func NewMarker(render record.Render) func() func(*pipeline.Stream, []uint32) error {
	return func() func(*pipeline.Stream, []uint32) error {
		n := &notes{render: render, old: MarkNote.Value}
		return func(s *pipeline.Stream, duplicates []uint32) error {
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
	buf    []byte
}

// begin forgets the values of the batch before. The next one has n records.
func (n *notes) begin(records int) {
	n.values, n.any = slices.Grow(n.values[:0], records)[:records], false
	clear(n.values)
}

// value sets the note of record i.
func (n *notes) value(i int, v string) { n.values[i], n.any = v, true }

// write writes the notes that were set into s, which gets the buffer of n for its
// own.
func (n *notes) write(s *pipeline.Stream) error {
	if !n.any {
		return nil
	}
	n.buf = n.buf[:0]
	for i := range s.Recs {
		r, start := &s.Recs[i], len(n.buf)
		rec := s.Bytes[r.Off : r.Off+r.Len]
		if n.values[i] == "" {
			n.buf = append(n.buf, rec...)
		} else if err := n.record(rec, n.values[i]); err != nil {
			return err
		}
		r.Off, r.Len = uint32(start), uint32(len(n.buf)-start)
	}
	s.Bytes, n.buf = n.buf, s.Bytes
	return nil
}

// record appends a rendered record, with another note in each of its rows.
func (n *notes) record(rec []byte, value string) error {
	for len(rec) > 0 {
		row := rec[:n.rowEnd(rec)]
		rec = rec[len(row):]
		end := noteEnd(row)
		head, ok := bytes.CutSuffix(row[:end], []byte(n.old))
		if !ok {
			return errors.New("BUG: a record does not end in its note")
		}
		n.buf = append(append(append(n.buf, head...), value...), row[end:]...)
	}
	return nil
}

// noteEnd returns where the note in row ends: in front of a brace and the line
// end.
func noteEnd(row []byte) int {
	end := blankEnd(row)
	if end > 0 && row[end-1] == '}' {
		end = blankEnd(row[:end-1])
	}
	return end
}

// blankEnd returns the length of text without the blanks and line ends at its end.
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

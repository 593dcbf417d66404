package unique

import (
	"errors"
	"math/bits"
	"strconv"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline"
)

// This file has the filters of the modes that read the inputs twice:
//
//	first pass    Survey: number the records that have an identity, and collect
//	              (identity, number)
//	between       sort by identity: one record of each is chosen; sort by number
//	second pass   Chosen: keep the records whose numbers are next

// Mode is a mode that reads the inputs twice.
type Mode uint8

// The modes.
const (
	Last  Mode = iota // keep the last record of each identity
	Count             // keep the first one, with the number of records
)

// Survey is the filter of the first pass. It keeps all records.
type Survey struct {
	mode Mode
	o    keyset.Options
	sort *sorter
	log
	identities
}

// log identifies a sequence of identities.
type log struct {
	n, sum uint64
}

func (l *log) add(k keyset.Key) {
	l.n++
	l.sum = bits.RotateLeft64(l.sum, 5) ^ k.Hi + k.Lo
}

// mostMemory is the memory that sorting uses at most: more would make nothing
// faster.
const mostMemory = 256 << 20

// NewSurvey returns the filter of the first pass.
func NewSurvey(mode Mode, o keyset.Options) *Survey {
	if o.MaxMemory == 0 || o.MaxMemory > mostMemory {
		o.MaxMemory = mostMemory
	}
	o.MaxMemory /= 2 // for two sorters
	combine := func(into, next *entry) { into.n += next.n }
	if mode == Last {
		combine = func(into, next *entry) { into.ordinal, into.n = next.ordinal, into.n+next.n }
	}
	return &Survey{mode: mode, o: o, sort: newSorter(o.MaxMemory, o.Dir, combine)}
}

// Filter implements [pipeline.Filter]. It needs the facts of the records.
func (s *Survey) Filter(b *pipeline.Batch, _ pipeline.Keep) error {
	s.read(b)
	for _, k := range s.keys {
		if k == (keyset.Key{}) {
			continue
		}
		if err := s.sort.add(entry{k.Hi, k.Lo, s.n, 1}); err != nil {
			return err
		}
		s.log.add(k)
	}
	return nil
}

// Choose returns the filter of the second pass, and closes the Survey. The output
// has the given rendering.
func (s *Survey) Choose(render record.Render) (*Chosen, error) {
	c := &Chosen{mode: s.mode, first: s.log, notes: notes{render: render, old: NoteOf(s.mode).Value}}
	c.sort = newSorter(s.o.MaxMemory, s.o.Dir, func(_, _ *entry) {})
	by, err := s.sort.sorted()
	for err == nil {
		var e entry
		var ok bool
		if e, ok, err = by.next(); !ok {
			break
		}
		c.Distinct++
		err = c.sort.add(entry{hi: e.ordinal, n: e.n})
	}
	if err = errors.Join(err, s.sort.close()); err == nil {
		c.chosen, err = c.sort.sorted()
	}
	if err == nil {
		err = c.advance()
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close releases the temporary files.
func (s *Survey) Close() error { return s.sort.close() }

// Chosen is the filter of the second pass.
type Chosen struct {
	Distinct int64 // number of identities
	mode     Mode
	sort     *sorter
	chosen   *sortedEntries
	next     entry // its identity is the number of the record
	more     bool
	first    log // of the first pass
	log
	notes
	identities
}

// NoteOf returns the field that a mode adds to the records that it keeps, which is
// empty for Last.
func NoteOf(mode Mode) record.Note {
	if mode == Count {
		return record.Note{Name: "count", Value: "1"}
	}
	return record.Note{}
}

func (c *Chosen) advance() (err error) {
	c.next, c.more, err = c.chosen.next()
	return err
}

// Filter implements [pipeline.Filter]. It needs the facts of the records.
func (c *Chosen) Filter(b *pipeline.Batch, keep pipeline.Keep) error {
	c.read(b)
	c.begin(len(c.keys))
	for i, k := range c.keys {
		if k == (keyset.Key{}) {
			continue
		}
		at := c.n
		c.log.add(k)
		if !c.more || c.next.hi != at {
			keep.Drop(i)
			continue
		}
		if c.mode == Count && c.next.n > 1 {
			c.value(i, strconv.FormatUint(c.next.n, 10))
		}
		if err := c.advance(); err != nil {
			return err
		}
	}
	return c.write(&b.Out)
}

// Verify returns an error if the second pass has not read what the first one read.
// Call it when all inputs have been read.
func (c *Chosen) Verify() error {
	if c.log != c.first {
		return errors.New("an input changed while it was read for the second time: run the command again")
	}
	return nil
}

// Close releases the temporary files.
func (c *Chosen) Close() error { return c.sort.close() }

package unique

import (
	"cmp"
	"errors"
	"math/bits"
	"strconv"

	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/extsort"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
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
	Count             // keep the first record, with the number of records
)

// Survey is the filter of the first pass. It keeps all records.
type Survey struct {
	mode Mode
	o    keyset.Options
	sort *extsort.Sorter[entry]
	log
	identities
}

// An entry is what is known about the records of an identity.
type entry struct {
	key     keyset.Key
	ordinal uint64 // ordinal of one record of the identity
	n       uint64 // number of records of the identity
}

func (e entry) compare(o entry) int {
	switch {
	case e.key.Hi != o.key.Hi: // the most frequent case
		return cmp.Compare(e.key.Hi, o.key.Hi)
	case e.key.Lo != o.key.Lo:
		return cmp.Compare(e.key.Lo, o.key.Lo)
	}
	return cmp.Compare(e.ordinal, o.ordinal)
}

// A choice is a record to keep.
type choice struct {
	ordinal uint64
	n       uint64 // number of records with its identity
}

// log identifies a sequence of identities.
type log struct {
	n, sum uint64
}

func (l *log) add(k keyset.Key) {
	l.n++
	l.sum = bits.RotateLeft64(l.sum, 5) ^ k.Hi + k.Lo
}

// mostMemory is the maximum memory for sorting in bytes: more would make
// nothing faster.
const mostMemory = 128 << 20

// NewSurvey returns the filter of the first pass.
func NewSurvey(mode Mode, o keyset.Options) *Survey {
	if o.MaxMemory == 0 || o.MaxMemory > mostMemory {
		o.MaxMemory = mostMemory
	}
	o.MaxMemory /= 2 // for two sorters
	combine := func(into, next *entry) bool {
		if into.key != next.key {
			return false
		}
		if into.n += next.n; mode == Last {
			into.ordinal = next.ordinal
		}
		return true
	}
	return &Survey{mode: mode, o: o, sort: extsort.New(o.MaxMemory, o.Dir, entry.compare, combine)}
}

// Filter implements [engine.Filter]. It needs the identities of the records.
func (s *Survey) Filter(b *engine.Batch, _ engine.Keep) error {
	s.read(b)
	for _, k := range s.keys {
		if k == (keyset.Key{}) {
			continue
		}
		if err := s.sort.Add(entry{k, s.n, 1}); err != nil {
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
	c.sort = extsort.New(s.o.MaxMemory, s.o.Dir, func(a, b choice) int { return cmp.Compare(a.ordinal, b.ordinal) }, func(_, _ *choice) bool { return false })
	by, err := s.sort.Sorted()
	for err == nil {
		var e entry
		var ok bool
		if e, ok, err = by.Next(); !ok {
			break
		}
		c.Distinct++
		err = c.sort.Add(choice{e.ordinal, e.n})
	}
	if err = errors.Join(err, s.sort.Close()); err == nil {
		c.chosen, err = c.sort.Sorted()
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
func (s *Survey) Close() error { return s.sort.Close() }

// Chosen is the filter of the second pass.
type Chosen struct {
	Distinct int64    // number of identities
	Samples  *Samples // of the duplicates; may be nil
	mode     Mode
	sort     *extsort.Sorter[choice]
	chosen   *extsort.Reader[choice]
	next     choice
	more     bool
	first    log // the log of the first pass
	log
	notes
	identities
}

// NoteOf returns the field that a mode adds to the records that it keeps. It is
// empty for Last.
func NoteOf(mode Mode) record.Note {
	if mode == Count {
		return record.Note{Name: "count", Value: "1"}
	}
	return record.Note{}
}

func (c *Chosen) advance() (err error) {
	c.next, c.more, err = c.chosen.Next()
	return err
}

// Filter implements [engine.Filter]. It needs the identities of the records.
func (c *Chosen) Filter(b *engine.Batch, keep engine.Keep) error {
	c.read(b)
	c.begin(len(c.keys))
	for i, k := range c.keys {
		c.is[i] = true
		if k == (keyset.Key{}) {
			continue
		}
		at := c.n
		c.log.add(k)
		if !c.more || c.next.ordinal != at {
			c.is[i] = false
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
	c.Samples.look(b, c.keys, c.is)
	return c.write(&b.Out)
}

// Verify returns an error if the second pass has not read the same records as the first
// pass. Call it when all inputs have been read.
func (c *Chosen) Verify() error {
	if c.log != c.first {
		return errors.New("an input changed while it was read for the second time: run the command again")
	}
	return nil
}

// Close releases the temporary files.
func (c *Chosen) Close() error { return c.sort.Close() }

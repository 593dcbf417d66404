package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file implements Config.Limit and Config.Sample: which records of the inputs are
// emitted.

// A Sample chooses records of all inputs at random. The same seed chooses the same records
// of the same inputs.
type Sample struct {
	Size     int   // number of records
	Seed     int64 // seed of the choice
	MaxBytes int64 // maximum total length of the records, in bytes
}

// errLimit ends the reading of an input after the last record of Config.Limit.
var errLimit = errors.New("limit of records reached")

// errSample reports that a sample is too large.
var errSample = errors.New("the records of the sample do not fit into memory (--max-memory): choose fewer")

// A picker decides which records of one input are emitted. It is the Runtime of the
// input's cutter.
type picker struct {
	engine.Runtime
	framing Framing
	limit   *int64   // records that may still be read; nil: no limit
	sample  *sampler // nil: none
	index   int      // index of the input
	number  uint64   // number of the next record of the input
}

// Emit implements [engine.Runtime].
func (p *picker) Emit(ctx context.Context, b *engine.Batch, end engine.Position) error {
	n := p.take(b)
	over := n < len(b.In) || p.reached() && (b.Piece == engine.Whole || b.Piece == engine.Last)
	b.In = b.In[:n]
	var err error
	switch {
	case p.sample != nil:
		err = p.sample.full()
		p.Put(b)
	case n == 0:
		p.Put(b)
	default:
		err = p.Runtime.Emit(ctx, b, engine.Position{A: b.Off + int64(n), B: end.B})
	}
	if err == nil && over {
		return errLimit
	}
	return err
}

// take returns the length of the records of b that the limit permits, and offers them to
// the sample. Blank lines, headers and directives do not count. A record that is split
// into pieces counts as one record, but take does not offer it to the sample.
func (p *picker) take(b *engine.Batch) int {
	if b.Piece != engine.Whole {
		if b.Piece == engine.First {
			p.count()
		}
		return len(b.In)
	}
	at, head, line := 0, b.Head, b.Line
	if b.Off == 0 {
		at = p.framing.Head(b.In)
		line += int64(bytes.Count(b.In[:at], newline))
	}
	d, directed := p.framing.(director)
	for at < len(b.In) {
		if p.reached() {
			break
		}
		rec := b.In[at:]
		rec = rec[:nextRecord(p.framing, rec)]
		switch {
		case directed && rec[0] == '#':
			if h := d.Directive(head, rec); h != nil {
				head = bytes.Clone(h)
			}
		case p.isBlank(rec):
		default:
			p.count()
			if p.sample != nil {
				p.sample.offer(picked{input: p.index, off: b.Off + int64(at), line: line, head: head}, p.number, rec)
			}
			p.number++
		}
		at += len(rec)
		if p.sample != nil {
			line += int64(bytes.Count(rec, newline))
		}
	}
	return at
}

// reached reports whether the limit permits no more records.
func (p *picker) reached() bool { return p.limit != nil && *p.limit == 0 }

// count counts a record. With a limit, the inputs are read one after the other.
func (p *picker) count() {
	if p.limit != nil {
		*p.limit--
	}
}

// isBlank reports whether rec is a blank line.
func (p *picker) isBlank(rec []byte) bool {
	_, binary := p.framing.(lengthFraming)
	return !binary && len(bytes.TrimSpace(rec)) == 0
}

// nextRecord returns the length of the first record of in.
func nextRecord(f Framing, in []byte) int {
	if r, ok := f.(interface{ Next(in []byte) int }); ok {
		return r.Next(in)
	}
	if n := bytes.IndexByte(in, '\n') + 1; n > 0 {
		return n
	}
	return len(in)
}

// A picked is a record of a sample.
type picked struct {
	rank  uint64
	input int
	off   int64
	line  int64
	head  []byte // directive in force
	text  []byte
}

// A sampler holds the records with the lowest ranks, which are hashes of the seed and the
// position of a record, so that the choice does not depend on the order of reading.
type sampler struct {
	Sample
	mu      sync.Mutex
	list    []picked // at most twice Size
	highest uint64   // rank from which on records are not chosen; 0: not known yet
	bytes   int64
}

// offer adds a record to the sample if its rank is low enough.
func (s *sampler) offer(r picked, number uint64, text []byte) {
	r.rank = rankOf(uint64(s.Seed), uint64(r.input), number)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.highest > 0 && r.rank >= s.highest {
		return
	}
	r.text = bytes.Clone(text)
	s.bytes += int64(len(text)) + pickedBytes
	if s.list = append(s.list, r); len(s.list) == 2*s.Size {
		s.choose()
	}
}

// choose removes the records with the highest ranks, so that at most Size remain.
func (s *sampler) choose() {
	slices.SortFunc(s.list, func(a, b picked) int { return cmp.Compare(a.rank, b.rank) })
	if len(s.list) <= s.Size {
		return
	}
	s.highest = s.list[s.Size].rank
	for i := s.Size; i < len(s.list); i++ {
		s.bytes -= int64(len(s.list[i].text)) + pickedBytes
	}
	clear(s.list[s.Size:])
	s.list = s.list[:s.Size]
}

// full returns an error if the sample takes too much memory.
func (s *sampler) full() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes > s.MaxBytes {
		s.choose()
	}
	if s.bytes > s.MaxBytes {
		return errSample
	}
	return nil
}

// pickedBytes is the approximate memory of a sampled record in bytes, not counting its text.
const pickedBytes = 96

// rankOf hashes numbers with the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
func rankOf(numbers ...uint64) (h uint64) {
	for _, n := range numbers {
		h += n + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// emitSample emits the records of the sample in the order of the inputs, and ends the lanes.
func (s *Source) emitSample(ctx context.Context) error {
	s.sample.choose()
	rest := s.sample.list
	slices.SortFunc(rest, func(a, b picked) int { return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.off, b.off)) })
	for i, in := range s.inputs {
		lane := in.report.Lane
		for ; len(rest) > 0 && rest[0].input == i; rest = rest[1:] {
			r := &rest[0]
			b, err := s.rt.Get(ctx, lane)
			if err != nil {
				return stopError(ctx, err)
			}
			b.In = append(b.In[:0], r.text...)
			b.Off, b.Line, b.Head, b.Piece = r.off, r.line, r.head, engine.Whole
			if err := s.rt.Emit(ctx, b, engine.Position{A: r.off + int64(len(r.text))}); err != nil {
				return err
			}
		}
		if lane != nil {
			s.end(in, true)
		}
	}
	return nil
}

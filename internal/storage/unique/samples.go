package unique

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file collects examples of records with the same identity whose URLs
// differ. The set of keys holds no URLs, and most duplicates are identical,
// so they need no example. Memory and work are limited:
//
//	first record of an identity ──▶ its slot, if that is free
//	its duplicates              ──▶ read again, and compared with the record in the slot
//
// After the first samplesRead duplicates, fewer and fewer duplicates of each
// slot are read. Only a part of the records is looked at.

const (
	sampleSlots = 1024
	samplesRead = 2048
	samplePairs = 32      // number of pairs after which no more records are read
	sampleBytes = 2 << 10 // maximum length of the URLs of a record: records with longer URLs are not sampled
	sampleSteps = 4       // the step to the next sample of a slot grows by this factor
	sampleRun   = 256     // number of consecutive records that are inspected
	sampleGap   = 4096    // number of records between two such runs
)

// Samples collects examples for a filter. It depends only on the records and their
// order, not on the batches that they are in.
type Samples struct {
	jobOf func(lane string) *record.Job
	last  bool // the last record of each identity is kept, otherwise the first record
	one   bool // only the first URL of a record counts

	workers map[*record.Job]*record.Worker
	text    []byte // scratch

	keys  [sampleSlots]keyset.Key
	wait  [sampleSlots]uint32 // records with this key until one is read
	slots [sampleSlots]sampleSlot
	read  int      // number of duplicates that were read
	gap   int      // records until one is looked at
	run   int      // records that were looked at since the last gap
	used  []uint16 // slots that have an example, in the order of their second URLs
}

// A sampleSlot holds records with the same identity.
type sampleSlot struct {
	seen [2][]SampleURL // the first record, and one that differs from it
	last []SampleURL    // the record that is kept, if that is the last one
	step uint32
}

// A SampleURL is a URL of a record.
type SampleURL struct {
	URL  string // as the record spells it
	Norm string // its normal form; may be empty
}

// A Pair is an example of two records with the same identity: the first of their URLs
// that differ.
type Pair struct {
	Kept, Duplicate SampleURL
}

// NewSamples returns Samples for a filter of [Last], if last is set, or of
// another mode. jobOf returns the job that writes the fields url and norm,
// or only one of them, as tsv for the records of a lane. If one is set, only
// the first URL of each record counts.
func NewSamples(jobOf func(lane string) *record.Job, last, one bool) *Samples {
	return &Samples{jobOf: jobOf, last: last, one: one, workers: map[*record.Job]*record.Worker{}}
}

// look examines the records of b, with their identities and whether they are
// kept. It does nothing if s is nil.
func (s *Samples) look(b *engine.Batch, keys []keyset.Key, kept []bool) {
	if s == nil || len(s.used) == samplePairs && !s.last || b.Piece != engine.Whole {
		return
	}
	i := s.gap
	for ; i < len(keys); i++ {
		k := keys[i]
		at := k.Lo % sampleSlots
		switch s.keys[at] {
		case k:
			if s.wait[at]--; s.wait[at] == 0 || s.last && kept[i] {
				s.again(at, b, i, kept[i])
			}
		case keyset.Key{}:
			if kept[i] != s.last {
				s.begin(at, k, b, i)
			}
		}
		if s.run++; s.run >= sampleRun && s.read > samplesRead && !s.last {
			s.run = 0
			i += sampleGap
		}
	}
	s.gap = i - len(keys)
}

// begin reads record i of b, the first one with the identity k.
func (s *Samples) begin(at uint64, k keyset.Key, b *engine.Batch, i int) {
	s.keys[at], s.wait[at] = k, 1
	s.slots[at] = sampleSlot{seen: [2][]SampleURL{s.urls(b, i)}, step: 1}
}

// again reads record i of b, whose identity is in a slot.
func (s *Samples) again(at uint64, b *engine.Batch, i int, kept bool) {
	t := &s.slots[at]
	if t.seen[0] == nil {
		return // a record without an identity, or one that could not be read
	}
	switch {
	case s.last && kept:
		t.last = s.urls(b, i)
		return
	case len(s.used) < samplePairs && t.seen[1] == nil:
		s.read++
		if u := s.urls(b, i); differ(t.seen[0], u) >= 0 {
			t.seen[1] = u
			s.used = append(s.used, uint16(at))
		}
	}
	if s.read > samplesRead {
		t.step *= sampleSteps
	}
	s.wait[at] = t.step
}

// urls returns the URLs of record i of b, or nil if they cannot be an example.
func (s *Samples) urls(b *engine.Batch, i int) (urls []SampleURL) {
	job := s.jobOf(b.Lane.Name())
	w := s.workers[job]
	if w == nil {
		w = job.NewWorker()
		s.workers[job] = w
	}
	start := int(b.Out.Recs[i].Src)
	rec := b.In[start:]
	rec = rec[:w.Next(rec)]
	at := record.Position{Name: b.Lane.Name(), Head: headOf(job, b, start), Line: 1, Off: b.Off + int64(start)}
	var uncounted record.Stats
	s.text, _ = w.Append(s.text[:0], nil, rec, at, &uncounted)
	if len(s.text) > sampleBytes {
		return nil
	}
	for line := range bytes.Lines(s.text) {
		url, norm, _ := bytes.Cut(bytes.TrimSuffix(line, newline), tab)
		urls = append(urls, SampleURL{unescaped(url), unescaped(norm)})
		if s.one {
			break
		}
	}
	return urls
}

var newline, tab = []byte{'\n'}, []byte{'\t'}

func unescaped(field []byte) string { return string(tsv.AppendUnescaped(nil, field)) }

// headOf returns the directive that applies at offset start in the input of b.
func headOf(job *record.Job, b *engine.Batch, start int) []byte {
	head := b.Lane.Head()
	if b.Head != nil {
		head = b.Head
	}
	if d, ok := job.Framing().(record.Director); ok && start > 0 {
		if now := d.Directive(head, b.In[:start]); now != nil {
			return now
		}
	}
	return head
}

// Pairs returns the examples. Call it after the run.
func (s *Samples) Pairs() (pairs []Pair) {
	for _, at := range s.used {
		t := &s.slots[at]
		if !s.last {
			pairs = appendPair(pairs, t.seen[0], t.seen[1])
		} else if n := len(pairs); t.last != nil {
			if pairs = appendPair(pairs, t.last, t.seen[0]); len(pairs) == n {
				pairs = appendPair(pairs, t.last, t.seen[1])
			}
		}
	}
	return pairs
}

// appendPair appends the first URLs of two records that differ, if there are any.
func appendPair(pairs []Pair, kept, duplicate []SampleURL) []Pair {
	if i := differ(kept, duplicate); i >= 0 {
		return append(pairs, Pair{kept[i], duplicate[i]})
	}
	return pairs
}

// differ returns the index of the first URL that differs, or -1 if all are
// equal, or if one record has more URLs than the other.
func differ(a, b []SampleURL) int {
	if len(a) != len(b) {
		return -1
	}
	for i := range a {
		if a[i].URL != b[i].URL {
			return i
		}
	}
	return -1
}

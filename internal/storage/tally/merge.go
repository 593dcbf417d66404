package tally

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/extsort"
)

// Options set the limits of a Tally.
type Options struct {
	// MaxMemory limits the bytes of memory for groups. If they need more, they
	// move to files. 0 means no limit; less than 1 MiB means 1 MiB.
	MaxMemory int64
	// Dir is the folder for these files. An empty Dir means the operating
	// system's folder for temporary files.
	Dir string
}

// A Tally counts groups. It is not safe for concurrent use: each worker has its
// own, and Merge adds them up.
type Tally struct {
	o     Options
	table table
	runs  []*run

	// Occurrences that are not in the table yet.
	waiting []Group
	hashes  []uint32 // hashes of their keys
	text    []byte   // their texts
}

// maxText is the total length of waiting texts, in bytes, from which the
// occurrences move to the table.
const maxText = 16 << 10

// New returns an empty tally. Close releases it.
func New(o Options) *Tally {
	if o.MaxMemory > 0 {
		o.MaxMemory = max(o.MaxMemory, leastMemory)
	}
	return &Tally{o: o, text: make([]byte, 0, maxText)}
}

// leastMemory has room for a chunk and some thousand groups.
const leastMemory = 1 << 20

// seed is the seed of all hashes in this process. It is random, so that nobody
// can write a log whose keys share a hash.
var seed = rand.Uint64()

// Add adds n occurrences of key, with an example or nil. It retains neither. An
// error is about a temporary file; the tally must then be closed.
func (t *Tally) Add(key, example []byte, n int64) error {
	start := len(t.text)
	t.text = append(t.text, key...)
	g := Group{Key: t.text[start:], Count: n}
	if example != nil && len(example) <= MaxExample {
		start = len(t.text)
		t.text = append(t.text, example...)
		g.Example = t.text[start:]
	}
	t.waiting, t.hashes = append(t.waiting, g), append(t.hashes, hashOf(key))
	if len(t.waiting) < maxBatch && len(t.text) < maxText {
		return nil
	}
	t.settle()
	if t.o.MaxMemory > 0 && t.table.bytes() > t.o.MaxMemory {
		return t.spill()
	}
	return nil
}

// settle moves the waiting occurrences to the table.
func (t *Tally) settle() {
	t.table.load(t.hashes)
	for i := range t.waiting {
		t.table.add(t.hashes[i], &t.waiting[i])
	}
	t.waiting, t.hashes, t.text = t.waiting[:0], t.hashes[:0], t.text[:0]
}

// fanIn is the number of runs that are merged to one.
const fanIn = 32

// spill moves the groups in memory to a run.
func (t *Tally) spill() error {
	t.settle()
	if err := t.write([]cursor{t.table.cursor()}); err != nil {
		return err
	}
	t.table = table{} // slots and entries that have grown to the limit would leave no room for the next groups
	if len(t.runs) < fanIn {
		return nil
	}
	var all []cursor
	old := t.runs
	for _, r := range old {
		all = append(all, r.start())
	}
	t.runs = nil
	return errors.Join(t.write(all), closeRuns(old))
}

// write adds a run with the groups of cursors.
func (t *Tally) write(from []cursor) error {
	w, err := newRun(t.o.Dir)
	if err != nil {
		return err
	}
	if err := merge(from, w.add); err != nil {
		return errors.Join(err, w.run.file.Close())
	}
	r, err := w.finish()
	if err == nil {
		t.runs = append(t.runs, r)
	}
	return err
}

// Memory returns the bytes of memory for groups.
func (t *Tally) Memory() int64 { return t.table.bytes() }

// Drain calls the functions for the groups in memory, in any order, and removes
// the groups. Each function runs in one goroutine and gets a part of the
// groups. Drain is for tallies without files. A group is valid until the
// function returns.
func (t *Tally) Drain(each ...func(g *Group) error) error {
	t.settle()
	errs := make([]error, len(each))
	var wg sync.WaitGroup
	n := len(t.table.entries)
	for i, do := range each {
		part := t.table.entries[n*i/len(each) : n*(i+1)/len(each)]
		wg.Go(func() {
			var g Group
			for k := 0; k < len(part) && errs[i] == nil; k++ {
				g = t.table.group(&part[k])
				errs[i] = do(&g)
			}
		})
	}
	wg.Wait()
	t.table = table{}
	return errors.Join(errs...)
}

// Close releases memory and files.
func (t *Tally) Close() error {
	t.table = table{}
	err := closeRuns(t.runs)
	t.runs = nil
	return err
}

func closeRuns(runs []*run) error {
	var errs []error
	for _, r := range runs {
		errs = append(errs, r.file.Close())
	}
	return errors.Join(errs...)
}

// Join moves the groups of all tallies to the first tally, and returns it. A group
// has the sum of the counts and the best example.
func Join(all []*Tally) *Tally {
	if len(all) == 0 {
		return New(Options{})
	}
	to := all[0]
	to.settle()
	for _, t := range all[1:] {
		t.settle()
		to.table.absorb(&t.table)
		to.runs, t.runs = append(to.runs, t.runs...), nil
	}
	return to
}

// Merge joins the tallies as Join does, and calls each once for every group, in
// any order. A group is valid until each returns. Nothing can be added to the
// tallies afterwards.
func Merge(all []*Tally, each func(g *Group) error) error {
	t := Join(all)
	if len(t.runs) == 0 {
		return t.Drain(each)
	}
	from := []cursor{t.table.cursor()}
	for _, r := range t.runs {
		from = append(from, r.start())
	}
	return merge(from, each)
}

// A cursor reads groups in ascending order of hash and key.
type cursor interface {
	extsort.Cursor
	// current returns the group, which is valid until the next call of Next.
	current() (hash uint32, g *Group)
}

// A tableCursor reads a sorted table.
type tableCursor struct {
	table *table
	rest  []slot
	hash  uint32
	group Group
}

// cursor returns a cursor before the first group of t. Nothing can be added to t afterwards.
func (t *table) cursor() *tableCursor { return &tableCursor{table: t, rest: t.sorted()} }

// Next implements cursor.
func (c *tableCursor) Next() (bool, error) {
	if len(c.rest) == 0 {
		return false, nil
	}
	s := c.rest[0]
	c.rest = c.rest[1:]
	c.hash, c.group = s.hash(), c.table.group(c.table.entry(s))
	return true, nil
}

func (c *tableCursor) current() (uint32, *Group) { return c.hash, &c.group }

// less reports whether the group of a comes before the group of b.
func less(a, b cursor) bool {
	ha, ga := a.current()
	hb, gb := b.current()
	return ha < hb || ha == hb && bytes.Compare(ga.Key, gb.Key) < 0
}

// merge calls each for every group of the cursors in ascending order, and joins
// groups with the same key.
func merge(from []cursor, each func(g *Group) error) error {
	all, err := extsort.Start(from, less)
	if err != nil {
		return err
	}
	sum := Group{Example: []byte{}} // never nil, unlike in a group without an example
	for all.Len() > 0 {
		_, g := all.First().current()
		sum.Key, sum.Count = append(sum.Key[:0], g.Key...), 0
		example := sum.Example[:0]
		has := false
		for all.Len() > 0 {
			_, g := all.First().current()
			if !bytes.Equal(g.Key, sum.Key) {
				break
			}
			sum.Count += g.Count
			if g.Example != nil && (!has || Better(g.Example, example)) {
				example, has = append(example[:0], g.Example...), true
			}
			if err := all.Step(); err != nil {
				return err
			}
		}
		sum.Example = example
		out := sum
		if !has {
			out.Example = nil
		}
		if err := each(&out); err != nil {
			return err
		}
	}
	return nil
}

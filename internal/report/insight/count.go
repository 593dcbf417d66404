package insight

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/axiomhq/hyperloglog"
	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Count counts URLs and distinct keys. All workers share its sets, to which
// each adds the keys of a batch in one call.
type Count struct {
	o      Options
	by     []By
	fields []string
	time   int // column of the row; -1: none

	mu    sync.Mutex
	sets  []*keyset.Set // by index in by; nil if the numbers are estimates
	cells map[cellKey]*cell
	added []bool
}

// A cellKey identifies a cell of the result.
type cellKey struct {
	by     int
	period string
}

// A cell holds the counts for a list of columns and a period.
type cell struct {
	urls, without int64
	distinct      int64
	sketch        *hyperloglog.Sketch // if distinct is an estimate
}

// pending are the keys of one batch.
type pending struct {
	urls, without int64
	keys          []keyset.Key
}

// NewCount returns a Count. If approx is set, it estimates the numbers of
// distinct keys with HyperLogLog, in 16 KiB for each cell of the result; the
// standard error is 0.81 %. Otherwise the numbers are exact, and keys beyond the
// limit of memory are in files. Close releases it.
func NewCount(by []By, approx bool, o Options) *Count {
	c := &Count{o: o, by: by, time: -1, cells: map[cellKey]*cell{}}
	var l layout
	for _, b := range by {
		newSelector(b, &l)
		if !approx {
			c.sets = append(c.sets, keyset.New(keyset.Options{MaxMemory: o.MaxMemory / int64(len(by)), Dir: o.Dir}))
		}
	}
	if o.Per != PerRun {
		c.time = l.at("time")
	}
	c.fields = l.fields
	return c
}

// Fields returns the fields that the codecs must write, in tsv.
func (c *Count) Fields() []string { return c.fields }

// NewCodecs returns a function that creates the codec of a worker. inner creates
// codecs that write [Count.Fields] in tsv.
func (c *Count) NewCodecs(inner func() engine.Codec) func() engine.Codec {
	return func() engine.Codec {
		w := &countWorker{c: c, calendar: calendar{per: c.o.Per, zone: c.o.Zone}, cells: map[cellKey]*pending{}}
		l := layout{fields: slices.Clone(c.fields)}
		for _, b := range c.by {
			w.selectors = append(w.selectors, newSelector(b, &l))
		}
		codec := newRowCodec(inner(), len(c.fields), w.count)
		codec.after = w.flush
		return codec
	}
}

// A countWorker collects the keys of a batch.
type countWorker struct {
	c         *Count
	selectors []*selector
	calendar  calendar
	cells     map[cellKey]*pending
	last      []byte     // the last period
	current   []*pending // cells of the last period, by index in by
}

// count collects the keys of a row.
func (w *countWorker) count(row [][]byte) error {
	var period []byte
	if w.c.time >= 0 {
		period = w.calendar.period(row[w.c.time])
	}
	if len(w.current) == 0 || !bytes.Equal(period, w.last) {
		w.turn(period)
	}
	for i, s := range w.selectors {
		p := w.current[i]
		p.urls++
		before := len(p.keys)
		err := s.each(row, nil, func(key []byte) error {
			if len(bytes.Trim(key, "\t")) > 0 {
				h := xxh3.Hash128(key)
				if w.c.time >= 0 {
					h = xxh3.Hash128Seed(key, xxh3.Hash(period))
				}
				p.keys = append(p.keys, keyset.Key{Hi: h.Hi, Lo: h.Lo})
			}
			return nil
		})
		if err != nil {
			return err
		}
		if len(p.keys) == before {
			p.without++
		}
	}
	return nil
}

// turn sets the current period.
func (w *countWorker) turn(period []byte) {
	w.last = append(w.last[:0], period...)
	w.current = w.current[:0]
	for i := range w.selectors {
		k := cellKey{i, string(period)}
		if w.cells[k] == nil {
			w.cells[k] = &pending{}
		}
		w.current = append(w.current, w.cells[k])
	}
}

// flush adds the keys of the batch to the sets.
func (w *countWorker) flush() error {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	for k, p := range w.cells {
		if p.urls == 0 {
			delete(w.cells, k) // the cell belongs to an earlier period
			continue
		}
		if err := w.c.add(k, p); err != nil {
			return err
		}
		p.urls, p.without, p.keys = 0, 0, p.keys[:0]
	}
	w.current = w.current[:0]
	return nil
}

// add adds the keys of a batch to a cell. The caller must hold c.mu.
func (c *Count) add(k cellKey, p *pending) error {
	one := c.cells[k]
	if one == nil {
		one = &cell{}
		if c.sets == nil {
			one.sketch, _ = hyperloglog.NewSketch(precision, false) // the precision is valid
		}
		c.cells[k] = one
	}
	one.urls += p.urls
	one.without += p.without
	if one.sketch != nil {
		for _, key := range p.keys {
			one.sketch.InsertHash(key.Lo)
		}
		return nil
	}
	c.added = slices.Grow(c.added[:0], len(p.keys))[:len(p.keys)]
	if err := c.sets[k.by].Add(p.keys, c.added); err != nil {
		return err
	}
	for _, isNew := range c.added {
		if isNew {
			one.distinct++
		}
	}
	return nil
}

// precision of the sketches: 2^14 registers.
const precision = 14

// Close releases memory and files.
func (c *Count) Close() error {
	var errs []error
	for _, s := range c.sets {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// A Total is a row of the result.
type Total struct {
	By       string
	Period   string // "" for a run, and for records without a time
	URLs     int64
	Without  int64 // URLs without a value
	Distinct int64 // keys
}

// Result returns the totals, ordered by the lists of columns as they were given,
// then by period.
func (c *Count) Result() (list []Total) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range c.by {
		periods := map[string]*cell{}
		for k, one := range c.cells {
			if k.by == i {
				periods[k.period] = one
			}
		}
		if len(periods) == 0 && c.time < 0 {
			periods[""] = &cell{}
		}
		for _, name := range slices.Sorted(maps.Keys(periods)) {
			one := periods[name]
			t := Total{By: b.String(), Period: name, URLs: one.urls, Without: one.without, Distinct: one.distinct}
			if one.sketch != nil {
				t.Distinct = int64(one.sketch.Estimate())
			}
			list = append(list, t)
		}
	}
	return list
}

package insight

import (
	"bytes"
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/urlfold/urlfold/internal/storage/tally"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// Options are the settings of all counters of this package.
type Options struct {
	Per       Per
	Zone      *time.Location // zone of the periods
	MaxMemory int64          // for all workers, in bytes; 0: no limit
	Dir       string         // directory for temporary files
	Workers   int
}

// A Top counts the keys of all URLs.
type Top struct {
	o       Options
	by      By
	fields  []string
	time    int // columns of the row; -1: none
	example int

	mu      sync.Mutex
	workers []*topWorker
}

// A topWorker is the part of a Top that one worker fills.
type topWorker struct {
	selector *selector
	calendar calendar
	tally    *tally.Tally
	urls     map[string]*int64 // by period
	last     []byte            // the last period
	lastURLs *int64
}

// NewTop returns a Top of b. Close releases it.
func NewTop(b By, o Options) *Top {
	t := &Top{o: o, by: b, time: -1}
	var l layout
	newSelector(b, &l)
	if o.Per != PerRun {
		t.time = l.at("time")
	}
	t.example = l.at("norm")
	t.fields = l.fields
	return t
}

// Fields returns the fields that the codecs must write, in tsv.
func (t *Top) Fields() []string { return t.fields }

// NewCodecs returns a function that creates the codec of a worker. inner creates
// codecs that write [Top.Fields] in tsv.
func (t *Top) NewCodecs(inner func() engine.Codec) func() engine.Codec {
	return func() engine.Codec {
		l := layout{fields: slices.Clone(t.fields)}
		w := &topWorker{
			selector: newSelector(t.by, &l),
			calendar: calendar{per: t.o.Per, zone: t.o.Zone},
			tally:    tally.New(tally.Options{MaxMemory: t.o.share(), Dir: t.o.Dir}),
			urls:     map[string]*int64{},
		}
		t.mu.Lock()
		t.workers = append(t.workers, w)
		t.mu.Unlock()
		return newRowCodec(inner(), len(t.fields), func(row [][]byte) error { return t.count(w, row) })
	}
}

// share returns the memory of one worker. A third of the limit is for growing
// and for the result.
func (o *Options) share() int64 {
	if o.MaxMemory == 0 {
		return 0
	}
	return max(1, o.MaxMemory*2/3/int64(max(1, o.Workers)))
}

// count counts the keys of a row.
func (t *Top) count(w *topWorker, row [][]byte) error {
	var prefix []byte
	if t.time >= 0 {
		prefix = w.calendar.period(row[t.time])
	}
	if w.lastURLs == nil || !bytes.Equal(prefix, w.last) {
		w.last = append(w.last[:0], prefix...)
		if w.lastURLs = w.urls[string(prefix)]; w.lastURLs == nil {
			w.lastURLs = new(int64)
			w.urls[string(prefix)] = w.lastURLs
		}
	}
	*w.lastURLs++
	if t.time >= 0 {
		prefix = append(w.last, '\t')
		w.last = prefix[:len(prefix)-1]
	}
	return w.selector.each(row, prefix, func(key []byte) error { return w.tally.Add(key, row[t.example], 1) })
}

// Close releases memory and files.
func (t *Top) Close() error {
	var errs []error
	for _, w := range t.workers {
		errs = append(errs, w.tally.Close())
	}
	return errors.Join(errs...)
}

// A Group is a key with its count. Its texts are escaped for tsv.
type Group struct {
	Values  []byte // separated by tabs
	Count   int64
	Example []byte // nil: none
}

// A Period is the result for one period, or for the run.
type Period struct {
	Name   string // "" for a run, and for records without a time
	URLs   int64
	Groups int64   // distinct keys
	Top    []Group // the most frequent groups: by count, descending, then by key
}

// Result returns the n most frequent keys of each period, the earliest period
// first. No URL can be counted afterwards. Result returns an error if these keys
// do not fit into the memory.
func (t *Top) Result(n int) ([]Period, error) {
	periods := map[string]*ranking{}
	for _, w := range t.workers {
		for name, urls := range w.urls {
			p := periods[name]
			if p == nil {
				p = &ranking{limit: n}
				periods[name] = p
			}
			p.urls += *urls
		}
	}
	room := max(t.o.MaxMemory/3, leastResult)
	var tallies []*tally.Tally
	for _, w := range t.workers {
		tallies = append(tallies, w.tally)
	}
	err := tally.Merge(tallies, func(g *tally.Group) error {
		var name []byte
		key := g.Key
		if t.time >= 0 {
			name, key, _ = bytes.Cut(g.Key, []byte{'\t'})
		}
		room -= periods[string(name)].offer(key, g)
		if t.o.MaxMemory > 0 && room < 0 {
			return fmt.Errorf("the %d most frequent keys do not fit into the memory: use a smaller number, or a larger --max-memory", n)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []Period
	for _, name := range slices.Sorted(maps.Keys(periods)) {
		list = append(list, periods[name].period(name))
	}
	return list, nil
}

// leastResult is the least memory for a result.
const leastResult = 4 << 20

// A ranking is a heap of the most frequent groups, the least frequent first.
type ranking struct {
	limit        int
	urls, groups int64
	list         []Group
}

// groupBytes is about the memory of a Group without its texts.
const groupBytes = 100

// offer adds a group if it belongs to the most frequent groups. It returns how
// many bytes of memory the list has grown.
func (r *ranking) offer(key []byte, g *tally.Group) int64 {
	r.groups++
	one := Group{Values: key, Count: g.Count, Example: g.Example}
	grown := int64(0)
	switch {
	case len(r.list) < r.limit:
	case r.limit == 0 || one.compare(&r.list[0]) >= 0:
		return 0
	default:
		grown -= r.list[0].size()
		heap.Pop(r)
	}
	one.Values = bytes.Clone(key)
	if g.Example != nil {
		one.Example = append([]byte{}, g.Example...)
	}
	heap.Push(r, one)
	return grown + one.size()
}

func (g *Group) size() int64 { return int64(len(g.Values)+len(g.Example)) + groupBytes }

// compare orders groups as in a list.
func (g *Group) compare(o *Group) int {
	return cmp.Or(cmp.Compare(o.Count, g.Count), bytes.Compare(g.Values, o.Values))
}

// period returns the result. r must not be used afterwards.
func (r *ranking) period(name string) Period {
	slices.SortFunc(r.list, func(a, b Group) int { return a.compare(&b) })
	return Period{Name: name, URLs: r.urls, Groups: r.groups, Top: r.list}
}

func (r *ranking) Len() int           { return len(r.list) }
func (r *ranking) Less(i, j int) bool { return r.list[j].compare(&r.list[i]) < 0 }
func (r *ranking) Swap(i, j int)      { r.list[i], r.list[j] = r.list[j], r.list[i] }
func (r *ranking) Push(x any)         { r.list = append(r.list, x.(Group)) }
func (r *ranking) Pop() any {
	last := len(r.list) - 1
	x := r.list[last]
	r.list = r.list[:last]
	return x
}

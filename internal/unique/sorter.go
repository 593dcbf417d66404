package unique

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// An entry is what is known about the records of an identity.
type entry struct {
	hi, lo  uint64 // the identity
	ordinal uint64 // of one of its records
	n       uint64 // number of its records
}

// entrySize is the size of an entry in memory and on disk.
const entrySize = 32

func (e *entry) compare(o *entry) int {
	return cmp.Or(cmp.Compare(e.hi, o.hi), cmp.Compare(e.lo, o.lo), cmp.Compare(e.ordinal, o.ordinal))
}

func (e *entry) same(o *entry) bool { return e.hi == o.hi && e.lo == o.lo }

// A sorter sorts entries by identity and combines those with the same one, in
// bounded memory: what is too much is in temporary files.
type sorter struct {
	combine func(into, next *entry) // next has the same identity and a greater ordinal
	dir     string
	limit   int // entries in memory
	buf     []entry
	runs    []*os.File
}

// newSorter returns a sorter that uses about maxMemory bytes.
func newSorter(maxMemory int64, dir string, combine func(into, next *entry)) *sorter {
	return &sorter{combine: combine, dir: dir, limit: int(max(maxMemory/entrySize, 1024))}
}

func (s *sorter) add(e entry) error {
	if len(s.buf) >= s.limit {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.buf == nil {
		s.buf = make([]entry, 0, s.limit) // pages are not used before they are written
	}
	s.buf = append(s.buf, e)
	return nil
}

// sortBuffer sorts and combines the entries in memory.
func (s *sorter) sortBuffer() {
	slices.SortFunc(s.buf, func(a, b entry) int { return a.compare(&b) })
	n := 0
	for i := range s.buf {
		if n > 0 && s.buf[n-1].same(&s.buf[i]) {
			s.combine(&s.buf[n-1], &s.buf[i])
			continue
		}
		s.buf[n] = s.buf[i]
		n++
	}
	s.buf = s.buf[:n]
}

// spill makes room in memory. If combining is not enough, it writes a file.
func (s *sorter) spill() error {
	s.sortBuffer()
	if len(s.buf) <= s.limit/2 {
		return nil
	}
	f, err := os.CreateTemp(s.dir, "urlfold-records-*")
	if err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	_ = os.Remove(f.Name()) // on Unix, the open file needs no name; elsewhere, close removes it
	s.runs = append(s.runs, f)
	w := bufio.NewWriterSize(f, 256<<10)
	var b [entrySize]byte
	for _, e := range s.buf {
		for i, v := range [...]uint64{e.hi, e.lo, e.ordinal, e.n} {
			binary.LittleEndian.PutUint64(b[8*i:], v)
		}
		_, _ = w.Write(b[:]) // Flush returns the error
	}
	s.buf = s.buf[:0]
	return w.Flush()
}

// close removes the temporary files.
func (s *sorter) close() error {
	var errs []error
	for _, f := range s.runs {
		errs = append(errs, f.Close())
		if err := os.Remove(f.Name()); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	s.runs, s.buf = nil, nil
	return errors.Join(errs...)
}

// sorted returns a reader of all entries in order. Nothing must be added later.
func (s *sorter) sorted() (*sortedEntries, error) {
	s.sortBuffer()
	m := &sortedEntries{sorter: s}
	for _, f := range s.runs {
		m.all = append(m.all, &stretch{in: bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 256<<10)})
	}
	m.all = append(m.all, &stretch{buf: s.buf})
	n := 0
	for _, t := range m.all {
		ok, err := t.next()
		if err != nil {
			return nil, err
		}
		if ok {
			m.all[n] = t
			n++
		}
	}
	m.all = m.all[:n]
	heap.Init(&m.all)
	return m, nil
}

// sortedEntries merges the sorted stretches of a sorter.
type sortedEntries struct {
	sorter *sorter
	all    stretches
}

// next returns the next identity. ok is false at the end.
func (m *sortedEntries) next() (e entry, ok bool, err error) {
	for len(m.all) > 0 && (!ok || m.all[0].entry.same(&e)) {
		if !ok {
			e, ok = m.all[0].entry, true
		} else {
			m.sorter.combine(&e, &m.all[0].entry)
		}
		switch more, err := m.all[0].next(); {
		case err != nil:
			return e, false, err
		case more:
			heap.Fix(&m.all, 0)
		default:
			heap.Pop(&m.all)
		}
	}
	return e, ok, nil
}

// A stretch is a sorted sequence of entries in a file, or in memory.
type stretch struct {
	entry entry // the current one
	in    *bufio.Reader
	buf   []entry
}

// next moves to the next entry and reports whether there is one.
func (t *stretch) next() (bool, error) {
	if t.in == nil {
		if len(t.buf) == 0 {
			return false, nil
		}
		t.entry, t.buf = t.buf[0], t.buf[1:]
		return true, nil
	}
	var b [entrySize]byte
	if _, err := io.ReadFull(t.in, b[:]); err != nil {
		if err == io.EOF {
			return false, nil
		}
		return false, fmt.Errorf("temporary file: %w", err)
	}
	for i, v := range []*uint64{&t.entry.hi, &t.entry.lo, &t.entry.ordinal, &t.entry.n} {
		*v = binary.LittleEndian.Uint64(b[8*i:])
	}
	return true, nil
}

// stretches is a heap, the least entry first.
type stretches []*stretch

func (s stretches) Len() int           { return len(s) }
func (s stretches) Less(i, j int) bool { return s[i].entry.compare(&s[j].entry) < 0 }
func (s stretches) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *stretches) Push(x any)        { *s = append(*s, x.(*stretch)) }
func (s *stretches) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

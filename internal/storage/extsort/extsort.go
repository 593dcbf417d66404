// Package extsort sorts values of a fixed size, and combines equal ones, in bounded
// memory: what is too much is in temporary files, which disappear with the process.
package extsort

import (
	"bufio"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"unsafe"
)

// A Sorter sorts values of type T, which must not contain pointers.
//
//	add … add ──▶ buffer ──full──▶ sort, combine ──▶ temporary file
//	Sorted    ──▶ merge of all files and the buffer
type Sorter[T any] struct {
	compare func(a, b T) int
	combine func(into, next *T) bool
	dir     string
	limit   int // values in memory
	buf     []T
	runs    []*os.File
}

// leastValues is the least number of values in memory: fewer would make very many
// files.
const leastValues = 1024

// New returns a Sorter that uses about maxMemory bytes, and files in the folder dir,
// or in the operating system's temporary folder if dir is empty. compare defines the
// order. combine is called for neighbours in this order: if they are equal, it adds
// next to into and returns true. It may be called for values that are already
// combined.
func New[T any](maxMemory int64, dir string, compare func(a, b T) int, combine func(into, next *T) bool) *Sorter[T] {
	var v T
	return &Sorter[T]{compare: compare, combine: combine, dir: dir, limit: int(max(maxMemory/int64(unsafe.Sizeof(v)), leastValues))}
}

// Add adds v. The error is about a temporary file.
func (s *Sorter[T]) Add(v T) error {
	if len(s.buf) >= s.limit {
		if err := s.spill(); err != nil {
			return err
		}
	}
	if s.buf == nil {
		s.buf = make([]T, 0, s.limit) // pages are not used before they are written
	}
	s.buf = append(s.buf, v)
	return nil
}

// sortBuffer sorts and combines the values in memory.
func (s *Sorter[T]) sortBuffer() {
	slices.SortFunc(s.buf, s.compare)
	n := 0
	for i := range s.buf {
		if n == 0 || !s.combine(&s.buf[n-1], &s.buf[i]) {
			s.buf[n] = s.buf[i]
			n++
		}
	}
	s.buf = s.buf[:n]
}

// spill makes room in memory. If combining is not enough, it writes a file.
func (s *Sorter[T]) spill() error {
	s.sortBuffer()
	if len(s.buf) <= s.limit/2 {
		return nil
	}
	f, err := os.CreateTemp(s.dir, "urlfold-sort-*")
	if err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	// An open file needs no name on Unix, and without one it disappears with the
	// process. Elsewhere this fails, and Close does it later.
	_ = os.Remove(f.Name())
	s.runs = append(s.runs, f)
	for chunk := range slices.Chunk(bytesOf(s.buf), 1<<20) {
		if _, err := f.Write(chunk); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
	}
	s.buf = s.buf[:0]
	return nil
}

// bytesOf returns the memory of values.
func bytesOf[T any](values []T) []byte {
	var v T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(v)))
}

// Close releases memory and files.
func (s *Sorter[T]) Close() error {
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

// Sorted returns a reader of all values in order. Nothing must be added later.
func (s *Sorter[T]) Sorted() (*Reader[T], error) {
	s.sortBuffer()
	m := &Reader[T]{sorter: s, all: runs[T]{compare: s.compare}}
	for _, f := range s.runs {
		m.all.list = append(m.all.list, &run[T]{in: bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 256<<10)})
	}
	m.all.list = append(m.all.list, &run[T]{buf: s.buf})
	n := 0
	for _, r := range m.all.list {
		ok, err := r.next()
		if err != nil {
			return nil, err
		}
		if ok {
			m.all.list[n] = r
			n++
		}
	}
	m.all.list = m.all.list[:n]
	heap.Init(&m.all)
	return m, nil
}

// A Reader merges what a Sorter has sorted.
type Reader[T any] struct {
	sorter *Sorter[T]
	all    runs[T]
}

// Next returns the next value, with all that are equal combined into it. ok is false
// at the end. The error is about a temporary file.
func (m *Reader[T]) Next() (v T, ok bool, err error) {
	for len(m.all.list) > 0 {
		first := m.all.list[0]
		if !ok {
			v, ok = first.value, true
		} else if !m.sorter.combine(&v, &first.value) {
			break
		}
		switch more, err := first.next(); {
		case err != nil:
			return v, false, err
		case more:
			heap.Fix(&m.all, 0)
		default:
			heap.Pop(&m.all)
		}
	}
	return v, ok, nil
}

// A run is a sorted sequence of values in a file, or in memory.
type run[T any] struct {
	value T // the current one
	in    *bufio.Reader
	buf   []T
}

// next moves to the next value and reports whether there is one.
func (r *run[T]) next() (bool, error) {
	if r.in == nil {
		if len(r.buf) == 0 {
			return false, nil
		}
		r.value, r.buf = r.buf[0], r.buf[1:]
		return true, nil
	}
	_, err := io.ReadFull(r.in, bytesOf(unsafe.Slice(&r.value, 1)))
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("temporary file: %w", err)
	}
	return true, nil
}

// runs is a heap, the run with the least value first.
type runs[T any] struct {
	list    []*run[T]
	compare func(a, b T) int
}

func (s *runs[T]) Len() int           { return len(s.list) }
func (s *runs[T]) Less(i, j int) bool { return s.compare(s.list[i].value, s.list[j].value) < 0 }
func (s *runs[T]) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }
func (s *runs[T]) Push(x any)         { s.list = append(s.list, x.(*run[T])) }
func (s *runs[T]) Pop() any {
	last := len(s.list) - 1
	x := s.list[last]
	s.list = s.list[:last]
	return x
}

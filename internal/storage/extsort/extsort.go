// Package extsort sorts values of a fixed size, and combines equal ones, in
// bounded memory: it writes values that do not fit to temporary files, which
// disappear with the process.
package extsort

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A Sorter sorts values of type T, which must not contain pointers.
//
//	add … add ──▶ buffer ──full──▶ sort, combine ──▶ temporary file
//	Sorted    ──▶ merge of all files and the buffer
type Sorter[T any] struct {
	compare func(a, b T) int
	combine func(into, next *T) bool
	dir     string
	limit   int // maximum number of values in memory
	buf     []T
	runs    []disk.Temporary
}

// leastValues is the least number of values in memory: fewer would make very many
// files.
const leastValues = 1024

// New returns a Sorter that uses about maxMemory bytes, and files in the folder dir,
// or in the operating system's temporary folder if dir is empty. compare defines the
// order. combine gets two values that are adjacent in this order. If they are equal,
// it merges the second value into the first and returns true. The values may be
// results of earlier merges.
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
		s.buf = make([]T, 0, s.limit) // the system provides the memory only when it is written to
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
	f, err := disk.NewTemporary(s.dir, "sorting")
	if err != nil {
		return err
	}
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
	}
	s.runs, s.buf = nil, nil
	return errors.Join(errs...)
}

// Sorted returns a reader of all values in order. Do not call Add after it.
func (s *Sorter[T]) Sorted() (*Reader[T], error) {
	s.sortBuffer()
	all := []*run[T]{{buf: s.buf}}
	for _, f := range s.runs {
		all = append(all, &run[T]{in: bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 256<<10)})
	}
	runs, err := Start(all, func(a, b *run[T]) bool { return s.compare(a.value, b.value) < 0 })
	return &Reader[T]{s, runs}, err
}

// A Reader merges what a Sorter has sorted.
type Reader[T any] struct {
	sorter *Sorter[T]
	runs   *Cursors[*run[T]]
}

// Next returns the next value, with all equal values combined into it. ok is
// false at the end. The error is about a temporary file.
func (m *Reader[T]) Next() (v T, ok bool, err error) {
	for m.runs.Len() > 0 {
		first := m.runs.First()
		if !ok {
			v, ok = first.value, true
		} else if !m.sorter.combine(&v, &first.value) {
			break
		}
		if err := m.runs.Step(); err != nil {
			return v, false, err
		}
	}
	return v, ok, nil
}

// A run is a sorted sequence of values in a file, or in memory.
type run[T any] struct {
	value T // the current value
	in    *bufio.Reader
	buf   []T
}

// Next implements Cursor.
func (r *run[T]) Next() (bool, error) {
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

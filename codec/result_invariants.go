//go:build invariants

package codec

import (
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// A seal is a checksum of the slices that a Result refers to, and tells whether a
// call is filling the Result.
type seal struct {
	src, norm uint64
	filling   atomic.Bool
}

// open begins a call that fills the Result. It panics if another call is filling it.
func (s *seal) open() {
	if !s.filling.CompareAndSwap(false, true) {
		panic("BUG: a codec.Result is used by two goroutines at a time")
	}
}

// leave ends a call that fills the Result.
func (s *seal) leave() { s.filling.Store(false) }

// set computes the checksum, and ends the call.
func (s *seal) set(src, norm []byte) {
	s.src, s.norm = xxh3.Hash(src), xxh3.Hash(norm)
	s.leave()
}

// check panics if a call is filling the Result, if it describes no URL, or if a
// slice has changed.
func (s *seal) check(ok bool, src, norm []byte) {
	switch {
	case s.filling.Load():
		panic("BUG: a codec.Result is used by two goroutines at a time")
	case !ok:
		panic("BUG: method of a codec.Result called, but its last call produced no normal form")
	case xxh3.Hash(src) != s.src:
		panic("BUG: method of a codec.Result called, but src has changed since Append")
	case xxh3.Hash(norm) != s.norm:
		panic("BUG: method of a codec.Result called, but the normal form has changed since Append")
	}
}

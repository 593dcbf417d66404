//go:build invariants

package codec

import "github.com/zeebo/xxh3"

// A seal is a checksum of the slices that a Result refers to.
type seal struct{ src, norm uint64 }

// set computes the checksum.
func (s *seal) set(src, norm []byte) { s.src, s.norm = xxh3.Hash(src), xxh3.Hash(norm) }

// check panics if a Result describes no URL, or if a slice has changed.
func (s *seal) check(ok bool, src, norm []byte) {
	switch {
	case !ok:
		panic("BUG: method of a codec.Result called, but its last call produced no normal form")
	case xxh3.Hash(src) != s.src:
		panic("BUG: method of a codec.Result called, but src has changed since Append")
	case xxh3.Hash(norm) != s.norm:
		panic("BUG: method of a codec.Result called, but the normal form has changed since Append")
	}
}

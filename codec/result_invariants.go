//go:build invariants

package codec

import "github.com/zeebo/xxh3"

// A seal knows what the slices held that a Result remembers.
type seal struct{ src, norm uint64 }

// set seals the slices.
func (s *seal) set(src, norm []byte) { s.src, s.norm = xxh3.Hash(src), xxh3.Hash(norm) }

// check panics if a Result has no URL, or if a slice is not what it was.
func (s *seal) check(ok bool, src, norm []byte) {
	switch {
	case !ok:
		panic("BUG: a codec.Result is asked about a URL, and its last call gave no normal form")
	case xxh3.Hash(src) != s.src:
		panic("BUG: a codec.Result is asked about a URL whose src has changed since the call")
	case xxh3.Hash(norm) != s.norm:
		panic("BUG: a codec.Result is asked about a URL whose normal form has changed since the call")
	}
}

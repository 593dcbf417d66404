package locate

import "encoding/binary"

// minHole is the smallest length in bytes at which NULs at the start of a line
// are a hole. Fewer NULs can be part of a URL list that somebody damaged on
// purpose.
const minHole = 16

// HoleLen returns the length of the hole at the start of b, or 0. A hole is
// what logrotate's copytruncate leaves if the server has not opened its log
// with O_APPEND: the server then continues to write at its old offset in the
// emptied file, and the bytes before that offset read as NULs. A hole may be
// gigabytes long, so a block can show a part of it.
func HoleLen(b []byte) int {
	if len(b) < minHole || b[0] != 0 {
		return 0
	}
	n := 0
	for n+8 <= len(b) && binary.NativeEndian.Uint64(b[n:]) == 0 {
		n += 8
	}
	for n < len(b) && b[n] == 0 {
		n++
	}
	if n < minHole {
		return 0
	}
	return n
}

// CutHole returns the number of bytes at the start of b, the beginning of a
// record, that belong to a hole. If the hole reaches the end of b, CutHole
// leaves out the last minHole bytes, so that they and the bytes that follow are
// still a hole.
func CutHole(b []byte) int {
	n := HoleLen(b)
	switch {
	case n < len(b):
		return n
	case n < 2*minHole:
		return 0
	}
	return n - minHole
}

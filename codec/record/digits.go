package record

import (
	"encoding/binary"
	"math/bits"
)

// The functions of this file read eight digits at a time where they can. How many
// digits a field has cannot be predicted, so a loop with a branch for each of them
// takes longer.

func isDigit(c byte) bool { return c-'0' < 10 }

// allDigits reports whether s consists of at least one digit and nothing else. It may
// read bytes up to the capacity of s.
func allDigits(s []byte) bool {
	n := len(s)
	switch {
	case n >= 8:
		if nonDigits(binary.LittleEndian.Uint64(s[n-8:])) != 0 {
			return false
		}
		for ; len(s) > 8; s = s[8:] {
			if nonDigits(binary.LittleEndian.Uint64(s)) != 0 {
				return false
			}
		}
		return true
	case cap(s) >= 8:
		return n > 0 && nonDigits(binary.LittleEndian.Uint64(s[:8]))<<(64-8*n) == 0
	}
	for _, c := range s {
		if !isDigit(c) {
			return false
		}
	}
	return n > 0
}

// leadingDigits returns the number of digits with which eight bytes begin, of
// which the first is the lowest.
func leadingDigits(b uint64) int { return bits.TrailingZeros64(nonDigits(b)) >> 3 }

// nonDigits returns the highest bit of each of eight bytes that is not a digit.
func nonDigits(b uint64) uint64 {
	const each = 0x0101010101010101
	b ^= '0' * each // a digit becomes its value
	return (b&(0x7F*each) + (0x80-10)*each | b) & (0x80 * each)
}

// maxDecimal is the maximum number of digits that decimal accepts.
const maxDecimal = 9

// decimal returns the number that s stands for. ok is false if s is empty, has more
// than maxDecimal bytes, or has a byte that is not a digit.
func decimal(s []byte) (n int64, ok bool) {
	if len(s) > maxDecimal || !allDigits(s) {
		return 0, false
	}
	for _, c := range s {
		n = n*10 + int64(c-'0')
	}
	return n, true
}

package locate

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The functions of this file read eight digits at a time where they can. The
// CPU cannot predict how many digits a field has, so a loop with a branch for
// each digit takes longer.

// IsDigit reports whether c is an ASCII digit.
func IsDigit(c byte) bool { return c-'0' < 10 }

// AllDigits reports whether s consists of at least one digit and nothing else. It may
// read bytes up to the capacity of s.
func AllDigits(s []byte) bool {
	n := len(s)
	switch {
	case n >= 8:
		if NonDigits(binary.LittleEndian.Uint64(s[n-8:])) != 0 {
			return false
		}
		for ; len(s) > 8; s = s[8:] {
			if NonDigits(binary.LittleEndian.Uint64(s)) != 0 {
				return false
			}
		}
		return true
	case cap(s) >= 8:
		return n > 0 && NonDigits(binary.LittleEndian.Uint64(s[:8]))<<(64-8*n) == 0
	}
	for _, c := range s {
		if !IsDigit(c) {
			return false
		}
	}
	return n > 0
}

// LeadingDigits returns the number of digits at the start of the eight bytes of
// b, which is little-endian.
func LeadingDigits(b uint64) int { return bits.TrailingZeros64(NonDigits(b)) >> 3 }

// NonDigits returns 0x80 for each of the eight bytes of b that is not a digit,
// and 0 for each digit.
func NonDigits(b uint64) uint64 {
	const each = 0x0101010101010101
	b ^= '0' * each // a digit becomes its value
	return (b&(0x7F*each) + (0x80-10)*each | b) & (0x80 * each)
}

// MaxDecimal is the maximum number of digits that Decimal accepts.
const MaxDecimal = 9

// Decimal returns the number that s denotes. ok is false if s is empty, has
// more than MaxDecimal bytes, or has a byte that is not a digit.
func Decimal(s []byte) (n int64, ok bool) {
	if len(s) > MaxDecimal || !AllDigits(s) {
		return 0, false
	}
	for _, c := range s {
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// IsNameByte reports whether c can be in the name of a variable.
func IsNameByte(c byte) bool { return c == '_' || IsDigit(c) || c|0x20-'a' < 26 }

// IsEscaped reports whether the byte after before is escaped, that is, whether
// before ends in an odd number of backslashes.
func IsEscaped(before []byte) bool {
	n := len(before)
	for n > 0 && before[n-1] == '\\' {
		n--
	}
	return (len(before)-n)&1 == 1
}

// IndexUnescaped returns the offset of the first c in b at or after from that no backslash
// escapes, or -1.
func IndexUnescaped(b []byte, from int, c byte) int {
	for at := from; ; at++ {
		n := bytes.IndexByte(b[at:], c)
		if n < 0 {
			return -1
		}
		if at += n; !IsEscaped(b[from:at]) {
			return at
		}
	}
}

// IsLetter reports whether c is an ASCII letter.
func IsLetter(c byte) bool { return c|0x20-'a' < 26 }

// IsHTTP reports whether a scheme is http or https. It ignores case, because
// profiles may keep it.
func IsHTTP(scheme []byte) bool {
	return bytes.EqualFold(scheme, SchemeHTTP) || bytes.EqualFold(scheme, SchemeHTTPS)
}

// The schemes of HTTP.
var (
	SchemeHTTP  = []byte("http")
	SchemeHTTPS = []byte("https")
)

// QuotedEnd returns the offset after the quote that closes a quoted cell whose
// inside starts at pos, or -1 if the cell is open.
func QuotedEnd(b []byte, pos int, quote byte) int {
	for {
		n := bytes.IndexByte(b[pos:], quote)
		if n < 0 {
			return -1
		}
		pos += n + 1
		if pos == len(b) || b[pos] != quote {
			return pos
		}
		pos++
	}
}

// WordEnd returns the end of the word of rec that starts at pos.
func WordEnd(rec []byte, pos int) int {
	for pos < len(rec) && rec[pos] != ' ' {
		pos++
	}
	return pos
}

// EqualLower reports whether s equals lower, which is in lower case. It ignores
// the case of ASCII letters in s.
func EqualLower(s []byte, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i, c := range s {
		if c-'A' < 26 {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// IsAlnum reports whether c is an ASCII letter or digit.
func IsAlnum(c byte) bool { return IsDigit(c) || c|0x20-'a' < 26 }

// IsHTMLSpace is the set of ASCII white space of the Infra Standard.
var IsHTMLSpace = [256]bool{'\t': true, '\n': true, '\f': true, '\r': true, ' ': true}

// SkipSpace returns the offset of the first byte at or after i that is not
// white space.
func SkipSpace(text []byte, i int) int {
	for i < len(text) && IsHTMLSpace[text[i]] {
		i++
	}
	return i
}

// MaxReference is at least the length of the longest character reference, in
// bytes.
const MaxReference = 36

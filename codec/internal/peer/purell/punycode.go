package purell

import (
	"math"
	"slices"
	"unicode/utf8"
)

// decodedMax is the number of characters from which golang.org/x/net/idna
// refuses to insert another one into a decoded label.
const decodedMax = 1024

// appendDecoded decodes Punycode as golang.org/x/net/idna v0.17.0 does. The part
// before the last '-' may contain any character, a label that ends in '-' loses
// it, and surrogates become U+FFFD.
func appendDecoded(dst, code []rune) ([]rune, bool) {
	last := len(code) - 1
	for last >= 0 && code[last] != '-' {
		last--
	}
	switch {
	case last < 0:
		return appendInserted(dst, code)
	case last == 0:
		return dst, false
	}
	return appendInserted(append(dst, code[:last]...), code[last+1:])
}

// appendInserted inserts the characters that digits encode into text: RFC 3492,
// section 6.2, with numbers of 32 bits with a sign.
func appendInserted(text, digits []rune) ([]rune, bool) {
	i, n, bias := int64(0), int64(0x80), int64(72)
	for len(digits) > 0 {
		old, w := i, int64(1)
		for k := int64(36); ; k += 36 {
			if len(digits) == 0 {
				return text, false
			}
			digit, ok := digitValue(digits[0])
			digits = digits[1:]
			if i += digit * w; !ok || i > math.MaxInt32 {
				return text, false
			}
			t := min(max(k-bias, 1), 26)
			if digit < t {
				break
			}
			if w *= 36 - t; w > math.MaxInt32 {
				return text, false
			}
		}
		if len(text) >= decodedMax {
			return text, false
		}
		count := int64(len(text) + 1)
		bias = adapt(i-old, count, old == 0)
		n += i / count
		i %= count
		if n > utf8.MaxRune {
			return text, false
		}
		r := rune(n)
		if !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		text = slices.Insert(text, int(i), r)
		i++
	}
	return text, true
}

// adapt is the bias adaptation function of RFC 3492, section 6.1.
func adapt(delta, count int64, first bool) int64 {
	delta /= 2
	if first {
		delta /= 350
	}
	delta += delta / count
	k := int64(0)
	for ; delta > 455; k += 36 {
		delta /= 35
	}
	return k + 36*delta/(delta+38)
}

func digitValue(r rune) (int64, bool) {
	switch {
	case 'a' <= r && r <= 'z':
		return int64(r - 'a'), true
	case 'A' <= r && r <= 'Z':
		return int64(r - 'A'), true
	case '0' <= r && r <= '9':
		return int64(r-'0') + 26, true
	}
	return 0, false
}

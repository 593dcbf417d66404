// Package python reproduces parts of Python 3.11's standard library.
package python

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/idna2003"
)

// AppendLower appends UTF-8 text as str.lower returns it.
func AppendLower(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c |= 0x20
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == '\u0130':
			dst = append(dst, "i\u0307"...)
		case r == '\u03A3' && isFinalSigma(text, i, i+n):
			dst = utf8.AppendRune(dst, '\u03C2')
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		i += n
	}
	return dst
}

// isFinalSigma reports whether text[start:end] is at the end of a word: a cased
// letter precedes it and none follows, skipping the characters that case
// ignores (Unicode, table 3-17).
func isFinalSigma(text []byte, start, end int) bool {
	before := false
	for start > 0 {
		r, n := utf8.DecodeLastRune(text[:start])
		start -= n
		if !isCaseIgnorable(r) {
			before = isCased(r)
			break
		}
	}
	if !before {
		return false
	}
	for end < len(text) {
		r, n := utf8.DecodeRune(text[end:])
		end += n
		if !isCaseIgnorable(r) {
			return !isCased(r)
		}
	}
	return true
}

func isCased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) || unicode.Is(unicode.Other_Lowercase, r) || unicode.Is(unicode.Other_Uppercase, r)
}

func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', '\u00B7', '\u0387', '\u055F', '\u05F4', '\u2018', '\u2019', '\u2024', '\u2027', '\uFE13', '\uFE52', '\uFE55', '\uFF07', '\uFF0E', '\uFF1A':
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

// AppendIDNA appends text, which is UTF-8, as text.encode("idna") returns it.
// It returns false if that raises UnicodeError.
func AppendIDNA(dst []byte, text []rune) ([]byte, bool) {
	start := len(dst)
	ascii := true
	for _, r := range text {
		ascii = ascii && r < utf8.RuneSelf
	}
	for first := true; len(text) > 0; first = false {
		n := 0
		for n < len(text) && text[n] != '.' && (ascii || !idna2003.IsDot(text[n])) {
			n++
		}
		if !first {
			dst = append(dst, '.')
		}
		var ok bool
		if dst, ok = idna2003.AppendASCII(dst, text[:n]); !ok {
			return dst[:start], false
		}
		if n == len(text) {
			break
		}
		if text = text[n+1:]; len(text) == 0 {
			dst = append(dst, '.')
		}
	}
	return dst, true
}

// An IPv6 is an address of ipaddress.IPv6Address.
type IPv6 struct {
	Groups [8]uint16
	Scope  []byte // after '%'; a slice of the text that was parsed
}

// ParseIPv6 parses an address as ipaddress.IPv6Address does.
func ParseIPv6(text []byte) (ip IPv6, ok bool) {
	text, scope, scoped := bytes.Cut(text, []byte{'%'})
	if scoped && len(scope) == 0 || bytes.IndexByte(scope, '%') >= 0 || bytes.IndexByte(text, '/') >= 0 || bytes.IndexByte(scope, '/') >= 0 {
		return ip, false
	}
	ip.Scope = scope
	n, gap := 0, -1
	if len(text) < 2 {
		return ip, false
	}
	if text[0] == ':' {
		if text[1] != ':' {
			return ip, false
		}
		text = text[1:]
	}
	for first := true; len(text) > 0; first = false {
		if text[0] == ':' { // the second colon of two
			if gap >= 0 {
				return ip, false
			}
			gap = n
			if text = text[1:]; len(text) == 0 {
				break
			}
		} else if first && gap >= 0 {
			return ip, false
		}
		part, rest, more := bytes.Cut(text, []byte{':'})
		if bytes.IndexByte(part, '.') >= 0 {
			v4, ok := ParseIPv4(part)
			if !ok || more || n > 6 {
				return ip, false
			}
			ip.Groups[n], ip.Groups[n+1] = uint16(v4>>16), uint16(v4)
			n += 2
			break
		}
		group, ok := parseGroup(part)
		if !ok || n == len(ip.Groups) {
			return ip, false
		}
		ip.Groups[n] = group
		n++
		if more && len(rest) == 0 {
			return ip, false // a single colon at the end
		}
		text = rest
	}
	if gap < 0 {
		return ip, n == len(ip.Groups)
	}
	if n == len(ip.Groups) {
		return ip, false
	}
	moved := n - gap
	copy(ip.Groups[8-moved:], ip.Groups[gap:n])
	clear(ip.Groups[gap : 8-moved])
	return ip, true
}

func parseGroup(part []byte) (n uint16, ok bool) {
	for _, c := range part {
		d := Unhex(c)
		if d > 15 {
			return 0, false
		}
		n = n<<4 | uint16(d)
	}
	return n, 0 < len(part) && len(part) <= 4
}

// Unhex returns the value of a hex digit, or 255.
func Unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}

// AppendTo appends the address as str(IPv6Address) returns it: in the form of
// RFC 5952, but never with an IPv4 address at the end.
func (ip *IPv6) AppendTo(dst []byte) []byte {
	start, size := -1, 1
	for i := 0; i < 8; i++ {
		j := i
		for j < 8 && ip.Groups[j] == 0 {
			j++
		}
		if j-i > size {
			start, size = i, j-i
		}
		i = j
	}
	const hex = "0123456789abcdef"
	for i := 0; i < 8; i++ {
		if i == start {
			dst = append(dst, "::"...)
			if i += size; i == 8 {
				break
			}
		} else if i > 0 {
			dst = append(dst, ':')
		}
		leading := true
		for shift := 12; shift >= 0; shift -= 4 {
			d := ip.Groups[i] >> shift & 15
			if leading = leading && d == 0 && shift > 0; !leading {
				dst = append(dst, hex[d])
			}
		}
	}
	if len(ip.Scope) > 0 {
		dst = append(append(dst, '%'), ip.Scope...)
	}
	return dst
}

// ParseIPv4 parses an address as ipaddress.IPv4Address does: four decimal
// numbers without leading zeros.
func ParseIPv4(text []byte) (ip uint32, ok bool) {
	for i := range 4 {
		part, rest, more := bytes.Cut(text, []byte{'.'})
		if len(part) == 0 || len(part) > 3 || len(part) > 1 && part[0] == '0' || more != (i < 3) {
			return 0, false
		}
		n := uint32(0)
		for _, c := range part {
			if c < '0' || c > '9' {
				return 0, false
			}
			n = n*10 + uint32(c-'0')
		}
		if n > 255 {
			return 0, false
		}
		ip, text = ip<<8|n, rest
	}
	return ip, true
}

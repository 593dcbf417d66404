// Package ip reads and writes the IP addresses that package codec and the
// packages below peer have in common. Each of these packages adds what else its
// program accepts.
package ip

import (
	"strconv"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// IsV4 reports whether ParseV4 accepts b.
func IsV4(b []byte) bool {
	_, ok := ParseV4(b)
	return ok
}

// ParseV4 parses an IPv4address of RFC 3986 §3.2.2: four numbers from 0 to 255 without
// leading zeros.
func ParseV4(b []byte) (addr uint32, ok bool) {
	if len(b) < 7 || len(b) > 15 {
		return 0, false
	}
	for part := range 4 {
		n, digits := 0, 0
		for digits < len(b) && digits < 4 && ascii.IsDigit(b[digits]) {
			n = n*10 + int(b[digits]-'0')
			digits++
		}
		if digits == 0 || n > 255 || digits > 1 && b[0] == '0' {
			return 0, false
		}
		addr = addr<<8 | uint32(n)
		b = b[digits:]
		if part == 3 {
			break
		}
		if len(b) == 0 || b[0] != '.' {
			return 0, false
		}
		b = b[1:]
	}
	return addr, len(b) == 0
}

// AppendV4 appends an address in dotted decimal.
func AppendV4(dst []byte, addr uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		dst = strconv.AppendUint(dst, uint64(addr>>shift&0xFF), 10)
		if shift > 0 {
			dst = append(dst, '.')
		}
	}
	return dst
}

// ParseV6 parses an IPv6address of RFC 3986 §3.2.2, without brackets or zone.
func ParseV6(b []byte) (groups [8]uint16, ok bool) {
	n, gap := 0, -1
	if len(b) >= 2 && b[0] == ':' && b[1] == ':' {
		gap, b = 0, b[2:]
	}
	for len(b) > 0 {
		if n == 8 {
			return groups, false
		}
		v, digits := ParseGroup(b)
		if digits < len(b) && b[digits] == '.' {
			addr, ok := ParseV4(b)
			if !ok || n > 6 {
				return groups, false
			}
			groups[n], groups[n+1] = uint16(addr>>16), uint16(addr)
			n, b = n+2, nil
			break
		}
		if digits == 0 {
			return groups, false
		}
		groups[n], b = v, b[digits:]
		n++
		if len(b) == 0 {
			break
		}
		if b[0] != ':' || len(b) == 1 {
			return groups, false
		}
		b = b[1:]
		if b[0] == ':' {
			if gap >= 0 {
				return groups, false
			}
			gap, b = n, b[1:]
		}
	}
	if gap < 0 {
		return groups, n == 8
	}
	if n == 8 {
		return groups, false // "::" means at least one group, RFC 3986 §3.2.2
	}
	copy(groups[8-(n-gap):], groups[gap:n])
	clear(groups[gap : 8-(n-gap)])
	return groups, true
}

// ParseGroup parses up to four hex digits.
func ParseGroup(b []byte) (v uint16, digits int) {
	for digits < len(b) && digits < 4 && ascii.IsHex(b[digits]) {
		v = v<<4 | uint16(ascii.Unhex(b[digits]))
		digits++
	}
	return v, digits
}

// AppendV6 appends the address in the shortest form of RFC 5952 §4, with hex
// groups only, as the WHATWG serializer writes it
// (https://url.spec.whatwg.org/#concept-ipv6-serializer).
func AppendV6(dst []byte, groups [8]uint16) []byte {
	start, length := longestZeros(groups)
	for i := 0; i < 8; i++ {
		if length > 1 && i == start {
			if i == 0 {
				dst = append(dst, ':')
			}
			dst = append(dst, ':')
			i += length - 1
			continue
		}
		dst = strconv.AppendUint(dst, uint64(groups[i]), 16)
		if i < 7 {
			dst = append(dst, ':')
		}
	}
	return dst
}

// longestZeros finds the first of the longest runs of zero groups.
func longestZeros(groups [8]uint16) (start, length int) {
	for i := 0; i < 8; i++ {
		j := i
		for j < 8 && groups[j] == 0 {
			j++
		}
		if j-i > length {
			start, length = i, j-i
		}
		if j > i {
			i = j
		}
	}
	return start, length
}

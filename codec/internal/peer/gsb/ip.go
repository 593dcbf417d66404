package gsb

import (
	"bytes"
	"strconv"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// parseIPv4 reads an address as inet_aton does: one to four numbers, in decimal,
// with a 0 in front in octal, or with 0x in front in hexadecimal digits. The
// last number fills the rest of the address.
func parseIPv4(text []byte) (address uint32, ok bool) {
	for part := range 4 {
		number, rest, more := bytes.Cut(text, []byte("."))
		v, ok := parseNumber(number)
		if !ok || more && v > 0xff || v >= 1<<(8*(4-part)) {
			return 0, false
		}
		if !more {
			return address | uint32(v), true
		}
		address |= uint32(v) << (8 * (3 - part))
		text = rest
	}
	return 0, false
}

// parseNumber returns the value of a number, or false if it is none or does not
// fit 32 bits.
func parseNumber(text []byte) (v uint64, ok bool) {
	base := uint64(10)
	switch {
	case len(text) > 2 && text[0] == '0' && text[1]|0x20 == 'x':
		base, text = 16, text[2:]
	case len(text) > 1 && text[0] == '0':
		base = 8
	}
	for _, b := range text {
		d := uint64(ascii.Unhex(b))
		if !ascii.IsHex(b) || d >= base {
			return 0, false
		}
		if v = v*base + d; v >= 1<<32 {
			return 0, false
		}
	}
	return v, len(text) > 0
}

func appendIPv4(dst []byte, address uint32) []byte {
	for shift := 24; shift >= 0; shift -= 8 {
		dst = strconv.AppendUint(dst, uint64(address>>shift&0xff), 10)
		if shift > 0 {
			dst = append(dst, '.')
		}
	}
	return dst
}

// parseIPv6 reads an address in brackets: RFC 4291, section 2.2.
func parseIPv6(text []byte) (address [8]uint16, ok bool) {
	if len(text) < 4 || text[0] != '[' || text[len(text)-1] != ']' {
		return address, false
	}
	text = text[1 : len(text)-1]
	groups, gap := 0, -1
	if bytes.HasPrefix(text, []byte("::")) {
		gap, text = 0, text[2:]
	}
	for len(text) > 0 {
		if groups == 8 {
			return address, false
		}
		group, rest, more := bytes.Cut(text, []byte(":"))
		if bytes.IndexByte(group, '.') >= 0 {
			v, ok := parseDotted(group)
			if !ok || more || groups > 6 {
				return address, false
			}
			address[groups], address[groups+1] = uint16(v>>16), uint16(v)
			groups += 2
			break
		}
		for _, b := range group {
			if !ascii.IsHex(b) {
				return address, false
			}
			address[groups] = address[groups]<<4 | uint16(ascii.Unhex(b))
		}
		if len(group) == 0 || len(group) > 4 || more && len(rest) == 0 {
			return address, false
		}
		groups++
		if more && rest[0] == ':' {
			if gap >= 0 {
				return address, false
			}
			gap, rest = groups, rest[1:]
		}
		text = rest
	}
	if gap < 0 {
		return address, groups == 8
	}
	if groups > 7 {
		return address, false
	}
	copy(address[8-(groups-gap):], address[gap:groups])
	clear(address[gap : 8-(groups-gap)])
	return address, true
}

// parseDotted reads an IPv4 address at the end of an IPv6 address: four decimal
// numbers without leading zeros.
func parseDotted(text []byte) (address uint32, ok bool) {
	for part := range 4 {
		number, rest, more := bytes.Cut(text, []byte("."))
		v, ok := parseNumber(number)
		if !ok || v > 0xff || more != (part < 3) || len(number) > 1 && number[0] == '0' {
			return 0, false
		}
		address, text = address<<8|uint32(v), rest
	}
	return address, true
}

// appendIPv6 appends an address as RFC 5952 writes it, in brackets. Addresses
// that stand for an IPv4 address, by ::ffff:0:0/96 or 64:ff9b::/96, are written
// as that.
func appendIPv6(dst []byte, address [8]uint16) []byte {
	switch [6]uint16(address[:6]) {
	case [6]uint16{5: 0xffff}, [6]uint16{0: 0x64, 1: 0xff9b}:
		return appendIPv4(dst, uint32(address[6])<<16|uint32(address[7]))
	}
	start, end := longestZeros(address)
	dst = append(dst, '[')
	for i := 0; i < 8; i++ {
		if i == start {
			dst = append(dst, "::"...)
			i = end - 1
			continue
		}
		if i > 0 && i != end {
			dst = append(dst, ':')
		}
		dst = strconv.AppendUint(dst, uint64(address[i]), 16)
	}
	return append(dst, ']')
}

// longestZeros returns the first longest range of at least two groups that are
// zero, or -1, -1.
func longestZeros(address [8]uint16) (start, end int) {
	start, end = -1, -1
	for i := 0; i < 8; i++ {
		j := i
		for j < 8 && address[j] == 0 {
			j++
		}
		if j-i >= 2 && j-i > end-start {
			start, end = i, j
		}
		i = max(i, j-1)
	}
	return start, end
}

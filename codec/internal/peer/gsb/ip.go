package gsb

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/ip"
)

// parseIPv4 reads an address as inet_aton does: one to four numbers separated by
// dots, each in decimal, octal (leading 0) or hexadecimal (leading 0x). The last
// number fills the rest of the address.
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

// parseNumber returns the value of a number, or false if the text is not a
// number or its value does not fit into 32 bits.
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

// appendIPv6 appends an address as RFC 5952 writes it, in brackets. An address
// that stands for an IPv4 address, by ::ffff:0:0/96 or 64:ff9b::/96, is written as
// that IPv4 address.
func appendIPv6(dst []byte, groups [8]uint16) []byte {
	switch [6]uint16(groups[:6]) {
	case [6]uint16{5: 0xffff}, [6]uint16{0: 0x64, 1: 0xff9b}:
		return ip.AppendV4(dst, uint32(groups[6])<<16|uint32(groups[7]))
	}
	return append(ip.AppendV6(append(dst, '['), groups), ']')
}

package codec

import (
	"bytes"
	"strconv"

	"github.com/urlfold/urlfold/codec/percent"
)

// literalKind classifies the text between the brackets of an IP literal.
func literalKind(b []byte) HostKind {
	if _, ok := parseIPv6(b); ok {
		return HostIPv6
	}
	if isIPvFuture(b) {
		return HostIPvFuture
	}
	return HostBadLiteral
}

// isIPvFuture reports whether b is "v" 1*HEXDIG "." 1*( unreserved / sub-delims
// / ":" ), RFC 3986 §3.2.2.
func isIPvFuture(b []byte) bool {
	dot := bytes.IndexByte(b, '.')
	if len(b) < 4 || b[0]|0x20 != 'v' || dot < 2 || dot == len(b)-1 {
		return false
	}
	for _, c := range b[1:dot] {
		if !percent.IsHex(c) {
			return false
		}
	}
	for _, c := range b[dot+1:] {
		if class[c]&hostByte == 0 && c != ':' {
			return false
		}
	}
	return true
}

// isDottedDecimal reports whether b is an IPv4address of RFC 3986 §3.2.2: four
// numbers from 0 to 255 without leading zeros.
func isDottedDecimal(b []byte) bool {
	_, ok := parseDottedDecimal(b)
	return ok
}

func parseDottedDecimal(b []byte) (addr uint32, ok bool) {
	if len(b) < 7 || len(b) > 15 {
		return 0, false
	}
	for part := range 4 {
		n, digits := 0, 0
		for digits < len(b) && digits < 4 && isDigit(b[digits]) {
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

// endsInNumber reports whether the last label of host, ignoring one final empty
// label, is all digits or a hexadecimal number. Browsers parse such hosts as
// IPv4 addresses or reject them
// (https://url.spec.whatwg.org/#ends-in-a-number-checker).
func endsInNumber(host []byte) bool {
	if n := len(host); n > 0 && host[n-1] == '.' {
		host = host[:n-1]
	}
	label := host[bytes.LastIndexByte(host, '.')+1:]
	if len(label) == 0 {
		return false
	}
	if len(label) >= 2 && label[0] == '0' && label[1]|0x20 == 'x' {
		for _, c := range label[2:] {
			if !percent.IsHex(c) {
				return false
			}
		}
		return true
	}
	for _, c := range label {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// parseIPv6 parses an IPv6address of RFC 3986 §3.2.2, without brackets or zone.
func parseIPv6(b []byte) (groups [8]uint16, ok bool) {
	n, gap := 0, -1
	if len(b) >= 2 && b[0] == ':' && b[1] == ':' {
		gap, b = 0, b[2:]
	}
	for len(b) > 0 {
		if n == 8 {
			return groups, false
		}
		v, digits := parseGroup(b)
		if digits < len(b) && b[digits] == '.' {
			addr, ok := parseDottedDecimal(b)
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

// parseGroup parses up to four hex digits.
func parseGroup(b []byte) (v uint16, digits int) {
	for digits < len(b) && digits < 4 && percent.IsHex(b[digits]) {
		v = v<<4 | uint16(percent.Unhex(b[digits]))
		digits++
	}
	return v, digits
}

// appendIPv6 appends the address in the shortest form of RFC 5952 §4, with hex
// groups only, as the WHATWG serializer writes it
// (https://url.spec.whatwg.org/#concept-ipv6-serializer).
func appendIPv6(dst []byte, groups [8]uint16) []byte {
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

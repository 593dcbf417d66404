package surt

import (
	"bytes"
	"strconv"
)

// A numberKind says what attemptIPFormats makes of a host.
type numberKind uint8

const (
	noIP numberKind = iota
	isIP
	invalidNumber // int raises an error
)

// parseIP returns the address of a host that is a decimal number, or up to four
// numbers with dots, as inet_aton reads them.
func parseIP(host []byte) (ip uint32, kind numberKind) {
	if len(host) == 0 || bytes.ContainsFunc(host, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }) {
		return 0, noIP
	}
	if bytes.IndexByte(host, '.') < 0 {
		if len(host) > maxDigits {
			return 0, invalidNumber
		}
		for _, b := range host {
			ip = ip*10 + uint32(b-'0') // only the low 32 bits count
		}
		return ip, isIP
	}
	return aton(host)
}

// aton parses numbers with dots as inet_aton of the GNU C library does. In a
// host that starts with a 0, all digits must be octal.
func aton(host []byte) (ip uint32, kind numberKind) {
	octal := host[0] == '0'
	parts := bytes.Count(host, []byte{'.'}) + 1
	if parts > 4 || octal && bytes.ContainsAny(host, "89") {
		return 0, noIP
	}
	for i := range parts {
		part, rest, _ := bytes.Cut(host, []byte{'.'})
		host = rest
		base, bits := 10, 8
		if len(part) > 1 && part[0] == '0' {
			base = 8
		}
		if i == parts-1 {
			bits = 8 * (5 - parts)
		}
		n, err := strconv.ParseUint(string(part), base, bits)
		if err != nil {
			return 0, noIP
		}
		if i == parts-1 {
			return ip | uint32(n), isIP
		}
		ip |= uint32(n) << (24 - 8*i)
	}
	return 0, noIP
}

package purell

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// isIPv6 reports whether text is an IPv6 address, with or without a zone, as
// netip.ParseAddr accepts it.
func isIPv6(text []byte) bool {
	address, zone, hasZone := bytes.Cut(text, []byte("%"))
	if hasZone && len(zone) == 0 {
		return false
	}
	groups, ellipsis := 0, false
	if bytes.HasPrefix(address, []byte("::")) {
		ellipsis, address = true, address[2:]
		if len(address) == 0 {
			return true
		}
	}
	for groups < 8 {
		digits := 0
		for digits < len(address) && ascii.IsHex(address[digits]) {
			digits++
		}
		if digits == 0 || digits > 4 {
			return false
		}
		if digits < len(address) && address[digits] == '.' {
			if !isIPv4(address) || groups > 6 || !ellipsis && groups != 6 {
				return false
			}
			groups, address = groups+2, nil
			break
		}
		groups, address = groups+1, address[digits:]
		if len(address) == 0 {
			break
		}
		if address[0] != ':' || len(address) == 1 {
			return false
		}
		address = address[1:]
		if address[0] == ':' {
			if ellipsis {
				return false
			}
			ellipsis, address = true, address[1:]
			if len(address) == 0 {
				break
			}
		}
	}
	return len(address) == 0 && (groups == 8) != ellipsis
}

// isIPv4 reports whether text is four decimal numbers up to 255 without leading
// zeros.
func isIPv4(text []byte) bool {
	dots, value, digits := 0, 0, 0
	for _, c := range text {
		switch {
		case ascii.IsDigit(c):
			if digits > 0 && value == 0 {
				return false
			}
			value, digits = value*10+int(c-'0'), digits+1
			if value > 255 {
				return false
			}
		case c == '.' && digits > 0 && dots < 3:
			dots, value, digits = dots+1, 0, 0
		default:
			return false
		}
	}
	return dots == 3 && digits > 0
}

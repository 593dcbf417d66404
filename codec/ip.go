package codec

import (
	"bytes"

	"github.com/urlfold/urlfold/codec/internal/ip"
	"github.com/urlfold/urlfold/codec/percent"
)

// literalKind classifies the text between the brackets of an IP literal.
func literalKind(b []byte) HostKind {
	if _, ok := ip.ParseV6(b); ok {
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

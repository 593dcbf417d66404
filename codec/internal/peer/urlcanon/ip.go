package urlcanon

import (
	"bytes"
	"math/big"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// An ipAddress is an IP address, or none.
type ipAddress struct {
	kind ipKind
	v4   uint32
	v6   [8]uint16
}

type ipKind uint8

const (
	noIP ipKind = iota
	ip4
	ip6
	// negative is a number below 0. Python's int accepts "-1", so parse_ipv4
	// does too, but its callers do not accept the result as an address.
	negative
)

func (ip ipAddress) isNonzero() bool {
	return ip.kind == negative || ip.kind == ip4 && ip.v4 != 0
}

// parseIP parses a host as parse_ipv4or6 does.
func parseIP(host []byte) ipAddress {
	n := len(host)
	if n == 0 || host[0] != '[' || host[n-1] != ']' {
		return parseIPv4(host)
	}
	if n > 2 && utf8.Valid(host) {
		if v6, ok := python.ParseIPv6(host[1 : n-1]); ok {
			return ipAddress{kind: ip6, v6: v6.Groups}
		}
	}
	return ipAddress{}
}

// parseIPv4 parses a host as parse_ipv4 does: up to four numbers that Python's
// int accepts, decimal, hexadecimal after "0x" or octal after "0".
func parseIPv4(host []byte) ipAddress {
	if len(host) == 0 || !mayBeNumber(host) {
		return ipAddress{}
	}
	var parts [4]*big.Int
	n := 0
	for rest := host; ; n++ {
		part, after, more := bytes.Cut(rest, dot)
		if !more && len(part) == 0 {
			break // a dot at the end
		}
		if n == len(parts) {
			return ipAddress{}
		}
		if parts[n] = parseNumber(part); parts[n] == nil {
			return ipAddress{}
		}
		if rest = after; !more {
			n++
			break
		}
	}
	return joinIPv4(parts[:n])
}

var dot = []byte{'.'}

// joinIPv4 returns the address with the given numbers. The last number fills
// the remaining bytes. The first number is not checked separately.
func joinIPv4(parts []*big.Int) ipAddress {
	if len(parts) == 0 {
		return ipAddress{}
	}
	sum := new(big.Int).Lsh(parts[0], 24)
	if len(parts) == 1 {
		sum.Set(parts[0])
	}
	for i, p := range parts[1:] {
		last := i == len(parts)-2
		bits := 8
		if last {
			bits = 8 * (5 - len(parts))
		}
		limit := new(big.Int).Lsh(big.NewInt(1), uint(bits))
		if p.Cmp(limit) >= 0 {
			return ipAddress{}
		}
		shift := uint(16 - 8*i)
		if last {
			shift = 0
		}
		sum.Add(sum, new(big.Int).Lsh(p, shift))
	}
	switch {
	case sum.Sign() < 0:
		return ipAddress{kind: negative}
	case sum.BitLen() > 32:
		return ipAddress{}
	}
	return ipAddress{kind: ip4, v4: uint32(sum.Uint64())}
}

// mayBeNumber reports whether every byte can occur in numbers with dots. It
// rejects nearly every domain without allocating.
func mayBeNumber(host []byte) bool {
	for _, c := range host {
		switch {
		case '0' <= c && c <= '9', c == '.', c == '_', c == '+', c == '-', isSpace(c):
		case 'a' <= c|0x20 && c|0x20 <= 'f', c|0x20 == 'x', c|0x20 == 'o':
		default:
			return false
		}
	}
	return true
}

// parseNumber parses a part of an address, or returns nil.
func parseNumber(part []byte) *big.Int {
	switch {
	case len(part) == 0:
		return new(big.Int)
	case len(part) >= 2 && part[0] == '0' && part[1]|0x20 == 'x':
		if len(part) == 2 {
			return new(big.Int)
		}
		return parseInt(part[2:], 16)
	case len(part) >= 2 && part[0] == '0':
		return parseInt(part[1:], 8)
	}
	return parseInt(part, 10)
}

// maxDigits is the smallest number of decimal digits at which int raises an error.
const maxDigits = 4300

// parseInt parses a number as Python's int(text, base) does, or returns nil: it
// accepts white space around the number, a sign, underscores between digits,
// and the prefix of the base.
func parseInt(text []byte, base int) *big.Int {
	text = bytes.TrimFunc(text, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) })
	sign := byte('+')
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		sign, text = text[0], text[1:]
	}
	prefix := byte(0)
	switch base {
	case 8:
		prefix = 'o'
	case 16:
		prefix = 'x'
	}
	if len(text) >= 2 && prefix != 0 && text[0] == '0' && text[1]|0x20 == prefix {
		if text = text[2:]; len(text) > 0 && text[0] == '_' {
			text = text[1:]
		}
	}
	digits := make([]byte, 0, len(text))
	for i, c := range text {
		if c != '_' {
			digits = append(digits, c)
		} else if i == 0 || i == len(text)-1 || text[i-1] == '_' {
			return nil
		}
	}
	if len(digits) == 0 || digits[0] == '+' || digits[0] == '-' || base == 10 && len(digits) > maxDigits {
		return nil
	}
	n, ok := new(big.Int).SetString(string(digits), base)
	if !ok {
		return nil
	}
	if sign == '-' {
		n.Neg(n)
	}
	return n
}

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

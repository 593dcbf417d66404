package purell

import (
	"bytes"
	"math"
	"strconv"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// decodeHost writes a host in four decimal parts, as purell does, if it is a
// number, four octal numbers or a hexadecimal number.
func (u *parts) decodeHost() {
	name, tail := splitTail(u.host)
	if v, ok := parseNumber(name, 10); ok {
		u.setAddress(bytesOf(v), tail)
	}
	name, tail = splitTail(u.host)
	u.decodeOctal(name, tail)
	name, tail = splitTail(u.host)
	if digits, ok := bytes.CutPrefix(name, []byte("0x")); ok {
		if v, ok := parseNumber(digits, 16); ok {
			u.setAddress(bytesOf(v), tail)
		}
	}
}

// splitTail splits trailing dots and a port off the host.
func splitTail(host []byte) (name, tail []byte) {
	i := len(host)
	for i > 0 && ascii.IsDigit(host[i-1]) {
		i--
	}
	if i == 0 || host[i-1] != ':' {
		i = len(host)
	} else {
		i--
	}
	for i > 0 && host[i-1] == '.' {
		i--
	}
	return host[:i], host[i:]
}

// bytesOf returns the low four bytes of v.
func bytesOf(v int64) [4]int64 {
	return [...]int64{v >> 24 & 0xff, v >> 16 & 0xff, v >> 8 & 0xff, v & 0xff}
}

func (u *parts) decodeOctal(name, tail []byte) {
	var v [4]int64
	for i := range v {
		part := name
		if before, after, ok := bytes.Cut(name, []byte{'.'}); i < 3 {
			if !ok {
				return
			}
			part, name = before, after
		}
		if len(part) == 0 || part[0] != '0' {
			return
		}
		var ok bool
		if v[i], ok = parseNumber(part, 8); !ok {
			return
		}
	}
	u.setAddress(v, tail)
}

// setAddress replaces the host by the numbers of an address and keeps its last bytes,
// tail.
func (u *parts) setAddress(address [4]int64, tail []byte) {
	text := u.spare[:0]
	for i, v := range address {
		if i > 0 {
			text = append(text, '.')
		}
		text = strconv.AppendInt(text, v, 10)
	}
	u.spare = append(text, tail...)
	u.host = u.spare
}

// parseNumber returns the value of decimal digits, or of hex digits if base is
// 16, as strconv.ParseInt does when its error is ignored: 0 if a digit is too
// large for the base, math.MaxInt64 if the value is too large.
func parseNumber(digits []byte, base uint64) (v int64, ok bool) {
	for _, c := range digits {
		if !ascii.IsDigit(c) && (base != 16 || !ascii.IsHex(c)) {
			return 0, false
		}
	}
	var n uint64
	for _, c := range digits {
		d := uint64(ascii.Unhex(c))
		if d >= base {
			return 0, true
		}
		if n > math.MaxUint64/base || n*base > math.MaxUint64-d {
			return math.MaxInt64, true
		}
		n = n*base + d
	}
	return int64(min(n, math.MaxInt64)), len(digits) > 0
}

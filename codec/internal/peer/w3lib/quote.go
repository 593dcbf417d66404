package w3lib

import (
	"strconv"

	"github.com/urlfold/urlfold/codec/internal/peer/python"
)

// A set is a set of bytes that are not escaped.
type set struct {
	safe  [256]bool
	space bool // a space becomes '+'
}

const (
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	subDelims  = "!$&'()*+,;="
)

var (
	userinfoSafe     = setOf(unreserved + "!$&'()*+,")
	pathSafe         = setOf(unreserved + subDelims + ":/?@%")
	specialQuerySafe = setOf(unreserved + "!$&()*+,;=" + ":/?@%")
	rawPathSafe      = setOf(unreserved + subDelims + ":/?[]@|%")
	formSafe         = func() *set { s := setOf(unreserved); s.space = true; return s }()
)

func setOf(bytes string) *set {
	s := new(set)
	for _, c := range []byte(bytes) {
		s.safe[c] = true
	}
	return s
}

// appendQuoted appends text with the bytes escaped that are not safe.
func appendQuoted(dst, text []byte, s *set) []byte {
	for _, c := range text {
		switch {
		case s.safe[c]:
			dst = append(dst, c)
		case c == ' ' && s.space:
			dst = append(dst, '+')
		default:
			dst = appendEscape(dst, c)
		}
	}
	return dst
}

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789ABCDEF"
	return append(dst, '%', hex[c>>4], hex[c&15])
}

// unescape returns the byte of the escape that text starts with.
func unescape(text []byte) (byte, bool) {
	if len(text) < 3 || text[0] != '%' {
		return 0, false
	}
	high, low := python.Unhex(text[1]), python.Unhex(text[2])
	return high<<4 | low, high|low != 255
}

// appendUnquoted appends text with its escapes decoded and, if plus is set, '+'
// as a space.
func appendUnquoted(dst, text []byte, plus bool) []byte {
	for i := 0; i < len(text); i++ {
		c, ok := unescape(text[i:])
		switch {
		case ok:
			i += 2
		case text[i] == '+' && plus:
			c = ' '
		default:
			c = text[i]
		}
		dst = append(dst, c)
	}
	return dst
}

func appendNumber(dst []byte, n uint16) []byte { return strconv.AppendUint(dst, uint64(n), 10) }

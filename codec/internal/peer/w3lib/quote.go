package w3lib

import "github.com/urlfold/urlfold/codec/internal/ascii"

const (
	unreserved = ascii.Alnum + "-._~"
	subDelims  = "!$&'()*+,;="
)

// The bytes that are not escaped.
var (
	userinfoSafe     = ascii.SetOf(unreserved + "!$&'()*+,")
	pathSafe         = ascii.SetOf(unreserved + subDelims + ":/?@%")
	specialQuerySafe = ascii.SetOf(unreserved + "!$&()*+,;=" + ":/?@%")
	rawPathSafe      = ascii.SetOf(unreserved + subDelims + ":/?[]@|%")
	formSafe         = ascii.SetOf(unreserved + " ") // a space becomes '+'
)

// appendForm appends text as quote_plus returns it.
func appendForm(dst, text []byte) []byte {
	start := len(dst)
	dst = ascii.AppendEscaped(dst, text, formSafe)
	ascii.Replace(dst[start:], ' ', '+')
	return dst
}

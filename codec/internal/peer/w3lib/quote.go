package w3lib

import "github.com/urlfold/urlfold/codec/internal/ascii"

const subDelims = "!$&'()*+,;="

// The bytes that are not escaped.
var (
	userinfoSafe     = ascii.SetOf(ascii.Unreserved + "!$&'()*+,")
	pathSafe         = ascii.SetOf(ascii.Unreserved + subDelims + ":/?@%")
	specialQuerySafe = ascii.SetOf(ascii.Unreserved + "!$&()*+,;=" + ":/?@%")
	rawPathSafe      = ascii.SetOf(ascii.Unreserved + subDelims + ":/?[]@|%")
)

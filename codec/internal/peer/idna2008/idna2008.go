// Package idna2008 reproduces the Python package idna 3.20, with the tables of
// Unicode 18, as it works on Python 3.11.
package idna2008

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/idna2003"
	"github.com/urlfold/urlfold/codec/internal/punycode"
)

// Limits of the package, in characters.
const (
	maxInput  = 1024
	maxDomain = 253
	maxLabel  = 63
)

// The status of a code point in UTS 46.
const (
	statusDisallowed = iota
	statusValid
	statusDeviation
	statusIgnored
	statusMapped
)

// Remap is uts46_remap: it maps a domain by UTS 46. With std3, it rejects ASCII
// other than letters, digits, hyphens and dots.
func Remap(domain []rune, std3 bool) ([]rune, bool) {
	if len(domain) > maxInput {
		return nil, false
	}
	t := tables()
	var out []rune
	ascii := true
	for _, r := range domain {
		ascii = ascii && r < utf8.RuneSelf
		i, found := slices.BinarySearch(t.mapping.Keys, r)
		if !found {
			i--
		}
		switch status := t.status[i]; {
		case r < utf8.RuneSelf && 'A' <= r && r <= 'Z':
			out = append(out, r|0x20)
		case r < utf8.RuneSelf, status == statusValid, status == statusDeviation:
			out = append(out, r)
		case status == statusMapped:
			out = append(out, []rune(t.mapping.Text(i))...)
		case status == statusDisallowed:
			return nil, false
		}
	}
	if std3 && slices.ContainsFunc(out, func(r rune) bool {
		return r < utf8.RuneSelf && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.'
	}) {
		return nil, false
	}
	if ascii {
		return out, true
	}
	return idna2003.AppendNFC(nil, out), true
}

// AppendEncode appends domain as idna.encode(domain, uts46=True) returns it.
func AppendEncode(dst []byte, domain []rune) ([]byte, bool) {
	domain, ok := Remap(domain, false)
	if !ok || len(domain) > maxDomain+1 || len(domain) == 0 {
		return dst, false
	}
	start := len(dst)
	for {
		n := slices.IndexFunc(domain, idna2003.IsDot)
		label := domain
		if n >= 0 {
			label = domain[:n]
		}
		if dst, ok = appendLabel(dst, label); !ok {
			return dst[:start], false
		}
		if n < 0 {
			return dst, len(dst)-start <= maxDomain
		}
		dst = append(dst, '.')
		if domain = domain[n+1:]; len(domain) == 0 {
			return dst, len(dst)-start <= maxDomain+1
		}
	}
}

// appendLabel appends the A-label of a label, as alabel returns it.
func appendLabel(dst []byte, label []rune) ([]byte, bool) {
	start := len(dst)
	if ascii.Only(label) {
		dst = append(dst, string(label)...)
		return dst, checkASCII(label) && len(label) <= maxLabel
	}
	if !checkLabel(label) {
		return dst, false
	}
	dst, ok := punycode.Append(append(dst, "xn--"...), label, math.MaxUint32)
	return dst, ok && len(dst)-start <= maxLabel
}

// checkASCII reports whether ulabel accepts a label in lower case.
func checkASCII(label []rune) bool {
	if len(label) < 4 || string(label[:4]) != "xn--" {
		return checkLabel(label)
	}
	label = label[4:]
	if len(label) == 0 || label[len(label)-1] == '-' {
		return false
	}
	text, ok := punycode.AppendDecoded(nil, label)
	if !ok {
		return false
	}
	again, ok := punycode.Append(nil, text, math.MaxUint32)
	return ok && string(again) == string(label) && checkLabel(text)
}

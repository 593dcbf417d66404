// Package idna2003 converts labels of domains to ASCII by RFC 3490 and RFC
// 3491, with the tables of Unicode 3.2. Programs whose results urlfold
// reproduces still use these rules. It follows Python 3.11, whose tables
// gen.py copies.
package idna2003

import (
	"math"
	"slices"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/punycode"
)

// maxLabel is the length in bytes of the longest label.
const maxLabel = 63

// AppendASCII appends the ASCII form of a label, as encodings.idna.ToASCII
// computes it: UseSTD3ASCIIRules is false and AllowUnassigned is true. An ASCII
// label stays as it is, even in upper case. AppendASCII returns dst and false
// if the label has no ASCII form.
func AppendASCII(dst []byte, label []rune) ([]byte, bool) {
	if ascii.Only(label) {
		return appendShort(dst, label)
	}
	label, ok := AppendNameprep(nil, label)
	if !ok {
		return dst, false
	}
	if ascii.Only(label) {
		return appendShort(dst, label)
	}
	if len(label) >= 4 && string(label[:4]) == "xn--" {
		return dst, false
	}
	start := len(dst)
	if len(label) > maxLabel {
		return dst, false
	}
	out, ok := punycode.Append(append(dst, "xn--"...), label, math.MaxUint32)
	if !ok || len(out)-start > maxLabel {
		return dst, false
	}
	return out, true
}

// appendShort appends an ASCII label if its length is valid.
func appendShort(dst []byte, label []rune) ([]byte, bool) {
	if len(label) == 0 || len(label) > maxLabel {
		return dst, false
	}
	for _, r := range label {
		dst = append(dst, byte(r))
	}
	return dst, true
}

// IsDot reports whether r separates labels (RFC 3490 §3.1).
func IsDot(r rune) bool { return r == '.' || r == '\u3002' || r == '\uFF0E' || r == '\uFF61' }

// AppendNameprep appends a label after nameprep (RFC 3491). It returns false if
// the label has a prohibited code point or mixes directions. Code points that
// Unicode 3.2 does not assign are permitted: see [Unassigned].
func AppendNameprep(dst, label []rune) ([]rune, bool) {
	t := tables()
	var mapped []rune
	for _, r := range label {
		if in(t.dropped, r) {
			continue
		}
		if i, found := slices.BinarySearch(t.folded.Keys, r); found {
			mapped = append(mapped, []rune(t.folded.Text(i))...)
		} else {
			mapped = append(mapped, r)
		}
	}
	start := len(dst)
	dst = appendNormal(dst, mapped, &t.decomposed32, &t.decomposed)
	label = dst[start:]
	rtl, ltr := false, false
	for _, r := range label {
		if in(t.prohibited, r) {
			return dst[:start], false
		}
		rtl, ltr = rtl || in(t.rightToLeft, r), ltr || in(t.leftToRight, r)
	}
	if rtl && (ltr || !in(t.rightToLeft, label[0]) || !in(t.rightToLeft, label[len(label)-1])) {
		return dst[:start], false
	}
	return dst, true
}

// Unassigned reports whether Unicode 3.2 does not assign r (RFC 3454, table
// A.1).
func Unassigned(r rune) bool { return in(tables().unassigned, r) }

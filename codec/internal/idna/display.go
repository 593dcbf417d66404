package idna

import (
	"slices"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
)

// AppendUnicode appends the display form of an ASCII domain, and returns the
// extended slice. The result is never a key. Each label with the prefix xn-- is
// decoded if its characters can be shown safely; all other bytes stay. domain
// is not kept, and must not overlap dst.
//
// The whole domain stays unchanged if it is not ASCII, if one of its labels is
// invalid (UTS 46, section 4.1), or if the labels together violate the Bidi
// Rule. Therefore AppendASCII of the result always gives the lower-cased domain
// again. A single label stays if it contains a character that is
// default-ignorable, white space or a bidi control, a character that looks like
// a delimiter of a URL, or scripts that no writing system uses together (UTS
// 39, section 5.1). A label wholly in one script may still look like a label in
// another script.
func AppendUnicode(dst, domain []byte) []byte {
	if !ascii.Only(domain) {
		return append(dst, domain...)
	}
	var buf [scratchLen]byte
	if _, _, err := process(buf[:0], domain, false); err != 0 {
		return append(dst, domain...)
	}
	for {
		end, sep := labelEnd(domain)
		dst = appendDisplay(dst, domain[:end])
		dst = append(dst, domain[end:end+sep]...)
		if sep == 0 {
			return dst
		}
		domain = domain[end+sep:]
	}
}

// appendDisplay appends one label of a valid domain.
func appendDisplay(dst, label []byte) []byte {
	if !isALabel(label) {
		return append(dst, label...)
	}
	var lower, decoded [scratchLen]rune
	mapped, _ := appendMapped(lower[:0], label)
	text, err := decodeALabel(decoded[:0], mapped)
	if err != 0 || !displaySafe(text) {
		return append(dst, label...)
	}
	for _, r := range text {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// delimiterLike holds the characters that are valid in a label and look like
// bytes that end or split a host, in ascending order. It does not contain the
// katakana middle dot, which Japanese names need.
var delimiterLike = []rune{
	0x02D0, 0x02D1, 0x02F8, // modifier letters that look like a colon
	0x2022, 0x2023, 0x2027, // bullets and the hyphenation point: like a full stop
	0x2041, 0x2044, // caret insertion point and fraction slash
	0x205A, 0x205D, 0x205E, // punctuation of two to four dots
	0x2215, 0x2216, 0x2219, 0x2223, 0x2236, // operators like slash, backslash, dot, bar and colon
	0x22C5, 0x2571, 0x2572, // dot operator, diagonals
	0x27CB, 0x27CD, // mathematical diagonals
	0x29F5, 0x29F8, 0x29F9, // solidus operators
	0x3033, 0x3035, // kana repeat marks
	0xA789, // modifier letter colon
}

// displaySafe reports whether text, which is valid, can be shown in place of
// its A-label.
func displaySafe(text []rune) bool {
	set := scriptsOf('.') // all scripts
	for _, r := range text {
		if propsOf(r).flags&hiddenDisplay != 0 {
			return false
		}
		if _, found := slices.BinarySearch(delimiterLike, r); found {
			return false
		}
		for i, word := range scriptsOf(r) {
			set[i] &= word
		}
	}
	return set != scriptSet{}
}

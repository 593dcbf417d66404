package idna2008

import (
	"slices"

	"github.com/urlfold/urlfold/codec/internal/idna2003"
)

// Values of the tables.
const (
	pValid, contextJ, contextO = 1, 2, 3

	joinL, joinR, joinD, joinT = 1, 2, 3, 4

	greek, hebrew, hiragana, katakana, han = 1, 2, 3, 4, 5

	dirL, dirR, dirAL, dirAN, dirEN, dirES, dirCS, dirET, dirON, dirBN, dirNSM = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11

	virama = 2
)

// checkLabel reports whether check_label accepts a label.
func checkLabel(label []rune) bool {
	t := tables()
	switch {
	case len(label) == 0, len(label) > maxDomain+1,
		!slices.Equal(idna2003.AppendNFC(nil, label), label),
		len(label) >= 4 && label[2] == '-' && label[3] == '-',
		label[0] == '-', label[len(label)-1] == '-',
		valueOf(t.mark, label[0]) != 0:
		return false
	}
	for i, r := range label {
		ok := false
		switch valueOf(t.class, r) {
		case pValid:
			ok = true
		case contextJ:
			ok = joinerFits(label, i)
		case contextO:
			ok = otherFits(label, i)
		}
		if !ok {
			return false
		}
	}
	return checkBidi(label)
}

// joinerFits reports whether a joiner satisfies its CONTEXTJ rule.
func joinerFits(label []rune, i int) bool {
	t := tables()
	if i > 0 && valueOf(t.mark, label[i-1]) == virama {
		return true
	}
	if label[i] != '\u200C' {
		return false
	}
	before, after := uint8(0), uint8(0)
	for j := i - 1; j >= 0; j-- {
		if before = valueOf(t.joining, label[j]); before != joinT {
			break
		}
	}
	for _, r := range label[i+1:] {
		if after = valueOf(t.joining, r); after != joinT {
			break
		}
	}
	return (before == joinL || before == joinD) && (after == joinR || after == joinD)
}

// otherFits reports whether a code point satisfies its CONTEXTO rule.
func otherFits(label []rune, i int) bool {
	t := tables()
	switch r := label[i]; {
	case r == 0xB7:
		return 0 < i && i < len(label)-1 && label[i-1] == 'l' && label[i+1] == 'l'
	case r == 0x375:
		return i < len(label)-1 && valueOf(t.script, label[i+1]) == greek
	case r == 0x5F3 || r == 0x5F4:
		return i > 0 && valueOf(t.script, label[i-1]) == hebrew
	case r == 0x30FB:
		return slices.ContainsFunc(label, func(r rune) bool { return r != 0x30FB && valueOf(t.script, r) >= hiragana })
	case 0x660 <= r && r <= 0x669:
		return !slices.ContainsFunc(label, func(r rune) bool { return 0x6F0 <= r && r <= 0x6F9 })
	case 0x6F0 <= r && r <= 0x6F9:
		return !slices.ContainsFunc(label, func(r rune) bool { return 0x660 <= r && r <= 0x669 })
	}
	return false
}

// checkBidi reports whether check_bidi accepts a label: RFC 5893, section 2, for
// labels with characters that are written from right to left.
func checkBidi(label []rune) bool {
	t := tables()
	applies := false
	for _, r := range label {
		switch valueOf(t.direction, r) {
		case 0:
			return false
		case dirR, dirAL, dirAN:
			applies = true
		}
	}
	if !applies {
		return true
	}
	first := valueOf(t.direction, label[0])
	if first != dirR && first != dirAL && first != dirL {
		return false
	}
	rtl := first != dirL
	ending, number := false, uint8(0)
	for _, r := range label {
		d := valueOf(t.direction, r)
		allowed := d >= dirEN && d <= dirNSM || rtl && d >= dirR && d <= dirAN || !rtl && d == dirL
		if !allowed {
			return false
		}
		switch {
		case d == dirEN, rtl && d >= dirR && d <= dirAN, !rtl && d == dirL:
			ending = true
		case d != dirNSM:
			ending = false
		}
		if rtl && (d == dirAN || d == dirEN) {
			if number != 0 && number != d {
				return false
			}
			number = d
		}
	}
	return ending
}

package idna

const (
	bidiRTL     = 1<<bidiR | 1<<bidiAL | 1<<bidiAN // classes that make a domain a Bidi domain name
	bidiNeutral = 1<<bidiEN | 1<<bidiES | 1<<bidiCS | 1<<bidiET | 1<<bidiON | 1<<bidiBN | 1<<bidiNSM
)

// bidiRule reports whether label contains a right-to-left character (RFC 5893,
// section 1.4), and whether it satisfies the six conditions of section 2. An
// empty label satisfies them.
func bidiRule[C byte | rune](label []C) (rtl, ok bool) {
	var seen uint16           // a bit for each class that occurs
	var first, last bidiClass // classes of the first character, and of the last character that is not an NSM
	for i, c := range label {
		class := propsOf(rune(c)).bidi
		seen |= 1 << class
		if i == 0 {
			first = class
		}
		if class != bidiNSM {
			last = class
		}
	}
	if len(label) == 0 {
		return false, true
	}
	rtl = seen&bidiRTL != 0
	switch first { // condition 1
	case bidiL: // conditions 5 and 6
		return rtl, seen&^(1<<bidiL|bidiNeutral) == 0 && (last == bidiL || last == bidiEN)
	case bidiR, bidiAL: // conditions 2, 3 and 4
		return rtl, seen&^(bidiRTL|bidiNeutral) == 0 && seen&(1<<bidiEN|1<<bidiAN) != 1<<bidiEN|1<<bidiAN &&
			1<<last&(bidiRTL|1<<bidiEN) != 0
	}
	return rtl, false
}

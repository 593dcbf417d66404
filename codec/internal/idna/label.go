package idna

// checkLabel checks the validity criteria 2, 3, 4, 6, 7 and 8 of UTS 46,
// section 4.1. The caller checks criterion 1, NFC, since most labels have just
// been normalized. Criterion 5 always holds, because labels are split at full
// stops and Punycode produces none. Criterion 9 concerns the whole domain.
func checkLabel(label []rune, strict bool) Error {
	if err := checkASCII(label, strict); err != 0 {
		return err
	}
	if !strict && isALabel(label) {
		return ErrPrefix
	}
	joiners := false
	for i, r := range label {
		if r < 0x80 {
			continue // valid, and neither a mark nor a joiner; checkASCII checks letters, digits and hyphens
		}
		if mapValue(r) != valid {
			return ErrCodePoint
		}
		if i == 0 && propsOf(r).flags&mark != 0 {
			return ErrMark
		}
		joiners = joiners || r == zwnj || r == zwj
	}
	if joiners && !joinersInContext(label) {
		return ErrJoiner
	}
	return 0
}

// checkASCII checks the requirements of CheckHyphens and UseSTD3ASCIIRules:
// criteria 2 and 3, and the end of 7.
func checkASCII[C byte | rune](label []C, strict bool) Error {
	if !strict || len(label) == 0 {
		return 0
	}
	if label[0] == '-' || label[len(label)-1] == '-' || len(label) >= 4 && label[2] == '-' && label[3] == '-' {
		return ErrHyphens
	}
	for _, c := range label {
		if c < 0x80 && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return ErrSTD3
		}
	}
	return 0
}

// checkLength checks the requirement of VerifyDnsLength for a label: UTS 46,
// section 4.2, step 4.
func checkLength(n int) Error {
	switch {
	case n == 0:
		return ErrEmpty
	case n > 63:
		return ErrLength
	}
	return 0
}

const (
	zwnj = 0x200C // ZERO WIDTH NON-JOINER
	zwj  = 0x200D // ZERO WIDTH JOINER
)

// joinersInContext reports whether every joiner is where RFC 5892 A.1 and A.2
// allow it: after a virama or, for the non-joiner, between characters that
// would join.
func joinersInContext(label []rune) bool {
	for i, r := range label {
		if r != zwnj && r != zwj || i > 0 && propsOf(label[i-1]).ccc == virama {
			continue
		}
		if r == zwj || !joinsBefore(label[:i]) || !joinsAfter(label[i+1:]) {
			return false
		}
	}
	return true
}

// joinsBefore reports whether s ends in (Joining_Type:{L,D})(Joining_Type:T)*.
func joinsBefore(s []rune) bool {
	for i := len(s) - 1; i >= 0; i-- {
		switch propsOf(s[i]).joining {
		case joiningT:
		case joiningL, joiningD:
			return true
		default:
			return false
		}
	}
	return false
}

// joinsAfter reports whether a prefix of s matches
// (Joining_Type:T)*(Joining_Type:{R,D}).
func joinsAfter(s []rune) bool {
	for _, r := range s {
		switch propsOf(r).joining {
		case joiningT:
		case joiningR, joiningD:
			return true
		default:
			return false
		}
	}
	return false
}

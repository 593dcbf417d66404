package idna

// An Error says why a domain has no ASCII form. It is one byte, so returning it
// as an error does not allocate, and it contains no part of the domain. The
// zero Error means no error and is never returned as one.
type Error uint8

// The errors, each with the step of UTS 46 that requires it.
const (
	ErrUTF8      Error = 1 + iota // not UTF-8: the URL Standard decodes it to U+FFFD, which is disallowed
	ErrCodePoint                  // 4.1 criterion 7: a code point that is not valid
	ErrPunycode                   // 4 step 4: the text after xn-- is not Punycode, or not ASCII
	ErrASCIIOnly                  // 4 step 4: an xn-- label that encodes nothing, or only ASCII
	ErrNFC                        // 4.1 criterion 1: an xn-- label that encodes text not in NFC
	ErrPrefix                     // 4.1 criterion 4: an xn-- label that encodes another xn-- label
	ErrMark                       // 4.1 criterion 6: a label with a combining mark in front
	ErrJoiner                     // 4.1 criterion 8, RFC 5892 A.1 and A.2: a joiner where no script needs one
	ErrBidi                       // 4.1 criterion 9, RFC 5893 section 2: the Bidi Rule
	ErrOverflow                   // 4.2 step 2, RFC 3492 section 6.4: a label too long for Punycode, or of over 1,048,576 code points
	ErrHyphens                    // 4.1 criteria 2 and 3, Strict only: a hyphen at either end, or in positions 3 and 4
	ErrSTD3                       // 4.1 criterion 7, Strict only: ASCII other than letters, digits and hyphens
	ErrEmpty                      // 4.2 step 4, Strict only: an empty label or domain
	ErrLength                     // 4.2 step 4, Strict only: a label over 63 bytes or a domain over 253 bytes
	numErrors    = iota + 1
)

var errorTexts = [numErrors]string{
	ErrUTF8:      "invalid UTF-8",
	ErrCodePoint: "code point not allowed",
	ErrPunycode:  "invalid Punycode",
	ErrASCIIOnly: "Punycode encodes only ASCII",
	ErrNFC:       "Punycode encodes text that is not in NFC",
	ErrPrefix:    "Punycode encodes another xn-- label",
	ErrMark:      "label begins with a combining mark",
	ErrJoiner:    "joiner out of context",
	ErrBidi:      "bidi rule violated",
	ErrOverflow:  "label too long",
	ErrHyphens:   "misplaced hyphen",
	ErrSTD3:      "not a letter, digit or hyphen",
	ErrEmpty:     "empty label",
	ErrLength:    "too long for DNS",
}

// Error returns a description. It contains no part of the domain.
func (e Error) Error() string {
	if e == 0 || e >= numErrors {
		return "idna: unknown error"
	}
	return "idna: " + errorTexts[e]
}

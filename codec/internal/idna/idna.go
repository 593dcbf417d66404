package idna

import (
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/internal/punycode"
)

// maxLabel is the number of mapped code points from which on a label is too long. A byte of
// U+FDFA maps to six code points, and the scratch of a call takes eight bytes for each.
const maxLabel = 1 << 20

// scratchLen is the number of code points for which a call keeps its scratch on
// the stack.
const scratchLen = 256

// AppendASCII appends the ASCII form of domain, which must be percent-decoded,
// and returns the extended slice. It is the "domain to ASCII" of the URL
// Standard with beStrict false. An ASCII domain is lower-cased and accepted,
// even if it is invalid by UTS 46; any other domain must pass UTS 46 ToASCII.
// AppendASCII does not check for empty results, forbidden domain code points or
// numbers: the caller has to.
//
// On failure it returns dst unchanged and an [Error]. It may overwrite the
// bytes between the length and the capacity of dst. domain is not kept, and
// must not overlap those bytes.
func AppendASCII(dst, domain []byte) ([]byte, error) {
	if ascii.Only(domain) {
		return ascii.AppendLower(dst, domain), nil
	}
	out, _, err := process(dst, domain, false)
	if err != 0 {
		return dst, err
	}
	return out, nil
}

// Strict reports whether domain to ASCII with beStrict true succeeds. If it
// does, Strict returns -1 and nil. Otherwise it returns an [Error] and the byte
// offset in domain of the first label that fails, or 0 if the whole domain is
// empty or too long. A domain that ends in a dot has an empty root label and
// fails (UTS 46, section 4.2).
func Strict(domain []byte) (at int, err error) {
	var buf [scratchLen]byte
	out, at, e := process(buf[:0], domain, true)
	switch {
	case e != 0:
		return at, e
	case len(out) > 253:
		return 0, ErrLength
	}
	return -1, nil
}

// Valid reports whether UTS 46 ToASCII, with the flags of AppendASCII,
// succeeds. For an ASCII domain it finds what AppendASCII does not check:
// labels that begin with xn-- but are invalid, and violations of the Bidi Rule.
// It returns the same results as Strict.
func Valid(domain []byte) (at int, err error) {
	var buf [scratchLen]byte
	if _, at, e := process(buf[:0], domain, false); e != 0 {
		return at, e
	}
	return -1, nil
}

// A processor applies the processing of UTS 46, section 4, and ToASCII, section
// 4.2, to one domain. Both work label by label: only the code points that
// labelEnd knows map to a full stop, and NFC composes nothing across a full
// stop.
//
// A processor must not store slices: storing one through a pointer would move
// it, and the scratch of the callers, to the heap.
type processor struct {
	strict bool
	at     int   // offset of the first label that failed
	err    Error // error of the first label that failed; 0 if none did

	// Criterion 9 of section 4.1 concerns all labels of a domain that contains
	// right-to-left characters.
	rtl    bool
	bidiAt int // offset of the first label that violates the Bidi Rule; -1 if none

	mapped, spare [scratchLen]rune // scratch of one label
}

// process appends the ASCII form of domain. If a label fails, it returns the
// offset of the first such label, and why.
func process(dst, domain []byte, strict bool) (out []byte, at int, err Error) {
	p := processor{strict: strict, bidiAt: -1}
	for {
		end, sep := labelEnd(domain[at:])
		start := len(dst)
		dst, err = p.convert(dst, domain[at:at+end], at)
		if err == 0 && strict {
			err = checkLength(len(dst) - start)
		}
		if err != 0 && p.err == 0 {
			p.at, p.err = at, err
		}
		if sep == 0 {
			break
		}
		dst = append(dst, '.')
		at += end + sep
	}
	if p.rtl && p.bidiAt >= 0 && (p.err == 0 || p.bidiAt < p.at) {
		return dst, p.bidiAt, ErrBidi
	}
	return dst, p.at, p.err
}

// labelEnd returns the lengths of the first label of s and of its separator,
// which is 0 at the end. The separators are the full stop and the characters
// that map to it: U+3002, U+FF0E, U+FF61.
func labelEnd(s []byte) (end, sep int) {
	for i, c := range s {
		switch {
		case c == '.':
			return i, 1
		case c < 0xE3 || len(s)-i < 3:
		case c == 0xE3 && s[i+1] == 0x80 && s[i+2] == 0x82,
			c == 0xEF && s[i+1] == 0xBC && s[i+2] == 0x8E,
			c == 0xEF && s[i+1] == 0xBD && s[i+2] == 0xA1:
			return i, 3
		}
	}
	return len(s), 0
}

// convert appends the ASCII form of the label src, which begins at offset at of
// the domain.
func (p *processor) convert(dst, src []byte, at int) ([]byte, Error) {
	start := len(dst)
	if ascii.Only(src) && !isALabel(src) {
		dst = ascii.AppendLower(dst, src)
		noteBidi(p, dst[start:], at)
		return dst, checkASCII(dst[start:], p.strict)
	}
	label, err := appendMapped(p.mapped[:0], src)
	if err != 0 {
		return dst, err
	}
	unused := p.spare[:0]
	if !quickNFC(label) {
		label, unused = appendNFC(p.spare[:0], label), p.mapped[:0]
	}
	if isALabel(label) {
		return appendRunes(dst, label), p.checkALabel(label, unused, at)
	}
	noteBidi(p, label, at)
	if err := checkLabel(label, p.strict); err != 0 {
		return dst, err
	}
	if ascii.Only(label) {
		return appendRunes(dst, label), 0
	}
	if p.rtl && p.bidiAt >= 0 {
		return dst, ErrBidi // the domain fails, so its Punycode is not needed
	}
	dst, ok := punycode.Append(append(dst, "xn--"...), label, punycode.MaxDelta)
	if !ok {
		return dst, ErrOverflow
	}
	return dst, 0
}

// checkALabel checks a mapped and normalized label with the prefix xn--. The
// label is its own ASCII form: each text has only one Punycode, so encoding the
// decoded text would give the same label.
func (p *processor) checkALabel(label, scratch []rune, at int) Error {
	text, err := decodeALabel(scratch, label)
	if err != 0 {
		return err
	}
	noteBidi(p, text, at)
	if err := checkLabel(text, p.strict); err != 0 {
		return err
	}
	if !quickNFC(text) && !isNFC(text) {
		return ErrNFC
	}
	return 0
}

// noteBidi records the properties of a label that criterion 9 needs.
func noteBidi[C byte | rune](p *processor, label []C, at int) {
	rtl, ok := bidiRule(label)
	p.rtl = p.rtl || rtl
	if !ok && p.bidiAt < 0 {
		p.bidiAt = at
	}
}

// decodeALabel decodes a lower-case xn-- label and appends the text: UTS 46,
// section 4, step 4.
func decodeALabel(dst, label []rune) ([]rune, Error) {
	dst, ok := punycode.AppendDecoded(dst, label[len("xn--"):])
	switch {
	case !ok || !ascii.Only(label):
		return dst, ErrPunycode
	case ascii.Only(dst):
		return dst, ErrASCIIOnly
	}
	return dst, 0
}

// appendMapped appends src mapped as in UTS 46, section 4, step 1. Disallowed
// code points stay, as the step says: the label is checked after normalization.
func appendMapped(dst []rune, src []byte) ([]rune, Error) {
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		if r == utf8.RuneError && n == 1 {
			return dst, ErrUTF8
		}
		if len(dst) > maxLabel {
			return dst, ErrOverflow
		}
		src = src[n:]
		switch v := mapValue(r); v {
		case valid, disallowed:
			dst = append(dst, r)
		case ignored:
		default:
			for _, to := range mapped(v) {
				dst = append(dst, to)
			}
		}
	}
	return dst, 0
}

// isALabel reports whether s has the prefix xn--, in any case.
func isALabel[C byte | rune](s []C) bool {
	return len(s) >= 4 && s[0]|0x20 == 'x' && s[1]|0x20 == 'n' && s[2] == '-' && s[3] == '-'
}

// appendRunes appends an ASCII label. Any other label has already failed, and
// the bytes appended for it are not used.
func appendRunes(dst []byte, label []rune) []byte {
	for _, r := range label {
		dst = append(dst, byte(r))
	}
	return dst
}

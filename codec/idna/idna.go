package idna

import "unicode/utf8"

// scratchLen is the number of code points for which the scratch of a call is on the stack.
const scratchLen = 256

// AppendASCII appends the ASCII form of domain, which is already percent-decoded, and returns the extended slice: the "domain to
// ASCII" of the URL Standard with beStrict false. A domain that is ASCII is lower-cased and accepted whatever UTS 46 says of it;
// any other must pass UTS 46 ToASCII. It does not look for empty results, forbidden domain code points or numbers: the caller does.
//
// On failure it returns dst as it came, and an [Error]. The bytes between the length and the capacity of dst may be written to.
// domain is not kept, and must not overlap them.
func AppendASCII(dst, domain []byte) ([]byte, error) {
	if isASCII(domain) {
		return appendLower(dst, domain), nil
	}
	p := process(dst, domain, false)
	if p.err != 0 {
		return dst, p.err
	}
	return p.dst, nil
}

// Strict reports whether domain to ASCII with beStrict true would succeed. If so it returns -1 and nil. If not it returns the byte
// offset in domain where the first label that fails begins, 0 if it is the whole domain that is empty or too long, and an [Error].
// The root label of a domain that ends in a dot is empty, and fails: UTS 46 section 4.2.
func Strict(domain []byte) (at int, err error) {
	var buf [scratchLen]byte
	p := process(buf[:0], domain, true)
	if p.err == 0 && len(p.dst) > 253 {
		return 0, ErrLength
	}
	if p.err != 0 {
		return p.at, p.err
	}
	return -1, nil
}

// A processor carries one domain through the processing of UTS 46, section 4, and ToASCII, section 4.2. Both work label by label:
// only the code points that labelEnd knows map to a full stop, and NFC takes nothing across one.
type processor struct {
	dst    []byte
	strict bool
	at     int   // where the first label that failed begins
	err    Error // what failed there, 0 if nothing

	// Criterion 9 of section 4.1 concerns all labels if there is one with right-to-left characters among them.
	rtl    bool
	bidiAt int // where the first label that violates the Bidi Rule begins, -1 if none

	label, spare []rune // scratch
}

func process(dst, domain []byte, strict bool) processor {
	var label, spare [scratchLen]rune
	p := processor{dst: dst, strict: strict, bidiAt: -1, label: label[:0], spare: spare[:0]}
	for at := 0; ; {
		end, sep := labelEnd(domain[at:])
		if err := p.convert(domain[at:at+end], at); err != 0 && p.err == 0 {
			p.at, p.err = at, err
		}
		if sep == 0 {
			break
		}
		p.dst = append(p.dst, '.')
		at += end + sep
	}
	if p.rtl && p.bidiAt >= 0 && (p.err == 0 || p.bidiAt < p.at) {
		p.at, p.err = p.bidiAt, ErrBidi
	}
	p.label, p.spare = nil, nil
	return p
}

// labelEnd returns the length of the first label of s and of the separator behind it, 0 if there is none. The separators are the
// full stop and the characters that map to it: U+3002, U+FF0E, U+FF61.
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

// convert appends the ASCII form of one label that begins at the offset at of the domain.
func (p *processor) convert(src []byte, at int) Error {
	start := len(p.dst)
	err := p.convertLabel(src, at)
	if err == 0 && p.strict {
		err = checkLength(len(p.dst) - start)
	}
	return err
}

func (p *processor) convertLabel(src []byte, at int) Error {
	if isASCII(src) && !isALabel(src) {
		start := len(p.dst)
		p.dst = appendLower(p.dst, src)
		noteBidi(p, p.dst[start:], at)
		return checkASCII(p.dst[start:], p.strict)
	}
	var ok bool
	if p.label, ok = appendMapped(p.label[:0], src); !ok {
		return ErrUTF8
	}
	if !quickNFC(p.label) {
		p.spare = appendNFC(p.spare[:0], p.label)
		p.label, p.spare = p.spare, p.label
	}
	if isALabel(p.label) {
		return p.convertALabel(at)
	}
	noteBidi(p, p.label, at)
	if err := checkLabel(p.label, p.strict); err != 0 {
		return err
	}
	if isASCII(p.label) {
		p.dst = appendRunes(p.dst, p.label)
		return 0
	}
	p.dst = append(p.dst, "xn--"...)
	if p.dst, ok = appendPunycode(p.dst, p.label); !ok {
		return ErrOverflow
	}
	return 0
}

// convertALabel checks the mapped and normalized label that begins with xn-- and appends it as it is: Punycode has one form only
// for each text, so encoding what it stands for would give the same.
func (p *processor) convertALabel(at int) Error {
	decoded, err := decodeALabel(p.spare[:0], p.label)
	p.spare = decoded
	if err != 0 {
		return err
	}
	noteBidi(p, decoded, at)
	if err := checkLabel(decoded, p.strict); err != 0 {
		return err
	}
	if !quickNFC(decoded) && !isNFC(decoded) {
		return ErrNFC
	}
	p.dst = appendRunes(p.dst, p.label)
	return 0
}

// noteBidi keeps what criterion 9 needs to know of a label.
func noteBidi[C byte | rune](p *processor, label []C, at int) {
	rtl, ok := bidiRule(label)
	p.rtl = p.rtl || rtl
	if !ok && p.bidiAt < 0 {
		p.bidiAt = at
	}
}

// decodeALabel appends what a label in lower case that begins with xn-- stands for: UTS 46, section 4, step 4.
func decodeALabel(dst, label []rune) ([]rune, Error) {
	dst, ok := appendUnpunycode(dst, label[len("xn--"):])
	switch {
	case !ok || !isASCII(label):
		return dst, ErrPunycode
	case isASCII(dst):
		return dst, ErrASCIIOnly
	}
	return dst, 0
}

// appendMapped appends src mapped as in UTS 46, section 4, step 1. Code points that are disallowed stay, as the step says: the
// label is checked after normalization. It reports false if src is not UTF-8.
func appendMapped(dst []rune, src []byte) ([]rune, bool) {
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		if r == utf8.RuneError && n == 1 {
			return dst, false
		}
		src = src[n:]
		switch v := mapValue(r); v {
		case valid, disallowed:
			dst = append(dst, r)
		case ignored:
		default:
			for _, to := range mapText[mapOffsets[v-firstMapped]:mapOffsets[v-firstMapped+1]] {
				dst = append(dst, to)
			}
		}
	}
	return dst, true
}

func isASCII[C byte | rune](s []C) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isALabel reports whether s begins with xn--, in any case.
func isALabel[C byte | rune](s []C) bool {
	return len(s) >= 4 && s[0]|0x20 == 'x' && s[1]|0x20 == 'n' && s[2] == '-' && s[3] == '-'
}

func appendLower(dst, src []byte) []byte {
	start := len(dst)
	dst = append(dst, src...)
	for i, c := range dst[start:] {
		if 'A' <= c && c <= 'Z' {
			dst[start+i] = c + 'a' - 'A'
		}
	}
	return dst
}

// appendRunes appends a label that is ASCII.
func appendRunes(dst []byte, label []rune) []byte {
	for _, r := range label {
		dst = append(dst, byte(r))
	}
	return dst
}

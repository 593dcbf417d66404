package percent

import (
	"bytes"
	"fmt"
)

// Kind is a kind of defect of an escape. Not covered by the stability page.
type Kind uint8

// Kinds of defects. All except the first three concern valid escapes.
// Not covered by the stability page.
const (
	kindTruncated      Kind = iota // a malformed '%' with at most one hexadecimal digit between it and the end of the component
	kindNonHex                     // any other malformed '%': not followed by two hexadecimal digits (RFC 3986 §2.1)
	kindPercentU                   // a malformed '%' followed by 'u' or 'U' and four hexadecimal digits, which no standard defines
	kindNUL                        // %00
	kindControl                    // %01 to %1F and %7F
	kindBadUTF8                    // not UTF-8 (RFC 3629 §4): a lone continuation byte, a short sequence, or a byte or code point out of range
	kindOverlongUTF8               // a complete sequence longer than its code point needs: %C0%AF
	kindSurrogateUTF8              // a complete sequence for a surrogate, U+D800 to U+DFFF: %ED%A0%80
	kindNoncharacter               // U+FDD0 to U+FDEF, or U+xxFFFE and U+xxFFFF
	kindDoubleEncoded              // %25 followed by two hexadecimal digits: decoding yields another escape
	EncodedTraversal               // a '..' segment next to an escaped '/' or '\'; meaningful only in paths
	kindLowerHex                   // an escape with a lower-case digit; its normal form is upper case (RFC 3986 §2.1)
	kindNeedlessEscape             // an escaped unreserved byte (RFC 3986 §2.3)
	numKinds           = iota
)

var kindNames = [numKinds]string{
	"truncated", "non-hex", "percent-u", "nul", "control",
	"bad-utf8", "overlong-utf8", "surrogate-utf8", "noncharacter",
	"double-encoded", "encoded-traversal", "lower-hex", "needless-escape",
}

// String returns the name of k as it appears in output.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Kinds is a set of kinds. The zero Kinds is empty. Not covered by the stability page.
type Kinds uint32

// AllKinds is the set of all kinds. Not covered by the stability page.
const AllKinds Kinds = 1<<numKinds - 1

// has reports whether k is in ks.
func (ks Kinds) has(k Kind) bool { return ks>>k&1 != 0 }

// Bits of a [Defect] that is a double escape. They describe the byte that
// repeated decoding yields.
const (
	WouldBeUTF8  uint8 = 1 << 6 // the byte is ASCII, or part of valid UTF-8 together with adjacent double escapes. Not covered by the stability page.
	WouldDelimit uint8 = 1 << 7 // the byte is reserved (RFC 3986 §2.2) or '\'. Not covered by the stability page.
)

// Defect is a defect of an escape, or another reported property, such as a
// lower-case digit. Not covered by the stability page.
type Defect struct {
	At    uint32 // offset in the component in bytes: of the '%', or of the first dot of an EncodedTraversal
	Kind  Kind
	Depth uint8 // kindDoubleEncoded: how many decodings still leave an escape (1 for %2541); 255 means at least 255. Otherwise 0
	Bits  uint8 // kindDoubleEncoded: WouldBeUTF8, WouldDelimit. Otherwise 0
}

// AppendDefectsOf appends the defects of the component src that are of a kind
// in want to dst, but at most limit of them. It returns the extended slice and
// the set of all kinds of defects in src, regardless of want and limit. The
// defects are sorted by At, then by Kind. A component without '%' is free of
// defects.
//
// UTF-8 is checked across adjacent escapes. An ill-formed sequence is one
// defect, at its first '%'. [EncodedTraversal] is reported in any component;
// ignore it outside paths. src must be shorter than 4 GiB. AppendDefectsOf does
// not modify or retain it. Not covered by the stability page.
func AppendDefectsOf(dst []Defect, src []byte, want Kinds, limit int) ([]Defect, Kinds) {
	i := bytes.IndexByte(src, '%')
	if i < 0 {
		return dst, 0
	}
	s := scanner{dst: dst, src: src, want: want, room: limit}
	// Only the last two of the bytes before the first '%' can be dots next to an
	// escape.
	for i = max(0, i-2); i < len(src); {
		if classes[src[i]]&isMark == 0 {
			i += indexClass(src[i:], isMark)
			continue
		}
		i = s.step(i)
	}
	return s.dst, s.kinds
}

// scanner finds defects from left to right.
type scanner struct {
	dst   []Defect
	src   []byte
	want  Kinds // kinds of defects to append
	room  int   // number of defects that can still be appended
	kinds Kinds

	doubles Doubles
}

func (s *scanner) report(d Defect) {
	s.kinds |= 1 << d.Kind
	if s.room > 0 && s.want.has(d.Kind) {
		s.dst = append(s.dst, d)
		s.room--
	}
}

func (s *scanner) reportAt(i int, k Kind) { s.report(Defect{At: uint32(i), Kind: k}) }

// step checks the '%' or '.' at i and returns the offset of the next byte to
// check.
func (s *scanner) step(i int) int {
	switch {
	case s.src[i] != '%':
		if IsEncodedTraversal(s.src, i) {
			s.reportAt(i, EncodedTraversal)
		}
		return i + 1
	case !isTriplet(s.src, i):
		s.reportAt(i, malformedKind(s.src, i))
		return i + 1
	}
	b := tripletByte(s.src, i)
	if b >= 0x80 {
		return s.nonASCII(i)
	}
	s.ascii(i, b)
	s.lowerHex(i)
	if IsUnreserved(b) {
		s.reportAt(i, kindNeedlessEscape)
	}
	return i + 3
}

// ascii checks the byte b, decoded from the escape at i.
func (s *scanner) ascii(i int, b byte) {
	switch {
	case b == '%':
		if d, ok := s.doubles.Defect(s.src, i); ok {
			s.report(d)
		}
	case b == '.':
		if IsEncodedTraversal(s.src, i) {
			s.reportAt(i, EncodedTraversal)
		}
	case b == 0:
		s.reportAt(i, kindNUL)
	case b < 0x20 || b == 0x7F:
		s.reportAt(i, kindControl)
	}
}

// nonASCII checks the sequence of escaped UTF-8 at i and returns where it ends.
func (s *scanner) nonASCII(i int) int {
	n, k := Sequence(s.src, i)
	if k != WellFormed {
		s.reportAt(i, k)
	}
	for range n {
		s.lowerHex(i)
		i += 3
	}
	return i
}

func (s *scanner) lowerHex(i int) {
	if (classes[s.src[i+1]]|classes[s.src[i+2]])&isLowerHex != 0 {
		s.reportAt(i, kindLowerHex)
	}
}

// malformedKind returns the kind of the malformed '%' at src[i].
func malformedKind(src []byte, i int) Kind {
	rest := src[i+1:]
	switch {
	case len(rest) == 0 || len(rest) == 1 && IsHex(rest[0]):
		return kindTruncated
	case len(rest) >= 5 && rest[0]|0x20 == 'u' && allHex(rest[1:5]):
		return kindPercentU
	}
	return kindNonHex
}

func allHex(b []byte) bool {
	for _, c := range b {
		if !IsHex(c) {
			return false
		}
	}
	return true
}

// IsEncodedTraversal reports whether a '..' at src[i] is a whole segment, and
// at least one of the separators next to it is escaped: whether it is an
// [EncodedTraversal]. Each dot can be escaped. The ends of src count as raw
// separators. Not covered by the stability page.
func IsEncodedTraversal(src []byte, i int) bool {
	left := separatorBefore(src, i)
	if left == noSeparator {
		return false
	}
	j := i
	for range 2 {
		n := dotLen(src, j)
		if n == 0 {
			return false
		}
		j += n
	}
	right := separatorAt(src, j)
	return right == escapedSeparator || right == rawSeparator && left == escapedSeparator
}

// dotLen returns the length of the raw or escaped dot at src[i], or 0.
func dotLen(src []byte, i int) int {
	if i < len(src) && src[i] == '.' {
		return 1
	}
	if i+2 < len(src) && src[i] == '%' && src[i+1] == '2' && src[i+2]|0x20 == 'e' {
		return 3
	}
	return 0
}

// separator describes what is next to a possible dot segment. The ends of the
// component count as raw separators.
type separator uint8

const (
	noSeparator separator = iota
	rawSeparator
	escapedSeparator
)

func separatorAt(src []byte, i int) separator {
	switch {
	case i == len(src) || src[i] == '/' || src[i] == '\\':
		return rawSeparator
	case i+2 < len(src) && isEscapedSeparator(src[i:i+3]):
		return escapedSeparator
	}
	return noSeparator
}

func separatorBefore(src []byte, i int) separator {
	switch {
	case i == 0 || src[i-1] == '/' || src[i-1] == '\\':
		return rawSeparator
	case i >= 3 && isEscapedSeparator(src[i-3:i]):
		return escapedSeparator
	}
	return noSeparator
}

// isEscapedSeparator reports whether e is %2F or %5C in either case.
func isEscapedSeparator(e []byte) bool {
	return e[0] == '%' && (e[1] == '2' && e[2]|0x20 == 'f' || e[1] == '5' && e[2]|0x20 == 'c')
}

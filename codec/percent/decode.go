package percent

import (
	"bytes"
	"fmt"
)

// AppendDecode appends the decoded form of src to dst and returns the extended
// slice. It decodes each escape exactly once (RFC 3986 §2.4) and keeps a
// malformed '%' (URL Standard §1.3, percent-decode).
//
// Split a component at its delimiters before you decode the parts, because the
// result can contain any byte. AppendDecode does not modify or retain src,
// which must not overlap dst[len(dst):cap(dst)].
func AppendDecode(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '%')
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(dst, src[:i]...)
		// Escapes usually come in runs, so try the next byte before searching.
		for src = src[i:]; len(src) > 0 && src[0] == '%'; {
			if isTriplet(src, 0) {
				dst = append(dst, tripletByte(src, 0))
				src = src[3:]
			} else {
				dst = append(dst, '%')
				src = src[1:]
			}
		}
	}
}

// AppendDecodeForm is like [AppendDecode], for a name or value of
// application/x-www-form-urlencoded text. It replaces '+' by a space and only
// then decodes escapes, so %2B becomes a plus sign (URL Standard §5.1). Before
// the call, split the text at '&' and at the first '=' of each field.
func AppendDecodeForm(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '+')
		if i < 0 {
			return AppendDecode(dst, src)
		}
		// An escape contains no '+', so the text between can be decoded
		// separately.
		dst = append(AppendDecode(dst, src[:i]), ' ')
		src = src[i+1:]
	}
}

// MalformedError reports a malformed '%' in a text that must not have one.
type MalformedError struct {
	Offset int  // offset of the '%' in bytes
	Kind   Kind // one of the first three kinds: "truncated", "non-hex" or "percent-u"
}

// Error returns the offset and the kind. It does not quote the text.
func (e *MalformedError) Error() string {
	return fmt.Sprintf("malformed percent-encoding at offset %d: %s", e.Offset, e.Kind)
}

// Check returns a [*MalformedError] for the first malformed '%' of src, or nil
// if every '%' starts an escape (RFC 3986 §2.1).
func Check(src []byte) error {
	if i := IndexMalformed(src); i >= 0 {
		return &MalformedError{Offset: i, Kind: malformedKind(src, i)}
	}
	return nil
}

// IndexMalformed returns the offset of the first malformed '%' of src, or -1.
// Not covered by the stability page.
func IndexMalformed(src []byte) int {
	for i := 0; i < len(src); {
		next := bytes.IndexByte(src[i:], '%')
		if next < 0 {
			break
		}
		i += next
		if !isTriplet(src, i) {
			return i
		}
		i += 3
	}
	return -1
}

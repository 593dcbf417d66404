package percent

import (
	"bytes"
	"fmt"
)

// AppendDecode appends the bytes that the text src stands for to dst and returns the extended slice.
// Each escape is decoded exactly once (RFC 3986 §2.4), a stray '%' stays as it is (URL Standard §1.3, percent-decode).
//
// Split a component at its delimiters before decoding the parts: the result can hold any byte.
// src is not changed or kept, and must not overlap dst[len(dst):cap(dst)].
func AppendDecode(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '%')
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(dst, src[:i]...)
		// Escapes come in runs: look for the next one where this one ends.
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

// AppendDecodeForm is [AppendDecode] for one name or value of application/x-www-form-urlencoded text: '+' becomes a space,
// then escapes are decoded, so %2B is a plus sign (URL Standard §5.1). Split at '&' and the first '=' before.
func AppendDecodeForm(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '+')
		if i < 0 {
			return AppendDecode(dst, src)
		}
		// A '+' is no part of an escape, so the pieces between can be decoded by themselves.
		dst = append(AppendDecode(dst, src[:i]), ' ')
		src = src[i+1:]
	}
}

// A MalformedError says that a text that must hold valid escapes only has a stray '%'.
type MalformedError struct {
	Offset int  // of the '%', in bytes
	Kind   Kind // Truncated, NonHex or PercentU
}

// Error names the offset and the kind, and nothing of the text.
func (e *MalformedError) Error() string {
	return fmt.Sprintf("bad escape at offset %d: %s", e.Offset, e.Kind)
}

// Check returns a [*MalformedError] for the first stray '%' of src, or nil if each '%' begins an escape (RFC 3986 §2.1).
func Check(src []byte) error {
	if i := IndexMalformed(src); i >= 0 {
		return &MalformedError{Offset: i, Kind: malformedKind(src, i)}
	}
	return nil
}

// IndexMalformed returns the offset of the first stray '%' of src, or -1.
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

package params

import (
	"github.com/urlfold/urlfold/codec/internal/ascii"
	"github.com/urlfold/urlfold/codec/percent"
)

// Classes of bytes in a field. ALPHA DIGIT * - . _ have none, because the
// serializer does not change them (URL Standard §5.2).
const (
	formOther uint8 = 1 << iota // needs a check: '%', or a byte that must be escaped
	formCoded                   // encodes another byte: '%' and '+'
)

var formClass = func() (t [256]uint8) {
	for i := range t {
		if percent.WHATWGForm.Has(byte(i)) {
			t[i] = formOther
		}
	}
	t['%'] |= formCoded
	t['+'] = formCoded
	return t
}()

// isCoded reports whether a name has bytes that stand for other bytes.
func isCoded(name []byte) bool {
	var class uint8
	for _, c := range name {
		class |= formClass[c]
	}
	return class&formCoded != 0
}

// appendForm appends a raw name or value in canonical form encoding (rule
// q-form), decoded and encoded once: ALPHA DIGIT * - . _ unchanged, space as
// '+', all other bytes as upper-case escapes (URL Standard §5.1 and §5.2).
// Bytes that are not valid UTF-8 are preserved.
func appendForm(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		from := i
		for i < len(raw) && formClass[raw[i]] == 0 {
			i++
		}
		dst = append(dst, raw[from:i]...)
		if i < len(raw) {
			var n int
			dst, n = appendFormByte(dst, raw[i:])
			i += n
		}
	}
	return dst
}

// appendFormByte implements appendForm for the first byte of raw, or the escape
// that raw starts with. It also returns the number of bytes read from raw.
func appendFormByte(dst, raw []byte) (_ []byte, n int) {
	c, n := ascii.Unescape(raw)
	if raw[0] == '+' {
		c = ' '
	}
	switch {
	case formClass[c] == 0:
		return append(dst, c), n
	case c == ' ':
		return append(dst, '+'), n
	}
	return percent.AppendEscape(dst, c), n
}

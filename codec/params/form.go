package params

import (
	"slices"

	"github.com/urlfold/urlfold/codec/percent"
)

// The classes of bytes in a field. ALPHA DIGIT * - . _ have none: the serializer writes them as they are (URL Standard §5.2).
const (
	formOther uint8 = 1 << iota // must be looked at: escapes, and what must become one
	formCoded                   // stands for another byte: '%' and '+'
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

// appendForm appends one raw name or value, decoded as a form and encoded again (rule q-form): ALPHA DIGIT * - . _ as
// they are, space as '+', all else as upper-case escapes (URL Standard §5.1 and §5.2). Bytes that are not UTF-8 stay.
func appendForm(dst, raw []byte) []byte {
	start := len(dst)
	dst = slices.Grow(dst, 3*len(raw))
	out, n := dst[start:start+3*len(raw)], 0
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case formClass[c] == 0:
			out[n] = c
			n++
			continue
		case c == '+':
			c = ' '
		case c == '%' && i+2 < len(raw) && percent.IsHex(raw[i+1]) && percent.IsHex(raw[i+2]):
			c = percent.Unhex(raw[i+1])<<4 | percent.Unhex(raw[i+2])
			i += 2
		}
		n += putForm(out[n:], c)
	}
	return dst[:start+n]
}

// putForm writes the byte c in form encoding to the beginning of out, and returns how many bytes that takes.
func putForm(out []byte, c byte) int {
	switch {
	case formClass[c] == 0:
		out[0] = c
	case c == ' ':
		out[0] = '+'
	default:
		out[0], out[1], out[2] = '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15]
		return 3
	}
	return 1
}

package params

import "github.com/urlfold/urlfold/codec/percent"

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

// isCoded reports whether a name has bytes that stand for others.
func isCoded(name []byte) bool {
	var class uint8
	for _, c := range name {
		class |= formClass[c]
	}
	return class&formCoded != 0
}

// appendForm appends one raw name or value, decoded as a form and encoded again (rule q-form): ALPHA DIGIT * - . _ as
// they are, space as '+', all else as upper-case escapes (URL Standard §5.1 and §5.2). Bytes that are not UTF-8 stay.
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

// appendFormByte is appendForm for the byte that raw begins with, or stands for with an escape. It returns the length of
// that in raw too.
func appendFormByte(dst, raw []byte) (_ []byte, n int) {
	c := raw[0]
	n = 1
	switch {
	case c == '+':
		c = ' '
	case c == '%' && len(raw) > 2 && percent.IsHex(raw[1]) && percent.IsHex(raw[2]):
		c = percent.Unhex(raw[1])<<4 | percent.Unhex(raw[2])
		n = 3
	}
	switch {
	case formClass[c] == 0:
		return append(dst, c), n
	case c == ' ':
		return append(dst, '+'), n
	}
	return append(dst, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15]), n
}

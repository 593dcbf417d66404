package percent

// AppendEncode appends the data src to dst as escaped text and returns the
// extended slice. It replaces each byte in s, and each '%', by an escape with
// upper-case digits. With [WHATWGForm] it replaces a space by '+' (URL Standard
// §5.2).
//
// src is data, in which '%' is a percent sign, so encoding twice escapes twice
// (RFC 3986 §2.4). AppendEncode does not modify or retain src, which must not
// overlap dst[len(dst):cap(dst)].
func AppendEncode(dst, src []byte, s ByteSet) []byte {
	mask := uint64(1)<<s&^1 | isPercent
	for {
		i := indexClass(src, mask)
		dst = append(dst, src[:i]...)
		if i == len(src) {
			return dst
		}
		if c := src[i]; c == ' ' && s == WHATWGForm {
			dst = append(dst, '+')
		} else {
			dst = AppendEscape(dst, c)
		}
		src = src[i+1:]
	}
}

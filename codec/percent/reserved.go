package percent

import "strings"

// AppendEncodeReserved is like [AppendEncode], but also escapes every reserved
// byte (gen-delims and sub-delims, RFC 3986 §2.2) that is not in delims. The
// result decodes to the same data. As part of a URL it is not equivalent,
// because an escaped reserved byte differs in meaning from the raw one (§2.2).
// AppendEncodeReserved does not modify or retain src, which must not overlap
// dst[len(dst):cap(dst)]. Not covered by the stability page.
func AppendEncodeReserved(dst, src []byte, s ByteSet, delims string) []byte {
	for _, c := range src {
		switch {
		case c == ' ' && s == WHATWGForm:
			dst = append(dst, '+')
		case c == '%' || s.Has(c) || IsReserved(c) && strings.IndexByte(delims, c) < 0:
			dst = AppendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Delimiters returns the reserved bytes that keep their purpose in the text of
// a component (see [Lookup]). In a path, "/" separates segments (RFC 3986
// §3.3). In userinfo, ":" separates the user from the password (§3.2.1). In a
// query, "&" and "=" separate pairs, and "+" is a space (URL Standard §5.1).
// The other components are data and have none. Not covered by the stability page.
func Delimiters(component string) string {
	switch component {
	case "path":
		return "/"
	case "userinfo":
		return ":"
	case "query":
		return "&=+"
	}
	return ""
}

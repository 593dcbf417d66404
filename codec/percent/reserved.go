package percent

import "strings"

// AppendEncodeReserved is like [AppendEncode], but also escapes every reserved
// byte (gen-delims and sub-delims, RFC 3986 §2.2) that is not in delims. The
// result decodes to the same data. As part of a URL it is not equivalent,
// because an escaped reserved byte differs in meaning from the raw one (§2.2).
// AppendEncodeReserved does not modify or retain src, which must not overlap
// dst[len(dst):cap(dst)].
func AppendEncodeReserved(dst, src []byte, s Set, delims string) []byte {
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
// The other components are data and have none.
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

// Reserved returns the reserved bytes of RFC 3986 §2.2 in ascending order.
func Reserved() string {
	var b []byte
	for c := range 256 {
		if IsReserved(byte(c)) {
			b = append(b, byte(c))
		}
	}
	return string(b)
}

// ReservedChart shows what [AppendEncodeReserved] writes for each reserved byte
// in each component under one standard.
type ReservedChart struct {
	Standard string
	Columns  []string // components
	Rows     []ReservedRow
}

// ReservedRow is the row for one reserved byte.
type ReservedRow struct {
	Char  byte
	Class string   // gen-delim or sub-delim
	Cells []string // one per column: the escape, or the byte itself if it keeps its purpose
}

// NewReservedChart returns the chart for a standard (rfc3986, whatwg, rfc1738
// or form). It returns an error if the standard is unknown.
func NewReservedChart(standard string) (ReservedChart, error) {
	ch := ReservedChart{Standard: standard, Columns: Components(standard)}
	if ch.Columns == nil {
		return ReservedChart{}, errUnknownStandard(standard)
	}
	for _, c := range []byte(Reserved()) {
		row := ReservedRow{Char: c, Class: class3986(c)}
		for _, component := range ch.Columns {
			set, err := Lookup(standard, component)
			if err != nil {
				return ReservedChart{}, err
			}
			row.Cells = append(row.Cells, string(AppendEncodeReserved(nil, []byte{c}, set, Delimiters(component))))
		}
		ch.Rows = append(ch.Rows, row)
	}
	return ch, nil
}

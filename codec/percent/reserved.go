package percent

import "strings"

// AppendEncodeReserved is [AppendEncode] for data of which every reserved byte (RFC 3986 §2.2: gen-delims and sub-delims)
// becomes an escape too, except the bytes in delims. The result decodes to the same data as that of AppendEncode; as a URL
// it differs, because an escaped reserved byte is not equivalent to the raw one (§2.2). src is not changed or kept, and
// must not overlap dst[len(dst):cap(dst)].
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

// Delimiters returns the reserved bytes that keep their purpose in text for a component of that name (see [Lookup]): "/"
// separates the segments of a path (RFC 3986 §3.3), ":" the user from the password (§3.2.1), and in a query "&" and "="
// separate pairs and "+" is a space (URL Standard §5.1). The other components are data and have none.
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

// A ReservedChart shows what [AppendEncodeReserved] writes for each reserved byte in each component of one standard.
type ReservedChart struct {
	Standard string
	Columns  []string // components
	Rows     []ReservedRow
}

// A ReservedRow is the row of one reserved byte.
type ReservedRow struct {
	Char  byte
	Class string   // gen-delim or sub-delim
	Cells []string // one for each column: the escape, or the byte itself where it keeps its purpose
}

// NewReservedChart returns the chart of a standard (rfc3986, whatwg, rfc1738 or form). It fails if the standard is unknown.
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

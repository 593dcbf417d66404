package escapechart

import "github.com/urlfold/urlfold/codec/percent"

// reserved returns the reserved bytes of RFC 3986 §2.2 in ascending order.
func reserved() string {
	var b []byte
	for c := range 256 {
		if percent.IsReserved(byte(c)) {
			b = append(b, byte(c))
		}
	}
	return string(b)
}

// Reserved shows what [percent.AppendEncodeReserved] writes for each reserved byte
// in each component under one standard.
type Reserved struct {
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

// NewReserved returns the chart for a standard (rfc3986, whatwg, rfc1738
// or form). It returns an error if the standard is unknown.
func NewReserved(standard string) (Reserved, error) {
	ch := Reserved{Standard: standard, Columns: percent.Components(standard)}
	if ch.Columns == nil {
		return Reserved{}, errUnknown(standard)
	}
	for _, c := range []byte(reserved()) {
		row := ReservedRow{Char: c, Class: class3986(c)}
		for _, component := range ch.Columns {
			set, err := percent.Lookup(standard, component)
			if err != nil {
				return Reserved{}, err
			}
			row.Cells = append(row.Cells, string(percent.AppendEncodeReserved(nil, []byte{c}, set, percent.Delimiters(component))))
		}
		ch.Rows = append(ch.Rows, row)
	}
	return ch, nil
}

package locate

import "bytes"

// AddNamedAttr adds an attribute of rec that is in the field s. unit is the
// unit of a duration: see Attr.Unit.
func (f *Found) AddNamedAttr(rec []byte, id AttrID, unit int8, s Span, d *Dialect) {
	a := Attr{Span: s, Dialect: d, Unit: unit}
	text := s.In(rec)
	switch id {
	case AttrTime:
		if isClock(text) { // the date is in another field
			return
		}
		if len(text) > 2 && text[0] == '[' && text[len(text)-1] == ']' {
			a.Span = Span{s.Start + 1, s.End - 1}
		}
	case AttrClient:
		if i := bytes.IndexByte(text, ','); i > 0 { // the first address of X-Forwarded-For is the client
			a.End = s.Start + i
		}
	case AttrDuration:
		if !a.trimUnit(text) {
			return
		}
	case AttrStatus:
		if !AllDigits(text) { // code=H12 is an error of Heroku
			return
		}
	default:
	}
	f.AddAttr(id, a)
}

// isClock reports whether text is the time of day.
func isClock(text []byte) bool { return len(text) == len("10:00:00") && text[2] == ':' }

// NoUnit marks a duration that must state its unit.
const NoUnit = -1

// MixedUnits marks a duration in hours, minutes and seconds, such as 1h2m3.5s, 5m or 1h.
const MixedUnits = -3

// trimUnit takes the unit of a duration, such as ms, from the end of text. It
// returns false if neither text nor the field defines a unit.
func (a *Attr) trimUnit(text []byte) bool {
	if hasMixedUnits(text) {
		a.Unit = MixedUnits
		return true
	}
	for _, u := range durationUnits {
		if n := len(text) - len(u.name); n > 0 && string(text[n:]) == u.name && IsDigit(text[n-1]) {
			a.End, a.Unit = a.Start+n, u.unit
			return true
		}
	}
	return a.Unit != NoUnit
}

// hasMixedUnits reports whether text ends like a duration with MixedUnits.
func hasMixedUnits(text []byte) bool {
	n := len(text)
	if n < len("1h") {
		return false
	}
	switch text[n-1] {
	case 's':
		return bytes.ContainsAny(text[:n-2], "hm") // not the m of ms
	case 'm', 'h':
		return IsDigit(text[n-2])
	}
	return false
}

// durationUnits are the units that Go and others write after a duration.
var durationUnits = []struct {
	name string
	unit int8
}{{"ms", 3}, {"us", 6}, {"\u00B5s", 6}, {"\u03BCs", 6}, {"ns", 9}, {"s", 0}}

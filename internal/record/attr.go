package record

import (
	"bytes"
	"strconv"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// ofAttrs is the set of fields that show attributes. They are in the order of
// the attributes.
const ofAttrs fieldSet = 1<<(fRequestID+1) - 1<<fTime

// canLack is the set of fields that the records of a format can lack: the attributes, and
// the method.
const canLack = ofAttrs | 1<<fMethod

// attrOf returns the attribute that a field of canLack shows.
func attrOf(f fieldID) locate.AttrID {
	if f == fMethod {
		return locate.AttrMethod
	}
	return locate.AttrID(f - fTime)
}

// attr returns a field that shows an attribute, and whether the record has it.
// The result is valid until the next call.
func (v *values) attr(f fieldID, rec []byte) ([]byte, bool) {
	if f == fVHost {
		return v.vhost(rec)
	}
	a := v.n.found.Attr(attrOf(f), rec)
	if a == nil {
		return nil, false
	}
	return v.decoded(f, a, rec)
}

// decoded returns the value of the field f, which shows a, and whether the
// text of a is a value of the field.
func (v *values) decoded(f fieldID, a *locate.Attr, rec []byte) ([]byte, bool) {
	text, ok := a.In(rec), false
	switch f {
	case fStatus: // servers also write 0, 000, 99 or -1
		return text, len(text) == len("200") && text[0]-'1' < 5 && locate.AllDigits(text)
	case fBytes:
		return text, locate.AllDigits(text) && (text[0] != '0' || len(text) == 1)
	case fTime:
		if v.key, ok = v.minute.appendTime(v.key[:0], text); ok {
			return v.key, true
		}
		if v.key, ok = appendTime(v.key[:0], text, a.Clock.In(rec), v.job.zone, v.job.year); ok {
			v.minute.remember(text, v.key)
		}
		return v.key, ok
	case fDuration:
		if a.Sum {
			v.key, ok = appendSum(v.key[:0], text)
			return v.key, ok
		}
		if a.Unit == locate.MixedUnits {
			v.key, ok = appendMixed(v.key[:0], text)
			return v.key, ok
		}
		v.key, ok = appendSeconds(v.key[:0], text, int(a.Unit))
		return v.key, ok
	case fClient:
		return v.Shown(locate.WithoutPort(text)), true
	}
	text, v.runs, ok = a.Dialect.Unescape(v.key, text, v.runs)
	if ok {
		v.key = text
	}
	if v.job.redact {
		where := inText
		if f == fReferer {
			where = inPath
		}
		text = v.red.hideIn(text, where)
	}
	return text, true
}

// vhost returns the host that the record names for the request, without a port.
func (v *values) vhost(rec []byte) ([]byte, bool) {
	if a := v.n.found.Attr(locate.AttrVHost, rec); a != nil {
		return v.Shown(locate.WithoutPort(a.In(rec))), true
	}
	h := requestHost(v.n.found, rec)
	return v.Shown(locate.WithoutPort(h)), h != nil
}

// appendSum appends the sum of decimal numbers that are separated by spaces. It
// returns false if a number is negative, which means unknown, or has more than
// MaxDecimal digits before or after the point.
func appendSum(dst, text []byte) ([]byte, bool) {
	sum := int64(0)
	for len(text) > 0 {
		end := locate.WordEnd(text, 0)
		whole, fraction, hasPoint := bytes.Cut(text[:end], []byte("."))
		n, ok := locate.Decimal(whole)
		if !ok || hasPoint && !locate.AllDigits(fraction) || len(fraction) > locate.MaxDecimal {
			return dst, false
		}
		for i := range locate.MaxDecimal {
			n *= 10
			if i < len(fraction) {
				n += int64(fraction[i] - '0')
			}
		}
		sum += n
		text = text[min(end+1, len(text)):]
	}
	var scratch [20]byte
	return appendSeconds(dst, strconv.AppendInt(scratch[:0], sum, 10), locate.MaxDecimal)
}

// appendMixed appends a duration with MixedUnits as a decimal number of seconds. Each of
// hours, minutes and seconds is optional. It returns false if text is no such duration,
// or if an element has more than MaxDecimal digits before the point.
func appendMixed(dst, text []byte) ([]byte, bool) {
	sum := int64(0)
	for _, u := range [...]struct {
		name    byte
		seconds int64
	}{{'h', 3600}, {'m', 60}} {
		i := bytes.IndexByte(text, u.name)
		if i < 0 {
			continue
		}
		n, ok := locate.Decimal(text[:i])
		if !ok {
			return dst, false
		}
		sum, text = sum+n*u.seconds, text[i+1:]
	}
	text, hasSeconds := bytes.CutSuffix(text, []byte("s"))
	if !hasSeconds {
		return strconv.AppendInt(dst, sum, 10), len(text) == 0
	}
	whole, fraction, hasPoint := bytes.Cut(text, []byte("."))
	n, ok := locate.Decimal(whole)
	if !ok || hasPoint && !locate.AllDigits(fraction) {
		return dst, false
	}
	var scratch [40]byte
	seconds := strconv.AppendInt(scratch[:0], sum+n, 10)
	if hasPoint {
		seconds = append(append(seconds, '.'), fraction...)
	}
	return appendSeconds(dst, seconds, 0)
}

// appendSeconds appends a duration in units of 10^-unit seconds as a decimal
// number of seconds. It returns false if text is not a non-negative decimal
// number.
func appendSeconds(dst, text []byte, unit int) ([]byte, bool) {
	start := len(dst)
	whole, fraction, hasPoint := bytes.Cut(text, []byte("."))
	if !locate.AllDigits(whole) || hasPoint && !locate.AllDigits(fraction) {
		return dst, false
	}
	for n := len(whole); n <= unit; n++ {
		dst = append(dst, '0')
	}
	dst = append(dst, whole...)
	point := len(dst) - unit
	dst = append(dst, fraction...)
	for end := len(dst); end > point && dst[end-1] == '0'; end-- {
		dst = dst[:end-1]
	}
	if len(dst) > point {
		dst = append(dst, 0)
		copy(dst[point+1:], dst[point:])
		dst[point] = '.'
	}
	for len(dst)-start > 1 && dst[start] == '0' && locate.IsDigit(dst[start+1]) {
		dst = dst[:start+copy(dst[start:], dst[start+1:])]
	}
	return dst, true
}

// appendTime appends a log's time in the form of RFC 3339, with the zone and the digits
// that the log has. appendTime detects the form of the time by its shape:
//
//	10/Oct/2000:13:55:36 -0700    common log format; also with a space before the time of day
//	2000-10-10T13:55:36.123Z      RFC 3339, ISO 8601; also with a space or slashes
//	971211336.123                 seconds since 1970; or milli-, micro-, nanoseconds by their length
//	20001010205536                UTC, as in CDX
//	Oct 10 13:55:36               syslog (RFC 3164)
//	Oct 10 2000 13:55:36 UTC      CEF, with or without the zone
//	Tue Oct 10 13:55:36 2000      C's ctime
//
// clock is the time of day if it is a separate field. zone and year complete a
// time that lacks them; if these are nil and 0, appendTime returns false, as it
// does for any other text.
func appendTime(dst, text, clock []byte, zone ZoneFunc, year int) ([]byte, bool) {
	var t locate.Stamp
	if !t.Parse(text, clock) || !t.Complete(zone, year) {
		return dst, false
	}
	return t.AppendTo(dst), true
}

// A minute remembers the last time in the common log format. Most records of
// a log have a time in the same minute as the previous record, so only the
// seconds of the RFC 3339 form differ.
type minute struct {
	text [len(locate.CLFLayout)]byte
	form []byte // in the form of RFC 3339
}

// remember stores a time and its form.
func (m *minute) remember(text, form []byte) {
	if len(text) == len(locate.CLFLayout) && text[locate.CLFSeconds+2] == ' ' && text[2] == '/' {
		copy(m.text[:], text)
		m.form = append(m.form[:0], form...)
	}
}

// appendTime appends the form of a time if it is in the minute that m remembers.
func (m *minute) appendTime(dst, text []byte) ([]byte, bool) {
	if len(text) != len(m.text) || len(m.form) == 0 ||
		string(text[:locate.CLFSeconds]) != string(m.text[:locate.CLFSeconds]) || string(text[locate.CLFSeconds+2:]) != string(m.text[locate.CLFSeconds+2:]) {
		return dst, false
	}
	tens, ones := text[locate.CLFSeconds], text[locate.CLFSeconds+1]
	if tens-'0' > 5 || !locate.IsDigit(ones) {
		return dst, false // not a valid second, or a leap second
	}
	start := len(dst)
	dst = append(dst, m.form...)
	dst[start+locate.RFCSeconds], dst[start+locate.RFCSeconds+1] = tens, ones
	return dst, true
}

// A second remembers the last time that was read as a number, because most records of a
// log have a time in the same second as the previous record.
type second struct {
	text []byte
	at   Time
}

// time returns the field time of the record.
func (v *values) time(rec []byte) (at Time) {
	a := v.n.found.Attr(locate.AttrTime, rec)
	if a == nil {
		return at
	}
	text, clock, last := a.In(rec), a.Clock.In(rec), &v.second
	if len(clock) == 0 && bytes.Equal(text, last.text) {
		return last.at
	}
	var t locate.Stamp
	if t.Parse(text, clock) && t.Complete(v.job.zone, v.job.year) {
		at = Time{Seconds: t.Seconds(), Nanos: int32(t.Nanoseconds()), Known: true}
	}
	if len(clock) == 0 {
		last.text, last.at = append(last.text[:0], text...), at
	}
	return at
}

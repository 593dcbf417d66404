package record

import (
	"bytes"
	"strconv"
)

// attrID identifies an attribute of a record: something that a log tells about
// a request besides its URL.
type attrID uint8

const (
	attrTime attrID = iota
	attrStatus
	attrBytes
	attrDuration
	attrClient
	attrAgent
	attrReferer
	attrVHost
	attrRequestID
	numAttrs
)

// attr is an attribute as it stands in the record. "-" and an empty text mean
// that the record has no value.
type attr struct {
	span
	clock   span // time of day, if it has a field of its own after the date
	dialect *Dialect
	unit    int8 // a duration is in units of 10^-unit seconds
	sum     bool // a duration is the sum of several numbers
}

// attrs holds the attributes of a record. Only those in set are valid.
type attrs struct {
	set    uint16
	wanted bool   // the job needs attributes
	needed uint16 // those that it needs
	values [numAttrs]attr
}

// needsAny reports whether the job needs one of two attributes. Locators ask
// before they look for attributes that are slow to find.
func (f *Found) needsAny(a, b attrID) bool { return f.attrs.needed&(1<<a|1<<b) != 0 }

// needs reports whether the job needs an attribute.
func (f *Found) needs(id attrID) bool { return f.attrs.needed>>id&1 != 0 }

// addAttr adds an attribute, unless the record has it already.
func (f *Found) addAttr(id attrID, a attr) {
	if f.attrs.set>>id&1 == 0 {
		f.attrs.set |= 1 << id
		f.attrs.values[id] = a
	}
}

// addText adds an attribute that has no escapes, unless the record has it
// already. It stores each field where it belongs, because copying an attr would
// take as long as finding it.
func (f *Found) addText(id attrID, s span) {
	if f.attrs.set>>id&1 != 0 {
		return
	}
	f.attrs.set |= 1 << id
	a := &f.attrs.values[id]
	a.start, a.end, a.unit, a.sum = s.start, s.end, 0, false
	a.clock.start, a.clock.end = 0, 0
	if a.dialect != nil {
		a.dialect = nil
	}
}

// addNumber adds the status or the bytes to a record that does not have them.
func (f *Found) addNumber(id attrID, s span) {
	f.attrs.set |= 1 << id
	f.attrs.values[id].span = s
}

// attr returns an attribute, or nil if the record does not have it.
func (f *Found) attr(id attrID, rec []byte) *attr {
	if f.attrs.set>>id&1 == 0 {
		return nil
	}
	a := &f.attrs.values[id]
	if t := a.in(rec); len(t) == 0 || len(t) == 1 && t[0] == '-' {
		return nil
	}
	return a
}

// ofAttrs is the set of fields that show attributes. They are in the order of these.
const ofAttrs fieldSet = 1<<(fRequestID+1) - 1<<fTime

// attrOf returns the attribute that a field of ofAttrs shows.
func attrOf(f fieldID) attrID { return attrID(f - fTime) }

// attr returns a field that shows an attribute, and whether the record has it.
// The result is valid until the next call.
func (v *values) attr(f fieldID, rec []byte) ([]byte, bool) {
	if f == fVHost {
		return v.vhost(rec)
	}
	a := v.n.found.attr(attrOf(f), rec)
	if a == nil {
		return nil, false
	}
	return v.decoded(f, a, rec)
}

// decoded returns the field that shows a, if it is not the text of a as it is.
func (v *values) decoded(f fieldID, a *attr, rec []byte) ([]byte, bool) {
	text, ok := a.in(rec), false
	switch f {
	case fStatus, fBytes:
		return text, allDigits(text) && (text[0] != '0' || len(text) == 1)
	case fTime:
		if v.key, ok = v.minute.appendTime(v.key[:0], text); ok {
			return v.key, true
		}
		if v.key, ok = appendTime(v.key[:0], text, a.clock.in(rec), v.job.zone, v.job.year); ok {
			v.minute.remember(text, v.key)
		}
		return v.key, ok
	case fDuration:
		if a.sum {
			v.key, ok = appendSum(v.key[:0], text)
			return v.key, ok
		}
		if a.unit == mixedUnits {
			v.key, ok = appendMixed(v.key[:0], text)
			return v.key, ok
		}
		v.key, ok = appendSeconds(v.key[:0], text, int(a.unit))
		return v.key, ok
	case fClient:
		return v.shown(withoutPort(text)), true
	}
	text, v.runs, ok = a.dialect.unescape(v.key, text, v.runs)
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
	if a := v.n.found.attr(attrVHost, rec); a != nil {
		return v.shown(withoutPort(a.in(rec))), true
	}
	h := v.n.found.requestHost(rec)
	return v.shown(withoutPort(h)), h != nil
}

// unescapedName returns the first host of the record without its escapes, in
// scratch if it has any.
func (f *Found) unescapedName(raw []byte) []byte {
	text, runs, escaped := f.nameDialect.unescape(f.nameText, raw, f.nameRuns)
	f.nameRuns = runs
	if escaped {
		f.nameText = text
	}
	return text
}

// withoutPort returns a host without its port, and an IPv6 address without its
// brackets.
func withoutPort(host []byte) []byte {
	if host != nil && host[0] == '[' {
		if end := bytes.IndexByte(host, ']'); end > 0 {
			return host[1:end]
		}
	}
	if i := bytes.IndexByte(host, ':'); i >= 0 && bytes.IndexByte(host[i+1:], ':') < 0 {
		return host[:i]
	}
	return host
}

// appendSum appends the sum of decimal numbers that are separated by spaces. It
// returns false if one of them is negative, which means that it is not known,
// or has more than maxDecimal digits before or after the point.
func appendSum(dst, text []byte) ([]byte, bool) {
	sum := int64(0)
	for len(text) > 0 {
		end := wordEnd(text, 0)
		whole, fraction, hasPoint := bytes.Cut(text[:end], []byte("."))
		n, ok := decimal(whole)
		if !ok || hasPoint && !allDigits(fraction) || len(fraction) > maxDecimal {
			return dst, false
		}
		for i := range maxDecimal {
			n *= 10
			if i < len(fraction) {
				n += int64(fraction[i] - '0')
			}
		}
		sum += n
		text = text[min(end+1, len(text)):]
	}
	var scratch [20]byte
	return appendSeconds(dst, strconv.AppendInt(scratch[:0], sum, 10), maxDecimal)
}

// appendMixed appends a duration with mixedUnits as a decimal number of seconds. Each of
// hours, minutes and seconds is optional. It returns false if text is no such duration,
// or if one of them has more than maxDecimal digits before the point.
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
		n, ok := decimal(text[:i])
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
	n, ok := decimal(whole)
	if !ok || hasPoint && !allDigits(fraction) {
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
	if !allDigits(whole) || hasPoint && !allDigits(fraction) {
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
	for len(dst)-start > 1 && dst[start] == '0' && isDigit(dst[start+1]) {
		dst = dst[:start+copy(dst[start:], dst[start+1:])]
	}
	return dst, true
}

package record

import (
	"bytes"
	"strconv"
)

// ZoneFunc returns the zone of a local time, in minutes east of UTC.
type ZoneFunc func(year, month, day, hour, minute int) (east int)

// stamp is a point in time as a log writes it.
type stamp struct {
	year, month, day int // year is 0 if the log does not write it
	hour, min, sec   int
	fraction         []byte // digits after the seconds
	hasZone          bool
	zone             int // minutes east of UTC
}

// appendTime appends a log's time in the form of RFC 3339, with the zone and
// the digits that the log has. The form of the time is found by its shape:
//
//	10/Oct/2000:13:55:36 -0700    common log format; also with a space before the time of day
//	2000-10-10T13:55:36.123Z      RFC 3339, ISO 8601; also with a space or slashes
//	971211336.123                 seconds since 1970; or milli-, micro-, nanoseconds by their length
//	20001010205536                UTC, as in CDX
//	Oct 10 13:55:36               syslog (RFC 3164)
//	Oct 10 2000 13:55:36 UTC      CEF, with or without the zone
//	Tue Oct 10 13:55:36 2000      C's ctime
//
// clock is the time of day if it is a field of its own. zone returns the zone of
// a time without one, and year is that of a time without one; if these are nil
// and 0, appendTime returns false, as it does for any other text.
func appendTime(dst, text, clock []byte, zone ZoneFunc, year int) ([]byte, bool) {
	var t stamp
	if !t.parse(text, clock) || !t.complete(zone, year) {
		return dst, false
	}
	return t.appendTo(dst), true
}

// A minute remembers the last time in the common log format. In the same minute
// only the seconds of its other form differ, and most records of a log are of the
// same minute as the one before.
type minute struct {
	text [len(clfLayout)]byte
	form []byte // in the form of RFC 3339
}

// clfLayout shows the common log format. A fraction of a second has no place in
// it.
const (
	clfLayout  = "10/Oct/2000:13:55:36 -0700"
	clfSeconds = len("10/Oct/2000:13:55:")
	rfcSeconds = len("2000-10-10T13:55:")
)

// remember stores a time and its form.
func (m *minute) remember(text, form []byte) {
	if len(text) == len(clfLayout) && text[clfSeconds+2] == ' ' && text[2] == '/' {
		copy(m.text[:], text)
		m.form = append(m.form[:0], form...)
	}
}

// appendTime appends the form of a time if it is in the minute that m remembers.
func (m *minute) appendTime(dst, text []byte) ([]byte, bool) {
	if len(text) != len(m.text) || len(m.form) == 0 ||
		string(text[:clfSeconds]) != string(m.text[:clfSeconds]) || string(text[clfSeconds+2:]) != string(m.text[clfSeconds+2:]) {
		return dst, false
	}
	tens, ones := text[clfSeconds], text[clfSeconds+1]
	if tens-'0' > 5 || !isDigit(ones) {
		return dst, false // also a leap second
	}
	start := len(dst)
	dst = append(dst, m.form...)
	dst[start+rfcSeconds], dst[start+rfcSeconds+1] = tens, ones
	return dst, true
}

// A second remembers the last time that was read as a number, because most
// records of a log are of the same second as the one before.
type second struct {
	text []byte
	at   int64
	ok   bool
}

// seconds returns the field time of the record in seconds since 1970, rounded
// down, and whether the record has the field.
func (v *values) seconds(rec []byte) (at int64, ok bool) {
	a := v.n.found.attr(attrTime, rec)
	if a == nil {
		return 0, false
	}
	text, clock, last := a.in(rec), a.clock.in(rec), &v.second
	if len(clock) == 0 && bytes.Equal(text, last.text) {
		return last.at, last.ok
	}
	var t stamp
	if ok = t.parse(text, clock) && t.complete(v.job.zone, v.job.year); ok {
		at = t.seconds()
	}
	if len(clock) == 0 {
		last.text, last.at, last.ok = append(last.text[:0], text...), at, ok
	}
	return at, ok
}

// seconds returns the time, which is complete, in seconds since 1970. It counts
// in years that begin in March, as setDate does.
func (t *stamp) seconds() int64 {
	year, month := int64(t.year), int64(t.month)
	if month <= 2 {
		year, month = year-1, month+12
	}
	days := year*365 + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + int64(t.day) - 719469
	return days*86400 + int64(t.hour*3600+t.min*60+t.sec) - int64(t.zone)*60
}

// parse reads text and clock. It returns false if they have no known shape.
func (t *stamp) parse(text, clock []byte) bool {
	p := stampParser{s: text}
	switch {
	case len(text) < 6:
		return false
	case !isDigit(text[0]):
		return p.syslog(t)
	case text[2] == '/' || text[1] == '/':
		return p.clf(t)
	case len(text) > 4 && (text[4] == '-' || text[4] == '/'):
		return p.iso(t, clock)
	case len(text) == 14 && allDigits(text):
		return p.compact(t)
	}
	return t.epoch(text)
}

// complete adds the year and the zone that the log leaves out, and checks that
// the time exists.
func (t *stamp) complete(zone ZoneFunc, year int) bool {
	if t.year == 0 {
		t.year = year
	}
	if t.year < 1 || t.month < 1 || t.month > 12 || t.day < 1 || t.day > daysIn(t.year, t.month) || t.hour > 23 || t.min > 59 || t.sec > 60 {
		return false
	}
	if !t.hasZone {
		if zone == nil {
			return false
		}
		t.zone = zone(t.year, t.month, t.day, t.hour, t.min)
	}
	return true
}

// daysIn returns the number of days of a month.
func daysIn(year, month int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// appendTo appends the time in the form of RFC 3339.
func (t *stamp) appendTo(dst []byte) []byte {
	dst = appendPadded(dst, t.year, 4)
	dst = appendPadded(append(dst, '-'), t.month, 2)
	dst = appendPadded(append(dst, '-'), t.day, 2)
	dst = appendPadded(append(dst, 'T'), t.hour, 2)
	dst = appendPadded(append(dst, ':'), t.min, 2)
	dst = appendPadded(append(dst, ':'), t.sec, 2)
	if len(t.fraction) > 0 {
		dst = append(append(dst, '.'), t.fraction...)
	}
	zone := t.zone
	switch {
	case zone == 0:
		return append(dst, 'Z')
	case zone < 0:
		dst, zone = append(dst, '-'), -zone
	default:
		dst = append(dst, '+')
	}
	return appendPadded(append(appendPadded(dst, zone/60, 2), ':'), zone%60, 2)
}

// appendPadded appends n in decimal with leading zeros to width digits.
func appendPadded(dst []byte, n, width int) []byte {
	for limit := 10; width > 1; width-- {
		if n < limit {
			dst = append(dst, "000"[:width-1]...)
			break
		}
		limit *= 10
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// epoch reads the time since 1970: in seconds, with or without a fraction, or
// in milliseconds, microseconds or nanoseconds, which have 13, 16 and 19
// digits.
func (t *stamp) epoch(text []byte) bool {
	whole, fraction, hasPoint := bytes.Cut(text, []byte("."))
	if !allDigits(whole) || hasPoint && !allDigits(fraction) {
		return false
	}
	switch n := len(whole); n {
	case 13, 16, 19:
		whole, t.fraction = whole[:10], whole[10:]
	default:
		if n > 10 {
			return false
		}
		t.fraction = fraction
	}
	var seconds int64
	for _, c := range whole {
		seconds = seconds*10 + int64(c-'0')
	}
	t.setDate(int(seconds / 86400))
	ofDay := int(seconds % 86400)
	t.hour, t.min, t.sec, t.hasZone = ofDay/3600, ofDay/60%60, ofDay%60, true
	return true
}

// setDate sets the date from the number of days since 1970-01-01. It counts in
// years that begin in March, so that a leap day is the last day of its year.
func (t *stamp) setDate(days int) {
	const (
		perEra  = 146097 // days in 400 years
		toMarch = 719468 // days from 0000-03-01 to 1970-01-01
	)
	days += toMarch
	era, day := days/perEra, days%perEra
	year := (day - day/1460 + day/36524 - day/(perEra-1)) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153 // from March; five months have 153 days
	t.day = day - (153*month+2)/5 + 1
	t.month = month + 3
	t.year = era*400 + year
	if t.month > 12 {
		t.month -= 12
		t.year++
	}
}

// stampParser reads a time from left to right.
type stampParser struct {
	s      []byte
	failed bool
}

// clf reads 10/Oct/2000:13:55:36 -0700, with or without the zone. Servers in Python
// write a space in place of the first colon.
func (p *stampParser) clf(t *stamp) bool {
	t.day = p.number(2)
	p.expect('/')
	t.month = p.monthName()
	p.expect('/')
	t.year = p.number(4)
	if c := p.next(); c != ':' && c != ' ' {
		p.failed = true
	}
	return p.clock(t)
}

// iso reads 2000-10-10T13:55:36Z, with its variants, or the date alone if clock
// holds the time of day in UTC.
func (p *stampParser) iso(t *stamp, clock []byte) bool {
	t.year = p.number(4)
	separator := p.next()
	t.month = p.number(2)
	p.expect(separator)
	t.day = p.number(2)
	switch {
	case len(clock) > 0:
		p.failed = p.failed || len(p.s) > 0
		p.s, t.hasZone = clock, true
	default:
		if c := p.next(); c != 'T' && c != ' ' && c != 't' {
			return false
		}
	}
	return p.clock(t)
}

// compact reads 20001010205536, which is in UTC.
func (p *stampParser) compact(t *stamp) bool {
	t.year, t.month, t.day = p.number(4), p.number(2), p.number(2)
	t.hour, t.min, t.sec, t.hasZone = p.number(2), p.number(2), p.number(2), true
	return !p.failed
}

// syslog reads Oct 10 13:55:36, in which a day below 10 is padded with a space, the
// same between the weekday and the year, and the same with the year after the day.
func (p *stampParser) syslog(t *stamp) bool {
	if n := len(p.s) - len(" 2000"); n > len("Tue Oct 10 ") && p.s[3] == ' ' && p.s[n] == ' ' && allDigits(p.s[n+1:]) {
		for _, c := range p.s[n+1:] {
			t.year = t.year*10 + int(c-'0')
		}
		p.s = p.s[len("Tue "):n]
	}
	t.month = p.monthName()
	p.expect(' ')
	if len(p.s) > 0 && p.s[0] == ' ' {
		p.s = p.s[1:]
	}
	t.day = p.number(2)
	p.expect(' ')
	if t.year == 0 && len(p.s) > 4 && p.s[4] == ' ' && allDigits(p.s[:4]) {
		t.year = p.number(4)
		p.expect(' ')
	}
	return p.clock(t)
}

// clock reads 13:55:36.123 and the zone, if there is one, up to the end.
func (p *stampParser) clock(t *stamp) bool {
	t.hour = p.number(2)
	p.expect(':')
	t.min = p.number(2)
	p.expect(':')
	t.sec = p.number(2)
	if len(p.s) > 1 && (p.s[0] == '.' || p.s[0] == ',') {
		n := 1
		for n < len(p.s) && isDigit(p.s[n]) {
			n++
		}
		t.fraction, p.s = p.s[1:n], p.s[n:]
	}
	p.zone(t)
	return !p.failed && len(p.s) == 0
}

// zone reads Z, UTC, GMT, +0100, +01:00 or +01, with or without a space before it.
// Other names of zones are ambiguous.
func (p *stampParser) zone(t *stamp) {
	if len(p.s) > 0 && p.s[0] == ' ' {
		p.s = p.s[1:]
	}
	if len(p.s) == 0 {
		return
	}
	sign := 1
	t.hasZone = true
	if string(p.s) == "UTC" || string(p.s) == "GMT" {
		p.s = nil
		return
	}
	switch p.next() {
	case 'Z', 'z':
		return
	case '-':
		sign = -1
	case '+':
	default:
		p.failed = true
	}
	t.zone = p.number(2) * 60
	if len(p.s) > 0 && p.s[0] == ':' {
		p.s = p.s[1:]
	}
	if len(p.s) > 0 {
		minutes := p.number(2)
		p.failed = p.failed || minutes > 59
		t.zone += minutes
	}
	t.zone *= sign
}

// number reads a number of at most width digits; only a day can be shorter.
func (p *stampParser) number(width int) int {
	n, i := 0, 0
	for ; i < width && i < len(p.s) && isDigit(p.s[i]); i++ {
		n = n*10 + int(p.s[i]-'0')
	}
	p.s = p.s[i:]
	p.failed = p.failed || i == 0 || i < width && width != 2
	return n
}

func (p *stampParser) next() byte {
	if len(p.s) == 0 {
		p.failed = true
		return 0
	}
	c := p.s[0]
	p.s = p.s[1:]
	return c
}

func (p *stampParser) expect(c byte) {
	if p.next() != c {
		p.failed = true
	}
}

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"

func (p *stampParser) monthName() int {
	if len(p.s) >= 3 {
		for i := 0; i < len(monthNames); i += 3 {
			if string(p.s[:3]) == monthNames[i:i+3] {
				p.s = p.s[3:]
				return i/3 + 1
			}
		}
	}
	p.failed = true
	return 0
}

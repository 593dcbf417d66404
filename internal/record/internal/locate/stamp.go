package locate

import (
	"bytes"
	"strconv"
)

// Stamp is a point in time as a log writes it.
type Stamp struct {
	year, month, day int // year is 0 if the log does not write it
	hour, min, sec   int
	fraction         []byte // digits after the seconds
	hasZone          bool
	zone             int // minutes east of UTC
}

// CLFLayout shows the common log format, which has no fraction of a second.
// CLFSeconds and RFCSeconds are the offsets of the seconds in this format and
// in the form of RFC 3339.
const (
	CLFLayout  = "10/Oct/2000:13:55:36 -0700"
	CLFSeconds = len("10/Oct/2000:13:55:")
	RFCSeconds = len("2000-10-10T13:55:")
)

// Seconds returns the time, which is complete, in seconds since 1970. It counts
// in years that begin in March, as setDate does.
func (t *Stamp) Seconds() int64 {
	year, month := int64(t.year), int64(t.month)
	if month <= 2 {
		year, month = year-1, month+12
	}
	days := year*365 + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + int64(t.day) - 719469
	return days*daySeconds + int64(t.hour*3600+t.min*60+t.sec) - int64(t.zone)*60
}

// Nanoseconds returns the fraction of a second, rounded down.
func (t *Stamp) Nanoseconds() (n int64) {
	for i := range 9 {
		if n *= 10; i < len(t.fraction) {
			n += int64(t.fraction[i] - '0')
		}
	}
	return n
}

// Parse reads text, a time, and clock, its time of day if that is a separate
// field. It returns false if they have no known shape.
func (t *Stamp) Parse(text, clock []byte) bool {
	p := stampParser{s: text}
	switch {
	case len(text) < 6:
		return false
	case !IsDigit(text[0]):
		return p.syslog(t)
	case text[2] == '/' || text[1] == '/':
		return p.clf(t)
	case len(text) > 4 && (text[4] == '-' || text[4] == '/'):
		return p.iso(t, clock)
	case len(text) == 14 && AllDigits(text):
		return p.compact(t)
	}
	return t.epoch(text)
}

// Complete adds the year and the zone that the log leaves out, and checks that
// the time exists.
func (t *Stamp) Complete(zone ZoneFunc, year int) bool {
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

// AppendTo appends the time in the form of RFC 3339.
func (t *Stamp) AppendTo(dst []byte) []byte {
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

const daySeconds = 24 * 60 * 60

// days converts seconds since 1970 to days, rounded down.
func days(seconds int64) int {
	n := seconds / daySeconds
	if seconds%daySeconds < 0 {
		n--
	}
	return int(n)
}

// ToUTC changes the zone of the time, which is complete, to UTC.
func (t *Stamp) ToUTC() {
	t.setSeconds(t.Seconds())
	t.zone = 0
}

// setSeconds sets date and time of day from the number of seconds since 1970.
func (t *Stamp) setSeconds(seconds int64) {
	day := days(seconds)
	t.setDate(day)
	rest := int(seconds - int64(day)*daySeconds)
	t.hour, t.min, t.sec = rest/3600, rest/60%60, rest%60
}

// AppendWeek appends the week of the time, which is complete, by ISO 8601:
// 2026-W45. The week belongs to the year of its Thursday.
func (t *Stamp) AppendWeek(dst []byte) []byte {
	day := days(t.Seconds() + int64(t.zone)*60)
	thursday := day - ((day+3)%7+7)%7 + 3
	var u Stamp
	u.setDate(thursday)
	u.month, u.day = 1, 1
	dst = append(appendPadded(dst, u.year, 4), "-W"...)
	return appendPadded(dst, (thursday-days(u.Seconds()))/7+1, 2)
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
func (t *Stamp) epoch(text []byte) bool {
	whole, fraction, hasPoint := bytes.Cut(text, []byte("."))
	if !AllDigits(whole) || hasPoint && !AllDigits(fraction) {
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
	t.setSeconds(seconds)
	t.hasZone = true
	return true
}

// setDate sets the date from the number of days since 1970-01-01. It counts in
// years that begin in March, so that a leap day is the last day of its year.
func (t *Stamp) setDate(days int) {
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

// clf reads 10/Oct/2000:13:55:36 -0700, with or without the zone. Some servers
// written in Python use a space instead of the first colon.
func (p *stampParser) clf(t *Stamp) bool {
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
func (p *stampParser) iso(t *Stamp, clock []byte) bool {
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
func (p *stampParser) compact(t *Stamp) bool {
	t.year, t.month, t.day = p.number(4), p.number(2), p.number(2)
	t.hour, t.min, t.sec, t.hasZone = p.number(2), p.number(2), p.number(2), true
	return !p.failed
}

// syslog reads Oct 10 13:55:36. A day below 10 is padded with a space. It
// also reads the same text between the weekday and the year, and the same
// text with the year after the day.
func (p *stampParser) syslog(t *Stamp) bool {
	if n := len(p.s) - len(" 2000"); n > len("Tue Oct 10 ") && p.s[3] == ' ' && p.s[n] == ' ' && AllDigits(p.s[n+1:]) {
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
	if t.year == 0 && len(p.s) > 4 && p.s[4] == ' ' && AllDigits(p.s[:4]) {
		t.year = p.number(4)
		p.expect(' ')
	}
	return p.clock(t)
}

// clock reads 13:55:36.123 and the zone, if there is one, up to the end.
func (p *stampParser) clock(t *Stamp) bool {
	t.hour = p.number(2)
	p.expect(':')
	t.min = p.number(2)
	p.expect(':')
	t.sec = p.number(2)
	if len(p.s) > 1 && (p.s[0] == '.' || p.s[0] == ',') {
		n := 1
		for n < len(p.s) && IsDigit(p.s[n]) {
			n++
		}
		t.fraction, p.s = p.s[1:n], p.s[n:]
	}
	p.zone(t)
	return !p.failed && len(p.s) == 0
}

// zone reads Z, UTC, GMT, +0100, +01:00 or +01, with or without a space in
// front. Other names of zones are ambiguous.
func (p *stampParser) zone(t *Stamp) {
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

// number reads a number of width digits. If width is 2, one digit is enough, as
// in a day below 10.
func (p *stampParser) number(width int) int {
	n, i := 0, 0
	for ; i < width && i < len(p.s) && IsDigit(p.s[i]); i++ {
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

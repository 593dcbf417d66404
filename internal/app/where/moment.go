package where

import (
	"bytes"
	"cmp"
	"strings"
	"time"
)

// moment is a point in time of any precision.
type moment struct {
	seconds  int64  // since 1970
	fraction []byte // digits of the part of a second, without zeros at the end
}

// compare returns -1, 0 or 1 as m is before, at or after other.
func (m moment) compare(other moment) int {
	if m.seconds != other.seconds {
		return cmp.Compare(m.seconds, other.seconds)
	}
	return bytes.Compare(m.fraction, other.fraction)
}

// parseMoment reads the field time, which has the form of RFC 3339:
// 2000-10-10T13:55:36.123+02:00. The result points into t.
func parseMoment(t []byte) (m moment) {
	const date = len("2000-10-10T13:55:36")
	if len(t) <= date {
		return m // does not happen: the field is longer
	}
	year, month, day := digits(t[0:4]), digits(t[5:7]), digits(t[8:10])
	m.seconds = daysSince1970(year, month, day)*86400 + digits(t[11:13])*3600 + digits(t[14:16])*60 + digits(t[17:19])
	zone := t[date:]
	if zone[0] == '.' {
		end := 1
		for end < len(zone) && zone[end]-'0' <= 9 {
			end++
		}
		m.fraction, zone = bytes.TrimRight(zone[1:end], "0"), zone[end:]
	}
	if len(zone) == len("+02:00") {
		east := digits(zone[1:3])*3600 + digits(zone[4:6])*60
		if zone[0] == '-' {
			east = -east
		}
		m.seconds -= east
	}
	return m
}

// digits returns the number that t writes.
func digits(t []byte) (n int64) {
	for _, c := range t {
		n = n*10 + int64(c-'0')
	}
	return n
}

// daysSince1970 returns the number of days from 1970-01-01 to a date. It counts
// in years that begin in March, so that a leap day is the last day of its year.
func daysSince1970(year, month, day int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	return year*365 + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 719469
}

// layouts are the forms of a time in an expression, without a zone.
var layouts = []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05"}

// parseLiteral reads a time in an expression: a date, or a date and time with
// or without a zone. ok is false if text has another form.
func parseLiteral(text string, zone *time.Location) (_ moment, ok bool) {
	text = strings.Replace(text, " ", "T", 1)
	for _, layout := range layouts {
		t, err := time.ParseInLocation(layout, text, zone)
		if err != nil && strings.Contains(layout, "T") {
			t, err = time.Parse(layout+"Z07:00", text)
		}
		if err == nil {
			return parseMoment([]byte(t.UTC().Format(time.RFC3339Nano))), true
		}
	}
	return moment{}, false
}

package locate

import "bytes"

// This file finds the time in a line of any log, by the colons in its time of
// day: 09:23:53.

// maxClock is the length of the part of a line in which a time is looked for.
const maxClock = 256

// clockAt returns the offset of the first time of day in rec, or -1.
func clockAt(rec []byte) int {
	rec = rec[:min(len(rec), maxClock)]
	for pos := len("00"); ; pos++ {
		if pos >= len(rec) {
			return -1
		}
		n := bytes.IndexByte(rec[pos:], ':')
		if n < 0 {
			return -1
		}
		pos += n
		at := pos - len("00")
		if at+len("00:00:00") <= len(rec) && AllDigits(rec[at:pos]) && AllDigits(rec[pos+1:pos+3]) && rec[pos+3] == ':' && AllDigits(rec[pos+4:pos+6]) &&
			(at == 0 || !IsDigit(rec[at-1])) {
			return at
		}
	}
}

// HasClock reports whether rec has a time: a time of day, or the seconds of Unix
// time as its first word.
func HasClock(rec []byte) bool {
	if clockAt(rec) >= 0 {
		return true
	}
	point := bytes.IndexByte(rec[:min(len(rec), len("1673277244."))], '.')
	return point >= 9 && AllDigits(rec[:point])
}

// ClockSpan returns the first time of rec with its date and zone, in a form
// that Stamp.Parse reads, or an empty span.
func ClockSpan(rec []byte) Span {
	at := clockAt(rec)
	if at < 0 {
		return Span{}
	}
	end := at + len("00:00:00")
	before := rec[:at]
	switch n := len(before); {
	case n >= len("10/Oct/2000:") && (before[n-1] == ':' || before[n-1] == ' ') && before[n-len("/2000:")] == '/' && before[n-len("/Oct/2000:")] == '/':
		at -= len("10/Oct/2000:")
		if rest := rec[end:]; len(rest) >= len(" +0000") && rest[0] == ' ' && isZone(rest[1:]) {
			end += len(" +0000")
		}
		return Span{at, end}
	case n >= len("2000-10-10 ") && isLogDate(before[n-len("2000-10-10 "):n-1]):
		return Span{at - len("2000-10-10 "), isoEnd(rec, end)}
	case n >= len("Oct 10 ") && before[n-1] == ' ' && before[n-4] == ' ' && IsLetter(before[n-5]):
		return Span{at - len("Oct 10 "), end}
	}
	return Span{}
}

// isLogDate reports whether s has the form 2000-10-10 or 2000/10/10.
func isLogDate(s []byte) bool {
	return AllDigits(s[:4]) && (s[4] == '-' || s[4] == '/') && s[7] == s[4] && AllDigits(s[5:7]) && AllDigits(s[8:])
}

// isZone reports whether s starts with an offset such as +0100.
func isZone(s []byte) bool { return (s[0] == '+' || s[0] == '-') && AllDigits(s[1:5]) }

// isoEnd returns the end of a time whose seconds end at the offset at,
// including their fraction and the zone.
func isoEnd(rec []byte, at int) int {
	if at+1 < len(rec) && (rec[at] == '.' || rec[at] == ',') && IsDigit(rec[at+1]) {
		for at++; at < len(rec) && IsDigit(rec[at]); at++ {
		}
	}
	rest := rec[at:]
	switch {
	case len(rest) > 0 && rest[0] == 'Z':
		return at + 1
	case len(rest) >= len("+00:00") && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':' && AllDigits(rest[1:3]) && AllDigits(rest[4:6]):
		return at + len("+00:00")
	case len(rest) >= len("+0000") && isZone(rest):
		return at + len("+0000")
	case len(rest) >= len(" +0000") && rest[0] == ' ' && isZone(rest[1:]):
		return at + len(" +0000")
	}
	return at
}

package textlog

import (
	"bytes"
	"encoding/binary"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// The functions of this file recognize the fields that are landmarks of text
// logs.

// isKind reports whether s is a type of request or connection: http, h2, wss.
func isKind(s []byte) bool {
	for _, c := range s {
		if c-'a' >= 26 && !locate.IsDigit(c) {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 16
}

// isOperation reports whether s is an S3 operation: REST.GET.OBJECT,
// SOAP.CreateBucket.
func isOperation(s []byte) bool {
	return len(s) > 2 && s[0]-'A' < 26 && bytes.IndexByte(s[1:len(s)-1], '.') > 0
}

// isNumber reports whether s is a number or '-'.
func isNumber(s []byte) bool { return locate.AllDigits(s) || len(s) == 1 && s[0] == '-' }

// isSeconds reports whether s is a number of seconds with a fraction, or -1.
func isSeconds(s []byte) bool {
	if len(s) == 2 && s[0] == '-' && s[1] == '1' {
		return true
	}
	for _, c := range s {
		if !locate.IsDigit(c) && c != '.' {
			return false
		}
	}
	return len(s) > 0
}

// isISOTime reports whether s looks like 2016-04-15T20:17:00.310Z.
func isISOTime(s []byte) bool {
	return len(s) >= 19 && locate.IsDigit(s[0]) && locate.IsDigit(s[3]) && s[4] == '-' && s[7] == '-' && s[10] == 'T' && s[13] == ':'
}

// isCLFTime reports whether s looks like 06/Feb/2009:12:14:14.655.
func isCLFTime(s []byte) bool {
	return len(s) >= 20 && locate.IsDigit(s[0]) && s[2] == '/' && s[6] == '/' && s[11] == ':' && s[14] == ':'
}

// isEpoch reports whether s is a number of seconds since 1970 with
// milliseconds.
func isEpoch(s []byte) bool {
	const end = len("6789.000") // the bytes that are read at a time
	point := len(s) - len(".000")
	if len(s) < len("123456789.000") || s[point] != '.' {
		return false
	}
	last := binary.LittleEndian.Uint64(s[len(s)-end:]) ^ ('.'^'0')<<(8*4) // the point becomes a digit
	if len(s) <= 2*end {
		return locate.NonDigits(last)|locate.NonDigits(binary.LittleEndian.Uint64(s)) == 0
	}
	return locate.NonDigits(last) == 0 && locate.AllDigits(s[:len(s)-end])
}

// isCode reports whether s is a status: '-', or a number of at most three digits.
// Servers write 0, 000 or -1 for requests without a response.
func isCode(s []byte) bool {
	digits := bytes.TrimPrefix(s, []byte("-"))
	return len(digits) <= 3 && locate.AllDigits(digits) || len(s) == 1 && s[0] == '-'
}

// isResult reports whether s is a result and a status: TCP_MISS/200.
func isResult(s []byte) bool {
	slash := len(s) - len("/200")
	if slash > 0 && s[slash] == '/' && locate.IsDigit(s[slash+1]) && locate.IsDigit(s[slash+2]) && locate.IsDigit(s[slash+3]) { // the form of most lines
		return s[0]-'A' < 26
	}
	slash = bytes.LastIndexByte(s, '/')
	return slash > 0 && s[0]-'A' < 26 && isCode(s[slash+1:])
}

// isPeer reports whether s is a hierarchy code of Squid and the address of a peer:
// HIER_DIRECT/192.0.2.1, NONE/-.
func isPeer(s []byte) bool {
	slash := 0
	for slash < len(s) && (s[slash]-'A' < 26 || s[slash] == '_' || locate.IsDigit(s[slash])) {
		slash++
	}
	return slash >= 4 && slash < len(s)-1 && s[slash] == '/'
}

// isTimers reports whether s is five numbers separated by slashes. Each number
// can be negative, and the last number can have a plus sign.
func isTimers(s []byte) bool {
	slashes := 0
	for _, c := range s {
		switch {
		case c == '/':
			slashes++
		case !locate.IsDigit(c) && c != '-' && c != '+':
			return false
		}
	}
	return slashes == 4
}

// isCapturedHost reports whether s is a host name with a dot. An IP address
// does not count, because a captured address more likely belongs to a client.
func isCapturedHost(s []byte) bool {
	if !locate.IsHostPort(s) {
		return false
	}
	s = locate.WithoutPort(s)
	dot := bytes.LastIndexByte(s, '.')
	return dot > 0 && dot+1 < len(s) && s[dot+1]|0x20-'a' < 26
}

// isPID reports whether s is the start of a uWSGI log line.
func isPID(s []byte) bool { return string(s) == "[pid:" }

// isMethod reports whether s looks like the method of a request: GET,
// VERSION-CONTROL.
func isMethod(s []byte) bool {
	for _, c := range s {
		if c-'A' >= 26 && c != '-' {
			return false
		}
	}
	return len(s) > 2
}

// isMillis reports whether s is a number of milliseconds: 350ms.
func isMillis(s []byte) bool {
	return bytes.HasSuffix(s, []byte("ms")) && locate.AllDigits(s[:len(s)-len("ms")])
}

// isArrow reports whether s is the arrow between a request and its response.
func isArrow(s []byte) bool { return string(s) == "=>" }

// isClosed reports whether s is a status before a parenthesis: 200).
func isClosed(s []byte) bool { return len(s) > 1 && s[len(s)-1] == ')' && isCode(s[:len(s)-1]) }

package locate

import "bytes"

// BracePrefix returns the length of the text before a JSON object in line, or
// -1 if no text precedes an object.
func BracePrefix(line []byte) int {
	for at := 0; ; at++ {
		n := bytes.IndexByte(line[at:], '{')
		if n < 0 {
			return -1
		}
		at += n
		next := at + 1
		for next < len(line) && line[next] == ' ' {
			next++
		}
		if at > 0 && next < len(line) && (line[next] == '"' || line[next] == '}') {
			return at
		}
	}
}

// ComposePrefix returns the length of the prefix of docker compose logs, such
// as "web-1 | ", or -1.
func ComposePrefix(line []byte) int {
	i := 0
	for i < len(line) && (IsAlnum(line[i]) || i > 0 && (line[i] == '-' || line[i] == '_' || line[i] == '.')) {
		i++
	}
	at := i
	for at < len(line) && line[at] == ' ' {
		at++
	}
	if i == 0 || at == i || !bytes.HasPrefix(line[at:], []byte("| ")) {
		return -1
	}
	return at + len("| ")
}

// CriPrefix returns the length of the prefix that container runtimes write to
// log files for Kubernetes, or -1. The prefix is a time, the stream, and the
// tag F, which marks a full line.
func CriPrefix(line []byte) int {
	stamp := WordEnd(line, 0)
	if !isTimestamp(line[:stamp]) {
		return -1
	}
	for _, s := range [...]string{" stdout F ", " stderr F "} {
		if len(line)-stamp >= len(s) && string(line[stamp:stamp+len(s)]) == s {
			return stamp + len(s)
		}
	}
	return -1
}

// SyslogPrefix returns the length of the header of a syslog message, or -1. The
// header is as in RFC 5424, or as in RFC 3164, where the priority and the host
// are optional and the time can have the form of RFC 3339, as rsyslog writes
// it.
func SyslogPrefix(line []byte) int {
	at := 0
	if len(line) > 2 && line[0] == '<' {
		end := bytes.IndexByte(line[:min(len(line), 5)], '>')
		if end < 2 || !AllDigits(line[1:end]) {
			return -1
		}
		if at = end + 1; bytes.HasPrefix(line[at:], []byte("1 ")) {
			return header5424(line, at+2)
		}
	}
	if at = syslogTime(line, at); at < 0 {
		return -1
	}
	host := WordEnd(line, at)
	tag := WordEnd(line, min(host+1, len(line)))
	switch {
	case host == at || host == len(line):
		return -1
	case tag > host+1 && tag < len(line) && line[tag-1] == ':':
		return tag + 1
	case line[host-1] == ':': // syslogd of BSD writes no host
		return host + 1
	}
	return -1
}

// syslogTime returns the offset after the time that begins at line[at] and the
// space that follows the time, or -1 if there is no such time.
func syslogTime(line []byte, at int) int {
	if end := WordEnd(line, at); end < len(line) && isTimestamp(line[at:end]) {
		return end + 1
	}
	const form = "Feb 29 23:59:59 "
	if len(line)-at <= len(form) {
		return -1
	}
	for i := range len(form) {
		switch c := line[at+i]; form[i] {
		case ' ', ':':
			if c != form[i] {
				return -1
			}
		default:
			if digit := IsDigit(form[i]); digit != (IsDigit(c) || i == 4 && c == ' ') || !digit && !IsLetter(c) {
				return -1
			}
		}
	}
	return at + len(form)
}

// header5424 returns the offset after a header of RFC 5424 whose time begins at
// offset at, or -1 if there is no such header. The header consists of time, host,
// program, process, message and structured data.
func header5424(line []byte, at int) int {
	for range 5 {
		end := WordEnd(line, at)
		if end == at || end == len(line) {
			return -1
		}
		at = end + 1
	}
	switch {
	case at < len(line) && line[at] == '-':
		at++
	case at < len(line) && line[at] == '[':
		for quoted := false; ; at++ {
			if at == len(line) {
				return -1
			}
			c := line[at]
			if quoted && c == '\\' {
				at = min(at+1, len(line)-1)
				continue
			}
			if c == '"' {
				quoted = !quoted
			}
			if c == ']' && !quoted && (at+1 == len(line) || line[at+1] != '[') {
				at++
				break
			}
		}
	default:
		return -1
	}
	if at == len(line) || line[at] != ' ' {
		return -1
	}
	return at + 1 + MarkLen(line[at+1:])
}

// isTimestamp reports whether word looks like a time of RFC 3339.
func isTimestamp(word []byte) bool {
	return len(word) >= len("2006-01-02T15:04:05Z") && word[4] == '-' && word[7] == '-' && word[10] == 'T' && word[13] == ':' && IsDigit(word[0]) && IsDigit(word[18])
}

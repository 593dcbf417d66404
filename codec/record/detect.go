package record

import "bytes"

// detectRecords is how many records Detect looks at.
const detectRecords = 50

// Detect finds out in which format a stream is from its first bytes: jsonl,
// vhost_combined, combined, clf, lines, tsv or csv. At least half of the first
// records must be of it, the format that asks for more going first. A last
// record that is cut short does not count, unless it is the only one. ok is
// false if no format fits.
func Detect(head []byte) (format string, ok bool) {
	var records [][]byte
	for len(head) > 0 && len(records) < detectRecords {
		n := bytes.IndexByte(head, '\n') + 1
		if n == 0 {
			if len(records) > 0 {
				break
			}
			n = len(head)
		}
		if body := trimEnd(head[:n]); !isBlank(body) {
			records = append(records, body)
		}
		head = head[n:]
	}
	for _, d := range detectors {
		n := 0
		for _, r := range records {
			if d.is(r) {
				n++
			}
		}
		if n > 0 && n*2 >= len(records) {
			return d.format, true
		}
	}
	return detectTable(records)
}

// detectors holds a test for each format, the strictest first.
var detectors = []struct {
	format string
	is     func([]byte) bool
}{
	{"jsonl", looksJSON},
	{"vhost_combined", func(b []byte) bool { return looksLog(b, true, true) }},
	{"combined", func(b []byte) bool { return looksLog(b, false, true) }},
	{"clf", func(b []byte) bool { return looksLog(b, false, false) }},
	{"lines", looksURL},
}

// looksJSON reports whether body is a JSON object.
func looksJSON(body []byte) bool {
	if s := trim(body); body[s.start] != '{' {
		return false
	}
	var s scanner
	v, ok := s.find(body, nil)
	return ok && isBlank(body[v.end:])
}

// looksLog reports whether body is a record of an access log, with a virtual
// host in front or quoted fields behind the request, if these are asked for.
func looksLog(body []byte, vhost, quoted bool) bool {
	open := requestQuote(body)
	if open < 0 {
		return false
	}
	end := requestEnd(body, open, true)
	if end < 0 || quoted && bytes.Count(body[end+1:], []byte(`"`)) < 2 {
		return false
	}
	if !vhost {
		return true
	}
	first, rest, _ := bytes.Cut(body[:open], []byte(" "))
	return isAuthority(first) && (first[0] == '[' || bytes.Count(first, []byte(":")) == 1) && bytes.Count(rest, []byte(" ")) >= 4
}

// looksURL reports whether body is a URL or a path, without white space in it.
func looksURL(body []byte) bool {
	s := trim(body)
	text := s.in(body)
	if bytes.ContainsAny(text, " \t") {
		return false
	}
	i := bytes.Index(text, []byte("://"))
	return text[0] == '/' || i > 0 && isScheme(text[:i])
}

// detectTable recognizes tsv and csv by a separator that occurs equally often,
// and at all, in each record, and by a URL in a cell of at least half of them.
func detectTable(records [][]byte) (format string, ok bool) {
	for _, t := range []struct {
		format string
		sep    byte
	}{{"tsv", '\t'}, {"csv", ','}} {
		columns, withURL := 0, 0
		for i, r := range records {
			n, hasURL := countCells(r, t.sep)
			if n < 2 || i > 0 && n != columns {
				columns = 0
				break
			}
			columns = n
			if hasURL {
				withURL++
			}
		}
		if columns > 1 && withURL*2 >= len(records) {
			return t.format, true
		}
	}
	return "", false
}

// countCells returns how many cells body has, and whether one looks like a URL.
// It is 0 if body is no record.
func countCells(body []byte, sep byte) (n int, hasURL bool) {
	for pos := 0; pos <= len(body); n++ {
		s, _, next, ok := cell(body, pos, sep)
		if !ok {
			return 0, false
		}
		hasURL = hasURL || !isBlank(s.in(body)) && looksURL(s.in(body))
		pos = next
	}
	return n, hasURL
}

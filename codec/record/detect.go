package record

import "bytes"

// detectRecords is how many records Detect looks at.
const detectRecords = 50

// A Guess is the format that Detect found, and how sure it is.
type Guess struct {
	Format  string // a name of Formats
	Records int    // how many records Detect looked at, blank ones not counted
	Fit     int    // how many of them the format fits
}

// Confidence returns the share of the records that fit, from 0.5 to 1.
func (g Guess) Confidence() float64 { return float64(g.Fit) / float64(g.Records) }

// Detect finds the format of a stream from its first bytes: jsonl,
// vhost_combined, combined, clf, csv, tsv or lines. The format must fit at least
// half of the first fifty records; of several formats that do, the strictest
// wins. A last record that is cut short does not count, unless it is the only
// one. ok is false if no format fits. Detect keeps nothing of head.
func Detect(head []byte) (g Guess, ok bool) {
	records := firstRecords(head)
	for _, d := range detectors {
		if n := d.fit(records); n > 0 && n*2 >= len(records) {
			return Guess{Format: d.format, Records: len(records), Fit: n}, true
		}
	}
	return Guess{}, false
}

// firstRecords returns the first records of head without line ends and blank
// records.
func firstRecords(head []byte) (records [][]byte) {
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
	return records
}

// detectors counts for each format how many records it fits, the strictest
// format first. A table with a header comes before lines: its rows may begin with
// a URL, and a header is no line of a list. A table without one comes after.
var detectors = []struct {
	format string
	fit    func(records [][]byte) int
}{
	{"jsonl", countFit(looksJSON)},
	{"vhost_combined", countFit(func(b []byte) bool { return looksLog(b, true, true) })},
	{"combined", countFit(func(b []byte) bool { return looksLog(b, false, true) })},
	{"clf", countFit(func(b []byte) bool { return looksLog(b, false, false) })},
	{"tsv", func(r [][]byte) int { return fitTable(r, '\t', true) }},
	{"csv", func(r [][]byte) int { return fitTable(r, ',', true) }},
	{"lines", countFit(looksURL)},
	{"tsv", func(r [][]byte) int { return fitTable(r, '\t', false) }},
	{"csv", func(r [][]byte) int { return fitTable(r, ',', false) }},
}

// countFit returns a function that counts the records for which is holds.
func countFit(is func([]byte) bool) func([][]byte) int {
	return func(records [][]byte) (n int) {
		for _, r := range records {
			if is(r) {
				n++
			}
		}
		return n
	}
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

// fitTable returns the number of records if they are a table, else 0: the
// separator occurs equally often, and at all, in each record, and at least half
// of the records have a URL in a cell. With header, the first record has none,
// and all others have.
func fitTable(records [][]byte, sep byte, header bool) int {
	columns, withURL := 0, 0
	for i, r := range records {
		n, hasURL := countCells(r, sep)
		switch {
		case n < 2 || i > 0 && n != columns:
			return 0
		case header && hasURL != (i > 0):
			return 0
		case hasURL:
			withURL++
		}
		columns = n
	}
	if header && len(records) < 2 || withURL*2 < len(records) {
		return 0
	}
	return len(records)
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

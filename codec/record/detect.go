package record

import "bytes"

// detectRecords is how many records Detect looks at.
const detectRecords = 50

// A Guess is the format that Detect found, and how sure it is.
type Guess struct {
	Format  string // its name
	Records int    // how many records Detect looked at, blank ones not counted
	Fit     int    // how many of them the format fits
}

// A Sample is the beginning of a stream.
type Sample struct {
	// Head is the beginning as it is.
	Head []byte
	// Records holds its lines without line ends and blank lines, fifty at most. A
	// last line that is cut short is left out, unless it is the only one.
	Records [][]byte
}

// A Fit says how well a format fits a Sample.
type Fit struct {
	// Records is how many of Sample.Records the format fits. A format that does not
	// fit half of them is out of the question.
	Records int
	// Certainty says how much it means that a record fits, from 1 to 100: of several
	// formats that fit the most certain one is chosen, and of equals the first.
	Certainty uint8
}

// The certainties of the built-in formats. A table with a header is more certain
// than lines: its rows may begin with a URL, and a header is no line of a list. A
// table without one is less.
const (
	looksUnmistakable = 100
	looksLikeJSON     = 90
	looksLikeVhost    = 80
	looksLikeCombined = 70
	looksLikeCLF      = 60
	looksLikeHeader   = 50 // and one more for tabs, as below
	looksLikeLines    = 40
	looksLikeTable    = 30
)

// Detect finds the format of a stream from its first bytes: one of Formats or of
// more. The format must fit at least half of the first fifty records. ok is false
// if none does. Detect keeps nothing of head.
func Detect(head []byte, more ...Format) (g Guess, ok bool) {
	s := &Sample{Head: head, Records: firstRecords(head)}
	best := Fit{}
	for _, formats := range [][]Format{builtin, more} {
		for _, f := range formats {
			fit := f.Detect(s)
			if fit.Records > 0 && fit.Records*2 >= len(s.Records) && fit.Certainty > best.Certainty {
				best, ok = fit, true
				g = Guess{Format: f.Name(), Records: len(s.Records), Fit: fit.Records}
			}
		}
	}
	return g, ok
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

// count counts the records for which fits holds.
func (s *Sample) count(certainty uint8, fits func([]byte) bool) Fit {
	f := Fit{Certainty: certainty}
	for _, r := range s.Records {
		if fits(r) {
			f.Records++
		}
	}
	return f
}

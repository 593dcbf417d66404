package record

import "bytes"

// detectRecords is the maximum number of records that Detect examines.
const detectRecords = 50

// Guess is the result of Detect: a format and how many records fit it.
type Guess struct {
	Format  string // name of the format
	Records int    // number of records examined, without blank ones; a line with an array of records counts as one
	Fit     int    // number of these records that fit the format
}

// Sample is the beginning of a stream.
type Sample struct {
	// Head holds the unmodified bytes.
	Head []byte
	// Records holds at most fifty lines of Head, without line ends and without
	// blank lines. An incomplete last line is left out unless it is the only
	// one.
	Records [][]byte
}

// Fit reports how well a format fits a Sample.
type Fit struct {
	// Records is the number of Sample.Records that fit the format. Detect
	// ignores a format that fits less than half of them.
	Records int
	// Certainty says how strongly a fitting record indicates the format, from 1
	// to 100. Of several fitting formats Detect chooses the one with the
	// highest certainty and, on a tie, the first one.
	Certainty uint8
}

// Certainties of the built-in formats. A table with a header is more certain
// than lines, because its rows may begin with a URL but a list of URLs has no
// header. A table without a header is less certain than lines.
const (
	looksUnmistakable    = 100
	looksLikeJSONLog     = 95
	looksLikeJSON        = 90
	looksLikeCDX         = 85
	looksLikeProduct     = 85
	looksLikeVhost       = 80
	looksLikeVhostCommon = 78
	looksLabeled         = 75 // ltsv: before tsv, whose cells it seems to have
	looksLikeCombined    = 70
	looksLogfmt          = 65
	looksLikeCLF         = 60
	looksLikeHeader      = 50 // tsv: one more, see tableFormat.Detect
	looksLikeLines       = 40
	looksLikeTable       = 30
	looksLikeAnyLog      = 20

	looksLikePrefixedJSON = 15
)

// Detect guesses the format of a stream from its first bytes, among the
// built-in formats and those of more. It considers only formats that fit at
// least half of the first fifty records. If there is none, it considers these
// formats after a prefix, such as a syslog header. ok is false if no format
// fits. Detect does not retain head.
func Detect(head []byte, more ...Format) (g Guess, ok bool) {
	s := &Sample{Head: head, Records: firstRecords(head)}
	best := Fit{}
	var chosen Format
	for i, formats := range [][]Format{builtin, more, nil} {
		if i == 2 && best.Certainty <= looksLikeAnyLog {
			formats = prefixedFormats(builtin)
		}
		for _, f := range formats {
			fit := f.Detect(s)
			if fit.Records > 0 && fit.Records*2 >= len(s.Records) && fit.Certainty > best.Certainty {
				best, chosen, ok = fit, f, true
				g = Guess{Format: f.Name(), Records: len(s.Records), Fit: fit.Records}
			}
		}
	}
	switch g.Format {
	case (jsonFormat{}).Name():
		if line, found := s.detectLine(); found {
			return line, true
		}
	case journalName:
		if line, found := s.detectMessage(); found {
			return line, true
		}
	}
	if f, is := chosen.(unlined); is {
		g.Records, g.Fit = countRecords(f.unlined(), head)
	}
	return g, ok
}

// unlined is implemented by Formats whose records are not always lines.
type unlined interface {
	// unlined returns a Reader that finds where the records end.
	unlined() Reader
}

// countRecords returns how many records head begins with, without blank ones and
// an incomplete last one, and how many of them are intact. A single incomplete
// record counts as intact.
func countRecords(r Reader, head []byte) (n, intact int) {
	length, statesLength := r.(LengthFraming)
	for head = head[markLen(head):]; len(head) > 0 && n < detectRecords; {
		size, sound := 0, true
		if statesLength {
			size, sound = length.Span(head, false)
		} else if r.Cut(head) > 0 {
			size = r.Next(head)
		}
		if size == 0 {
			break
		}
		if !isBlank(head[:size]) {
			n++
			if sound {
				intact++
			}
		}
		head = head[size:]
	}
	if n == 0 {
		return 1, 1
	}
	return n, intact
}

// firstRecords returns the first records of head without line ends and byte
// order mark, skipping blank records.
func firstRecords(head []byte) (records [][]byte) {
	head = head[markLen(head):]
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

// count returns a Fit with the number of records for which fits returns true.
func (s *Sample) count(certainty uint8, fits func([]byte) bool) Fit {
	f := Fit{Certainty: certainty}
	for _, r := range s.Records {
		if fits(r) {
			f.Records++
		}
	}
	return f
}

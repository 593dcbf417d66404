package formats

import (
	"bytes"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/table"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

// Guess is the result of Detect: a format and how many records fit it.
type Guess struct {
	Format  string // name of the format
	Records int    // number of records examined, without blank ones; a line with an array of records counts as one
	Fit     int    // number of these records that fit the format
}

// Detect guesses the format of a stream from its first bytes, among the
// built-in formats and custom ones. It considers only formats that fit at least
// half of the first fifty records. If no format fits, it considers the formats
// after a prefix, such as a syslog header. ok is false if no format fits. It
// does not retain head.
func Detect(head []byte, custom []locate.Format) (g Guess, ok bool) {
	head = head[locate.HoleLen(head):]
	s := &locate.Sample{Head: head, Records: firstRecords(head)}
	best := locate.Fit{}
	var chosen locate.Format
	for i, formats := range [][]locate.Format{Builtin, custom, nil} {
		if i == 2 && best.Certainty <= locate.LooksLikeAnyLog {
			formats = prefixedFormats(Builtin)
		}
		for _, f := range formats {
			fit := f.Detect(s)
			if fit.Records > 0 && fit.Records*2 >= len(s.Records) && fit.Certainty > best.Certainty {
				best, chosen, ok = fit, f, true
				g = Guess{Format: f.Name(), Records: len(s.Records), Fit: fit.Records}
			}
		}
	}
	if best.Certainty <= locate.LooksLikeJSON {
		if document, found := detectDocument(head); found {
			return document, true
		}
	}
	switch g.Format {
	case (jsonlines.Format{}).Name():
		if line, found := detectLine(s); found {
			return line, true
		}
	case wire.JournalName:
		lines := locate.Sample{Records: wire.JournalMessages(s)}
		if line, found := detectInner(&lines, wire.JournalName, len(lines.Records)); found {
			return line, true
		}
	}
	if f, is := chosen.(locate.Unlined); is {
		g.Records, g.Fit = countRecords(f.Unlined(), head)
	}
	return g, ok
}

// detectDocument returns the guess for objects that do not have one line each.
func detectDocument(head []byte) (g Guess, ok bool) {
	objects, har := jsonlines.Elements(head)
	s := &locate.Sample{Head: head, Records: objects}
	g = Guess{Format: jsonlines.DocumentName, Records: len(objects), Fit: len(objects)}
	if len(objects) == 0 {
		return Guess{jsonlines.DocumentName + locate.PrefixSeparator + "har", 1, 1}, har
	}
	for _, f := range documentFormats() {
		log := jsonlines.LogFormat{Log: f.(jsonlines.DocumentFormat).Log}
		if fit := log.Detect(s); fit.Records > 0 && fit.Records*2 >= len(objects) {
			return Guess{f.Name(), len(objects), fit.Records}, true
		}
	}
	return g, true
}

// countRecords returns how many records head contains, without blank ones and
// an incomplete last one, and how many of them are intact. A single incomplete
// record counts as intact.
func countRecords(r locate.Reader, head []byte) (n, intact int) {
	length, statesLength := r.(locate.LengthFraming)
	for head = head[locate.MarkLen(head):]; len(head) > 0 && n < locate.DetectRecords; {
		size, sound := 0, true
		if statesLength {
			size, sound = length.Span(head, false)
		} else if r.Cut(head) > 0 {
			size = r.Next(head)
		}
		if size == 0 {
			break
		}
		if !locate.IsBlank(head[:size]) {
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
	head = head[locate.MarkLen(head):]
	for len(head) > 0 && len(records) < locate.DetectRecords {
		n := bytes.IndexByte(head, '\n') + 1
		if n == 0 {
			if len(records) > 0 {
				break
			}
			n = len(head)
		}
		if body := locate.TrimEnd(head[:n]); !locate.IsBlank(body) {
			records = append(records, body)
		}
		head = head[n:]
	}
	return records
}

// DetectHeader guesses the format of a table without rows. text is the whole
// stream: a header with the names of at least two columns. ok is false if text
// is anything else. Detect does not guess a table without rows, because other
// text can look like it: a single line of words with a separator between them.
func DetectHeader(text []byte) (format string, ok bool) {
	if len(text) > table.MaxHeader {
		return "", false
	}
	most := 1
	for _, f := range Builtin {
		t, isTable := f.(table.Format)
		if !isTable {
			continue
		}
		names := t.OnlyHeader(text)
		if len(names) > most {
			format, most = t.ID, len(names)
		}
	}
	return format, most > 1
}

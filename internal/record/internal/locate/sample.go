package locate

import "bytes"

// DetectRecords is the maximum number of records that Detect examines.
const DetectRecords = 50

// Sample is the beginning of a stream.
type Sample struct {
	// Head holds the unmodified bytes.
	Head []byte
	// Records holds at most fifty lines of Head, without line ends and without
	// blank lines. An incomplete last line counts only if it is the only line.
	Records [][]byte
}

// Fit reports how well a format fits a Sample.
type Fit struct {
	// Records is the number of Sample.Records that fit the format. Detect
	// ignores a format that fits less than half of them.
	Records int
	// Certainty says how strongly a fitting record indicates the format, from 1
	// to 100. Of several fitting formats Detect chooses the format with the
	// highest certainty and, on a tie, the first such format.
	Certainty uint8
}

// Certainties of the built-in formats. A table with a header is more certain
// than lines, because its rows may begin with a URL but a list of URLs comes
// without a header. A table without a header is less certain than lines.
const (
	LooksUnmistakable    = 100
	LooksLikeJSONLog     = 95
	LooksLikeJSON        = 90
	LooksLikeCDX         = 85
	LooksLikeProduct     = 85
	LooksLikeVhost       = 80
	LooksLikeVhostCommon = 78
	LooksLabeled         = 75 // for ltsv, which must come before tsv, because its lines look like cells
	LooksLikeCombined    = 70
	LooksLogfmt          = 65
	LooksLikeCLF         = 60
	LooksLikeHeader      = 50 // for tsv, one more: see table.Format.Detect
	LooksLikeLines       = 40
	LooksLikeTable       = 30
	LooksLikeAnyLog      = 20

	LooksLikePrefixedJSON = 15
)

// Unlined is implemented by Formats whose records are not always lines.
type Unlined interface {
	// Unlined returns a Reader that finds where the records end.
	Unlined() Reader
}

// All returns a Fit for a format that has recognized all records.
func (s *Sample) All(certainty uint8) Fit { return Fit{len(s.Records), certainty} }

// Count returns a Fit with the number of records for which fits returns true.
func (s *Sample) Count(certainty uint8, fits func([]byte) bool) Fit {
	f := Fit{Certainty: certainty}
	for _, r := range s.Records {
		if fits(r) {
			f.Records++
		}
	}
	return f
}

// LooksURL reports whether body is a URL or a path without white space inside.
func LooksURL(body []byte) bool {
	s := Trim(body)
	text := s.In(body)
	if bytes.ContainsAny(text, " \t") {
		return false
	}
	i := bytes.Index(text, []byte("://"))
	return text[0] == '/' || i > 0 && IsScheme(text[:i])
}

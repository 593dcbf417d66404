package record

import (
	"bytes"
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/formats"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/table"
)

// This file holds the methods that describe the format of a Job.

// CheckHead checks that the header record head, as returned by [Framing] Head,
// has the columns that the configuration names. It returns nil for formats
// without a header. The error joins a *ConfigError for each missing column, and
// suggests the most similar column name. It quotes nothing else of head,
// because the head of a table without a header is data.
func (j *Job) CheckHead(head []byte) error {
	if h, ok := j.reader.(locate.HeadChecker); ok {
		return h.CheckHead(head)
	}
	return nil
}

// Notice returns a sentence about the output for users, or "".
func (j *Job) Notice() string {
	if _, ok := j.reader.(locate.Keyed); ok && j.render == RenderRewrite {
		return "the URLs of the index were rewritten, but not its keys, by which it is sorted"
	}
	return ""
}

// Apart reports whether each output record must be compressed as a separate
// gzip member or zstd frame.
func (j *Job) Apart() bool {
	_, ok := j.reader.(locate.MemberFormat)
	return ok && j.render == RenderRewrite
}

// Nested reports whether a line of the output can consist of the output of
// several records. Such records are elements of an array, and their outputs
// are complete only together.
func (j *Job) Nested() bool {
	_, ok := j.reader.(jsonlines.WrappedReader)
	return ok && j.render.KeepsRecords()
}

// Shaped reports whether the output holds copies of JSON texts or of the rows
// of a table. Other text between them would make the output unreadable.
func (j *Job) Shaped() bool {
	if !j.render.KeepsRecords() {
		return false
	}
	switch j.reader.(type) {
	case *jsonlines.Reader, *jsonlines.PartsReader, jsonlines.WrappedReader, *table.Reader:
		return true
	}
	return false
}

// Headed reports whether the output has headers or directives of the input. The records
// after a header or directive cannot be read without it, and must follow it.
func (j *Job) Headed() bool {
	if !j.render.KeepsRecords() {
		return false
	}
	switch r := j.reader.(type) {
	case Director:
		return true
	case *table.Reader:
		return r.Named
	}
	return false
}

// Ordered reports whether the parts of the output must stay in order: a header before
// its rows, and the pieces of a long record with a stated length next to each other.
func (j *Job) Ordered() bool { return j.Apart() || j.Binary() || j.Headed() }

// LineByLine reports whether each line of the input is a record that can be
// read without earlier lines. It returns false for binary records, documents,
// tables with a header, formats with directives, and lines of several records.
func (j *Job) LineByLine() bool {
	switch r := j.reader.(type) {
	case locate.BinaryReader, LengthFraming, locate.Extractor, jsonlines.WrappedReader, Director:
		return false
	case *table.Reader:
		return !r.Named
	}
	_, several := j.reader.(locate.LineCounter)
	return !several
}

// Framing returns the Framing of the job's format.
func (j *Job) Framing() Framing { return j.reader }

// Lacks reports whether no record of the job can have the output field
// FieldNames()[i], because neither the format nor the header record head provides
// the field. It returns false for formats whose records name their own fields. If
// head is nil, the header is not known yet.
func (j *Job) Lacks(i int, head []byte) bool {
	f := fieldID(i)
	if !canLack.has(f) {
		return false
	}
	all := uint16(locate.AllAttrs)
	if r, ok := j.reader.(locate.Attributed); ok {
		all = r.Attributes()
	}
	if r, ok := j.reader.(locate.HeadAttributed); ok && head != nil {
		all = r.AttributesIn(head)
	}
	return all>>attrOf(f)&1 == 0
}

// NamesFields reports whether the records of the job name their fields, as JSON objects
// do. Any such record may have or lack a given field.
func (j *Job) NamesFields() bool {
	_, known := j.reader.(locate.Attributed)
	return !known
}

// Maps reports whether Config.Map can name fields of the job's format.
func (j *Job) Maps() bool {
	_, ok := j.reader.(locate.Mapped)
	return ok
}

// QuoteOf returns the value of Quote for an input of the format c.Format with the first
// bytes head. It is c.Quote unless that is empty and the format is a table separated by
// tabs. Many programs write such tables without quotes, so the result is `"` only if
// cells of head begin with a quote and all of these cells end with a quote on the same
// line. If one of them does not, the result is "none".
func (c *Config) QuoteOf(head []byte) string {
	f, _ := formats.FindFormat(c.Format, c.custom(c.Formats))
	format, is := f.(table.Format)
	if !is {
		return c.Quote
	}
	t, err := table.SyntaxFor(c.settings(), format.Sep)
	if err != nil || !t.ByLine {
		return c.Quote
	}
	quoted := false
	for head = head[locate.MarkLen(head):]; len(head) > 0; {
		n := bytes.IndexByte(head, '\n') + 1
		if n == 0 {
			n = len(head)
		}
		body := locate.TrimEnd(head[:n])
		switch head = head[n:]; {
		case !hasOpening(body, &t):
		case t.Of(body) == t.Bare && (len(head) > 0 || !quoted): // otherwise head may end inside a quoted cell
			return table.QuoteNone
		default:
			quoted = true
		}
	}
	if quoted {
		return `"`
	}
	return ""
}

// hasOpening reports whether a cell of a line starts with a quote.
func hasOpening(body []byte, t *table.Syntax) bool {
	return len(body) > 0 && body[0] == t.Quote || bytes.Contains(body, []byte{t.Sep, t.Quote})
}

// NewFit returns a function that reports whether a record, with or without its
// line end, fits the format of the job: the configured fields exist, the URL
// can be parsed, and there are no control characters except tabs. Use it to
// guess which text is damaged; damaged text can still fit. For documents and for
// formats whose records state their length the function always returns true,
// because one line is not enough to decide.
//
// head is the header record or the current directive, or nil. Directives among
// the records do not change it. The function must not be called concurrently.
// It does not retain the record and does not panic.
func (j *Job) NewFit(head []byte) func(rec []byte) bool {
	_, length := j.reader.(LengthFraming)
	if _, ok := j.reader.(locate.Extractor); ok || length {
		return func([]byte) bool { return true } // callers pass lines, and any text can be in a document
	}
	var out, dead []byte
	w := j.NewWorker()
	return func(rec []byte) (fits bool) {
		defer func() {
			if recover() != nil {
				fits, w = false, j.NewWorker()
			}
		}()
		body := locate.TrimEnd(rec)
		if slices.ContainsFunc(body, func(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return false
		}
		if v, ok := j.reader.(locate.Validator); ok && !locate.IsBlank(body) && !v.Valid(body) {
			return false
		}
		var st Stats
		out, dead = w.Append(out[:0], dead[:0], rec, Position{Head: head, Off: 1}, &st)
		return st.Rejected == 0 && w.Err() == nil
	}
}

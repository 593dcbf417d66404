package jsonlines

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// DocumentFormat reads objects that do not have one line each: JSON texts over
// several lines, and the elements of an array, which can be a member of an
// object. Its records are the text itself, so that a rewrite changes only URLs:
//
//	{"log":{"version":"1.2","entries":[ {"a":1}, {"a":2} ]}}
//	|                                          |            |
//	first record                               second record
//
// Text on the lines after the last element, such as the end of the document, is
// passed through.
type DocumentFormat struct{ *Log } // nil: the job names the fields

// DocumentName is the name of the format without a Log.
const DocumentName = "json"

// Name implements [locate.Format].
func (d DocumentFormat) Name() string {
	if d.Log == nil {
		return DocumentName
	}
	return DocumentName + locate.PrefixSeparator + d.ID
}

// Detect implements [locate.Format]. Detection uses Elements.
func (DocumentFormat) Detect(*locate.Sample) locate.Fit { return locate.Fit{} }

// Open implements [locate.Format].
func (d DocumentFormat) Open(c *locate.Settings) (locate.Reader, error) {
	inner := *c
	var r locate.Reader
	var err error
	switch {
	case d.Log != nil:
		r, err = LogFormat(d).Open(&inner)
	case c.URLField == "" && c.URL.IsZero():
		_, err = Format{}.Open(&inner)
		return &Reader{}, err
	default:
		if c.URLField != "" {
			inner.URL.Absolute, inner.URLField = append(inner.URL.Absolute[:len(inner.URL.Absolute):len(inner.URL.Absolute)], c.URLField), ""
		}
		r, err = openParts(&inner)
	}
	if w, ok := r.(WrappedReader); ok {
		r = w.PartsReader
	}
	parts := r.(*PartsReader)
	parts.document, parts.Member = true, nil
	return WrappedReader{parts}, errors.Join(err)
}

// recordArrays are the members of an object that can hold its records.
var recordArrays = map[string]bool{"records": true, "Records": true, "value": true, "logEvents": true}

// enterDocument moves s from the start of a record to the start of its object.
// It returns false if the record contains no object.
func (s *Scanner) enterDocument() bool {
	s.Pos += locate.MarkLen(s.B)
	s.Space()
	switch c := s.Peek(); c {
	case ',', '[':
		s.Pos++
		s.Space()
		return s.Peek() == '{'
	case '{':
		start := s.Pos
		if !s.enterArray(false) {
			s.Pos, s.Broken = start, false
		}
		return true
	}
	return false
}

// enterArray moves s from an object to the first object in the array with its
// records. inner says that the object is the member log of an HTTP archive, or
// the member hits of a response of Elasticsearch.
func (s *Scanner) enterArray(inner bool) bool {
	for more := !s.EnterEmpty('}'); more; more = s.More('}') {
		name, _ := s.RawName()
		value := s.Pos
		switch {
		case s.Broken:
			return false
		case s.Peek() == '[' && (inner && (string(name) == "entries" || string(name) == "hits") || !inner && recordArrays[string(name)]):
			if !s.EnterEmpty(']') && s.Peek() == '{' {
				return true
			}
		case s.Peek() == '{' && !inner && (string(name) == "log" || string(name) == "hits"):
			if s.enterArray(true) {
				return true
			}
		}
		s.Pos = value
		s.Skip()
	}
	return false
}

// documentRecord returns the length of the first record of in, or 0 if in may not hold
// all of it. A damaged record ends with its line.
func documentRecord(in []byte) int {
	const longestToken = len(`\u0000`)
	s := Scanner{B: in}
	if s.enterDocument() {
		s.Skip()
		switch {
		case s.Broken && len(in)-s.Pos < longestToken:
			return 0
		case s.Broken:
			if at := bytes.LastIndexByte(in[:s.Pos], '\n') + 1; at > 0 && locate.IsBlank(in[at:s.Pos]) {
				return at // the next line begins another document
			}
		default:
			if n, ends := documentEnd(in, s.Pos); ends {
				return n
			}
		}
	}
	if n := bytes.IndexByte(in[s.Pos:], '\n') + 1; n > 0 {
		return s.Pos + n
	}
	return 0
}

// documentEnd returns the end of the record whose object ends at pos: after the comma or
// the line end that follows. ends is false if the record ends with its line.
func documentEnd(in []byte, pos int) (n int, ends bool) {
	comma := false
	for ; pos < len(in); pos++ {
		switch c := in[pos]; {
		case c == '\n':
			return pos + 1, true
		case c == ',' && !comma:
			comma = true
		case c == ' ' || c == '\t' || c == '\r':
		case c == ']' || c == '}':
			return pos, false
		default:
			return pos, true
		}
	}
	return 0, true // the text after the end may belong to the document
}

// Elements returns the first objects of head, a text that does not have one
// object per line, without the text between them. har says that the text begins
// an HTTP archive.
func Elements(head []byte) (objects [][]byte, har bool) {
	s := Scanner{B: head}
	start := locate.Trim(head).Start
	first := firstObject(head[start:])
	line := bytes.IndexByte(first, '\n') < 0 && !bytes.HasPrefix(head[start+len(first):], []byte("{")) // files of Amazon Data Firehose have no line ends
	if !s.enterDocument() || s.Pos == start && line {
		return nil, false
	}
	har = bytes.Contains(head[:s.Pos], []byte(`"entries"`))
	for len(objects) < locate.DetectRecords {
		n := documentRecord(head)
		rec := head[:n]
		if n == 0 {
			rec = head
		}
		e := Scanner{B: rec}
		if e.enterDocument() {
			start := e.Pos
			if e.Skip(); !e.Broken {
				objects = append(objects, rec[start:e.Pos])
			}
		}
		if n == 0 {
			break
		}
		head = head[n:]
	}
	return objects, har
}

// firstObject returns the object with which text begins, or as much of it as there is.
func firstObject(text []byte) []byte {
	s := Scanner{B: text}
	s.Pos += locate.MarkLen(text)
	s.Space()
	start := s.Pos
	if s.Skip(); s.Broken && bytes.IndexByte(text[start:], '\n') >= 0 {
		return text[start : start+bytes.IndexByte(text[start:], '\n')] // a damaged line
	}
	return text[start:s.Pos]
}

// Package escapechart makes charts of the bytes that must be percent-encoded,
// from the sets of package percent.
package escapechart

import (
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec/percent"
)

// Cell reports whether a byte must be escaped in a component.
type Cell byte

// Cells of a chart, as printed.
const (
	Always     Cell = 'Y' // always encode
	Never      Cell = 'N' // never encode
	AsData     Cell = 'm' // encode unless used for its purpose, as a delimiter
	NotAllowed Cell = '-' // not allowed, even escaped
)

// Note numbers a difference between RFC 3986 and the WHATWG URL Standard.
type Note uint8

// Notes about the byte of a row. 1 to 4 have the same numbers and meanings as
// in published charts of this kind.
const (
	NoteBackslash    Note = 1 + iota // '\' is interpreted as '/' in the path of a special scheme
	NotePath                         // WHATWG does not encode it in a path
	NoteQuery                        // WHATWG does not encode it in a query
	NoteFragment                     // WHATWG does not encode it in a fragment
	NoteSpecialQuery                 // WHATWG encodes it in the query of a special scheme
	NoteUserinfo                     // WHATWG encodes it in userinfo
	numNotes         = iota
)

var noteTexts = [numNotes + 1]string{
	NoteBackslash:    `WHATWG: read as "/" in the path of a special scheme (http, https, ws, wss, ftp, file)`,
	NotePath:         "WHATWG: not encoded in a path",
	NoteQuery:        "WHATWG: not encoded in a query",
	NoteFragment:     "WHATWG: not encoded in a fragment",
	NoteSpecialQuery: "WHATWG: encoded in the query of a special scheme",
	NoteUserinfo:     "WHATWG: encoded in a username or password",
}

// String returns the text of the note.
func (n Note) String() string {
	if n > 0 && int(n) < len(noteTexts) {
		return noteTexts[n]
	}
	return fmt.Sprintf("note(%d)", uint8(n))
}

// Chart shows, for each byte, whether it must be escaped in each component
// under one standard.
type Chart struct {
	Standard string
	Columns  []string
	Rows     []Row
}

// Row is the row for one byte, or for a range of bytes with the same
// cells.
type Row struct {
	First, Last byte
	Class       string // name of the byte's class in the standard, or ""
	Cells       []Cell // one per column
	Notes       []Note // in ascending order; only for rfc3986 and whatwg
}

// column describes a component in a chart.
type column struct {
	name   string
	raw    percent.ByteSet
	scheme func(byte) bool // the bytes of a scheme, which cannot have escapes; nil for other components
	delims string          // bytes that have a purpose in the component or end it
}

func (col column) cell(c byte) Cell {
	switch {
	case col.scheme != nil && !col.scheme(c):
		return NotAllowed
	case col.scheme != nil:
		return Never
	case c == '%':
		return Always // RFC 3986 §2.4: in data it must be %25
	case strings.IndexByte(col.delims, c) >= 0:
		return AsData
	case col.raw.Has(c):
		return Always
	}
	return Never
}

const subDelims = "!$&'()*+,;="

// charts lists the columns for each standard. The column auth uses the rules of
// userinfo, the part of an authority in which every standard allows escapes.
var charts = []struct {
	standard string
	columns  []column
	class    func(c byte) string
}{
	{"rfc3986", []column{
		{name: "scheme", scheme: inScheme3986},
		{name: "auth", raw: percent.RFC3986Userinfo, delims: subDelims + ":@[]/?#"},
		{name: "path", raw: percent.RFC3986Path, delims: subDelims + "/?#"},
		{name: "query", raw: percent.RFC3986Query, delims: subDelims + "#"},
		{name: "fragment", raw: percent.RFC3986Fragment, delims: subDelims},
	}, class3986},
	{"whatwg", []column{
		{name: "scheme", scheme: inScheme3986},
		{name: "auth", raw: percent.WHATWGUserinfo, delims: `:@[]/\?#`},
		{name: "path", raw: percent.WHATWGPath, delims: `/\?#`},
		{name: "query", raw: percent.WHATWGSpecialQuery, delims: "&=+#"},
		{name: "fragment", raw: percent.WHATWGFragment},
	}, class3986},
	{"rfc1738", []column{
		{name: "scheme", scheme: inScheme1738},
		{name: "auth", raw: percent.RFC1738Userinfo, delims: ":@/"},
		{name: "path", raw: percent.RFC1738Path, delims: "/;?"},
		{name: "query", raw: percent.RFC1738Query, delims: ";"},
		{name: "fragment", raw: percent.RFC1738Fragment},
	}, class1738},
	{"form", []column{
		{name: "name or value", raw: percent.WHATWGForm, delims: "&=+"},
	}, classForm},
}

// New returns the chart for a standard (rfc3986, whatwg, rfc1738 or form),
// computed from the sets of package percent. It has one row for each byte from 20
// to 7E, followed by the controls, DEL, and the bytes from 80 to FF. It returns
// an error if the standard is unknown.
func New(standard string) (Chart, error) {
	for _, s := range charts {
		if s.standard != standard {
			continue
		}
		ch := Chart{Standard: standard}
		for _, col := range s.columns {
			ch.Columns = append(ch.Columns, col.name)
		}
		for c := byte(0x20); c < 0x7F; c++ {
			ch.Rows = append(ch.Rows, newRow(s.columns, c, c, s.class(c)))
			if standard == "rfc3986" || standard == "whatwg" {
				ch.Rows[len(ch.Rows)-1].Notes = notes(c)
			}
		}
		ch.Rows = append(ch.Rows, newRow(s.columns, 0x00, 0x1F, "control"),
			newRow(s.columns, 0x7F, 0x7F, "control"), newRow(s.columns, 0x80, 0xFF, "not ASCII"))
		return ch, nil
	}
	return Chart{}, errUnknown(standard)
}

func errUnknown(standard string) error {
	return fmt.Errorf("unknown standard %q: must be one of %s", standard, strings.Join(percent.Standards(), ", "))
}

func newRow(columns []column, first, last byte, class string) Row {
	r := Row{First: first, Last: last, Class: class}
	for _, col := range columns {
		r.Cells = append(r.Cells, col.cell(first))
	}
	return r
}

// inScheme3986 reports whether c is in the scheme of RFC 3986 §3.1.
func inScheme3986(c byte) bool { return inScheme1738(c) || 'A' <= c && c <= 'Z' }

// inScheme1738 reports whether c is in the scheme of RFC 1738 §5, which is in
// lower case.
func inScheme1738(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("+-.", c) >= 0
}

// class3986 returns the class of c in RFC 3986 §2.
func class3986(c byte) string {
	switch {
	case c == '%':
		return "escape"
	case percent.IsUnreserved(c):
		return "unreserved"
	case strings.IndexByte(subDelims, c) >= 0:
		return "sub-delim"
	case percent.IsReserved(c):
		return "gen-delim"
	}
	return ""
}

// class1738 returns the class of c in RFC 1738 §2.2 and §5.
func class1738(c byte) string {
	switch {
	case strings.IndexByte(";/?:@=&", c) >= 0:
		return "reserved"
	case strings.IndexByte("$-_.+", c) >= 0:
		return "safe"
	case strings.IndexByte("!*'(),", c) >= 0:
		return "extra"
	case percent.RFC1738Path.Has(c) || c == '%':
		return "unsafe"
	}
	return "alphanumeric"
}

// classForm returns a remark for the space, the only byte with a special
// encoding in forms (URL Standard §5.2).
func classForm(c byte) string {
	if c == ' ' {
		return `written as "+"`
	}
	return ""
}

// notes returns the differences between the WHATWG sets and the RFC 3986 sets
// for c.
func notes(c byte) (ns []Note) {
	for _, d := range []struct {
		note      Note
		more, few percent.ByteSet // the note is for the bytes in more that are not in few
	}{
		{NotePath, percent.RFC3986Path, percent.WHATWGPath},
		{NoteQuery, percent.RFC3986Query, percent.WHATWGSpecialQuery},
		{NoteFragment, percent.RFC3986Fragment, percent.WHATWGFragment},
		{NoteSpecialQuery, percent.WHATWGSpecialQuery, percent.RFC3986Query},
		{NoteUserinfo, percent.WHATWGUserinfo, percent.RFC3986Userinfo},
	} {
		switch {
		case !d.more.Has(c) || d.few.Has(c):
		case c == '\\' && d.note == NotePath:
			ns = append(ns, NoteBackslash) // raw in a path it is a delimiter, not data
		default:
			ns = append(ns, d.note)
		}
	}
	return ns
}

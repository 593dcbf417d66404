package record

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf8"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file renders rows for columns, as in a Parquet file or an Arrow stream. A row is a
// value for each of Job.Columns, in order, and a line feed:
//
//	absent           0
//	string           length + 1, then the bytes; also a time and a decimal
//	integer          n + 1; no field is negative
//	list of strings  count + 1, then each string
//	diagnostics      count + 1, then a value for each of Column.Members
//
// Numbers are unsigned varints. The line feed is for sinks, which expect that
// records end with one.

// A ColumnKind is the type of a column.
type ColumnKind uint8

// The types of columns.
const (
	ColumnString      ColumnKind = iota // UTF-8
	ColumnBase64                        // bytes that are not UTF-8, in base64
	ColumnJSON                          // a JSON text
	ColumnInt                           // an integer that is not negative
	ColumnDecimal                       // a decimal number, as text
	ColumnTime                          // a time in the form of RFC 3339
	ColumnStrings                       // a list of UTF-8 strings
	ColumnDiagnostics                   // a list of structs of Column.Members
)

// A Column describes a column of RenderParquet and RenderArrow. Every value may be absent.
type Column struct {
	Name    string
	Kind    ColumnKind
	Repeats bool     // the column has few distinct values
	Members []Column // members of ColumnDiagnostics: strings and integers
}

// Columns returns the columns that RenderParquet and RenderArrow write, in order. A field is
// one column, with three exceptions: url and record have a second one for
// values that are not UTF-8, and error has columns for its offset and its flag.
func (j *Job) Columns() []Column {
	var list []Column
	for _, f := range j.fields {
		c := j.column(f)
		if f == fDiagnostics {
			c.Members = j.diagnosticColumns()
		}
		list = append(list, c)
		switch f {
		case fURL, fRecord:
			list = append(list, Column{Name: c.Name + "_b64", Kind: ColumnBase64})
		case fError:
			list = append(list, Column{Name: "error_at", Kind: ColumnInt}, Column{Name: "error_flag", Repeats: true})
		}
	}
	return list
}

// diagnosticColumns returns the members of a diagnostic.
func (j *Job) diagnosticColumns() []Column {
	list := []Column{{Name: "flag", Repeats: true}, {Name: "at", Kind: ColumnInt}}
	if j.wants.has(fRecord) {
		list = append(list, Column{Name: "record_at", Kind: ColumnInt})
	}
	list = append(list, Column{Name: "component", Repeats: true}, Column{Name: "action", Repeats: true})
	if j.wants.has(fParams) {
		list = append(list, Column{Name: "param", Repeats: true})
	}
	return list
}

// A ColumnReader reads the numbers and strings of a row.
type ColumnReader struct {
	In  []byte // the unread rest of the row
	Bad bool   // the row is not valid; In is then nil
}

// Number reads the number at the start of a value: the length of a string, an
// integer or the count of a list. ok is false, and n negative, if the value is absent.
func (r *ColumnReader) Number() (n int, ok bool) {
	v, size := binary.Uvarint(r.In)
	if size <= 0 || int(v) < 0 {
		r.Bad, r.In = true, nil
		return -1, false
	}
	r.In = r.In[size:]
	return int(v) - 1, v > 0
}

// Bytes reads n bytes, which point into the row.
func (r *ColumnReader) Bytes(n int) []byte {
	if n < 0 || n > len(r.In) {
		r.Bad, r.In = true, nil
		return nil
	}
	v := r.In[:n:n]
	r.In = r.In[n:]
	return v
}

// Text reads a string that is not absent.
func (r *ColumnReader) Text() []byte {
	n, ok := r.Number()
	r.Bad = r.Bad || !ok
	return r.Bytes(n)
}

// columns appends the row of the current URL, or of a rejected record. The fields that are
// not in present are absent.
func (r *renderer) columns(out []byte, s *locate.Site, rec []byte, at *Position, present fieldSet) []byte {
	c := &r.n.cur
	for _, f := range r.job.fields {
		if !present.has(f) {
			if out = append(out, 0); f == fURL || f == fRecord {
				out = append(out, 0)
			}
			continue
		}
		switch f {
		case fURL, fRecord:
			v, _ := r.v.value(f, s, rec, at)
			out = appendColumnBytes(out, v)
		case fLine:
			out = appendColumnInt(out, at.Line)
		case fOffset:
			out = appendColumnInt(out, at.Off)
		case fFlags:
			out = appendColumnFlags(out, c.flags)
		case fDiagnostics:
			out = r.columnDiagnostics(out, s)
		case fError:
			out = r.columnWhy(out)
		default:
			v, ok := r.v.value(f, s, rec, at)
			if r.job.column(f).Kind == ColumnInt {
				out = appendColumnDigits(out, v, ok)
			} else {
				out = appendColumnText(out, v, ok)
			}
		}
	}
	return append(out, '\n')
}

// columnWhy appends the columns of fError.
func (r *renderer) columnWhy(out []byte) []byte {
	c := &r.n.cur
	if c.why == 0 {
		return append(out, 0, 0, 0)
	}
	out = appendColumnInt(appendColumnString(out, c.why.String()), int64(c.errAt))
	if c.why != Flagged {
		return append(out, 0)
	}
	return appendColumnString(out, c.flag.String())
}

// columnDiagnostics appends the diagnostics of the current URL.
func (r *renderer) columnDiagnostics(out []byte, s *locate.Site) []byte {
	list := r.n.diagnostics()
	out = appendColumnInt(out, int64(len(list)))
	for _, m := range list {
		out = appendColumnInt(appendColumnString(out, m.Flag.String()), int64(m.At))
		if r.job.wants.has(fRecord) {
			out = appendColumnInt(out, int64(s.Start+r.n.rawOffset(int(m.At))))
		}
		out = appendColumnString(out, m.Component.String())
		out = appendColumnString(out, m.Action.String())
		if r.job.wants.has(fParams) {
			q := r.n.markedParam(m)
			if q == nil {
				out = append(out, 0)
				continue
			}
			out = appendColumnText(out, r.v.list.shownParam(r.n.params.reader.Name(q), false), true)
		}
	}
	return out
}

// absentNumber is the integer for which appendColumnInt writes an absent value.
const absentNumber = -1

// appendColumnInt appends an integer.
func appendColumnInt(out []byte, n int64) []byte {
	return binary.AppendUvarint(out, uint64(n)+1)
}

// appendColumnDigits appends the decimal number in digits. It appends an absent
// value if ok is false or the number has more than maxDigits digits.
func appendColumnDigits(out, digits []byte, ok bool) []byte {
	if !ok || len(digits) > maxDigits {
		return append(out, 0)
	}
	var n int64
	for _, c := range digits {
		n = 10*n + int64(c-'0')
	}
	return appendColumnInt(out, n)
}

// maxDigits is the largest number of digits that always fit in an int64.
const maxDigits = 18

// appendColumnString appends a string that is known to be UTF-8.
func appendColumnString(out []byte, s string) []byte {
	return append(appendColumnInt(out, int64(len(s))), s...)
}

// appendColumnBytes appends v, which may be any bytes, as two columns: if v is
// UTF-8, the text and an absent value; otherwise an absent value and v in base64.
func appendColumnBytes(out, v []byte) []byte {
	if isUTF8(v) {
		return append(appendColumnText(out, v, true), 0)
	}
	out = appendColumnInt(append(out, 0), int64(base64.StdEncoding.EncodedLen(len(v))))
	return locate.AppendBase64(out, v)
}

// appendColumnText appends v, or an absent value if ok is false. Only a profile without
// the rules for raw bytes leaves bytes that are not UTF-8 in a value; they are
// percent-encoded, because readers refuse a file that holds them.
func appendColumnText(out, v []byte, ok bool) []byte {
	if !ok {
		return append(out, 0)
	}
	if isUTF8(v) {
		return append(appendColumnInt(out, int64(len(v))), v...)
	}
	size := len(v)
	for i := 0; i < len(v); {
		r, n := utf8.DecodeRune(v[i:])
		if r == utf8.RuneError && n == 1 {
			size += 2
		}
		i += n
	}
	out = appendColumnInt(out, int64(size))
	for i := 0; i < len(v); {
		r, n := utf8.DecodeRune(v[i:])
		if r == utf8.RuneError && n == 1 {
			out = percent.AppendEscape(out, v[i])
		} else {
			out = append(out, v[i:i+n]...)
		}
		i += n
	}
	return out
}

// isUTF8 reports whether v is valid UTF-8.
func isUTF8(v []byte) bool {
	plain := locate.PlainText.End(v, 0)
	return plain == len(v) || utf8.Valid(v[plain:])
}

// appendColumnFlags appends the names of flags.
func appendColumnFlags(out []byte, flags codec.Flags) []byte {
	out = appendColumnInt(out, int64(flags.Len()))
	for f := range flags.All() {
		out = appendColumnString(out, f.String())
	}
	return out
}

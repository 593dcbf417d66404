package record

import (
	"bytes"
	"strconv"

	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// row appends the selected fields of the current URL and a line feed. An absent
// field is empty; in csv, a field that is present and empty is written "".
func (r *renderer) row(out []byte, s *locate.Site, rec []byte, at *Position) []byte {
	for i, f := range r.job.fields {
		if i > 0 {
			out = append(out, r.job.separator())
		}
		if v, ok := r.v.plainValue(f, s, rec, at); ok {
			out = r.cell(out, v)
		}
	}
	return append(r.job.noteCell(out, r.job.separator()), '\n')
}

// separator returns the byte between two fields of a row.
func (j *Job) separator() byte {
	if j.render == RenderCSV {
		return ','
	}
	return '\t'
}

// Header returns the names of the fields that RenderTSV and RenderCSV write, as
// a row. It returns nil for other renderings.
func (j *Job) Header() []byte {
	if j.render != RenderTSV && j.render != RenderCSV {
		return nil
	}
	var row []byte
	for i, f := range j.fields {
		if i > 0 {
			row = append(row, j.separator())
		}
		if name := []byte(j.column(f).Name); j.render == RenderCSV {
			row = appendCSV(row, name)
		} else {
			row = append(row, name...)
		}
	}
	return append(j.noteColumn(row, j.separator()), '\n')
}

// cell appends a value as a field of a row.
func (r *renderer) cell(out, v []byte) []byte {
	if r.job.render == RenderCSV {
		return appendCSV(out, v)
	}
	return appendTSV(out, v)
}

// appendCSV appends v as a field of a CSV record (RFC 4180 §2). It quotes v if
// it is empty or has a byte that needs it.
func appendCSV(out, v []byte) []byte {
	if len(v) > 0 && !bytes.ContainsAny(v, ",\"\n\r") {
		return append(out, v...)
	}
	out = append(out, '"')
	for {
		i := bytes.IndexByte(v, '"')
		if i < 0 {
			return append(append(out, v...), '"')
		}
		out = append(append(out, v[:i]...), `""`...)
		v = v[i+1:]
	}
}

// plainValue returns field f of the current URL as unescaped text, and whether
// it is present. The result points into the record or scratch and is valid
// until the next call.
func (v *values) plainValue(f fieldID, s *locate.Site, rec []byte, at *Position) ([]byte, bool) {
	switch f {
	case fLine:
		v.key = strconv.AppendInt(v.key[:0], at.Line, 10)
	case fOffset:
		v.key = strconv.AppendInt(v.key[:0], at.Off, 10)
	case fFlags:
		v.key = v.n.cur.flags.AppendTo(v.key[:0])
	case fDiagnostics:
		v.key = v.appendPlainDiagnostics(v.key[:0])
	default:
		v, ok := v.value(f, s, rec, at)
		if !ok {
			return nil, false
		}
		return v, true
	}
	return v.key, true
}

// appendPlainDiagnostics appends the URL's diagnostics as flag@offset,
// separated by commas.
func (v *values) appendPlainDiagnostics(out []byte) []byte {
	for i, m := range v.n.diagnostics() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, m.Flag.String()...), '@')
		out = strconv.AppendInt(out, int64(m.At), 10)
	}
	return out
}

// appendTSV appends v as a field of a tsv row, with tab, line feed, carriage
// return and backslash written as \t, \n, \r and \\.
func appendTSV(out, v []byte) []byte {
	if locate.PlainText.End(v, 0) == len(v) { // most values, and much faster than IndexAny
		return append(out, v...)
	}
	return tsv.AppendEscaped(out, v)
}

package record

import (
	"bytes"
	"strconv"
)

// row appends the selected fields of the current URL, separated by tabs, and a
// line feed. It writes tab, line feed, carriage return and backslash in a value
// as \t, \n, \r and \\. An absent field is empty.
func (r *renderer) row(out []byte, s *site, rec []byte, at *Position) []byte {
	for i, f := range r.job.fields {
		if i > 0 {
			out = append(out, '\t')
		}
		v, _ := r.v.plainValue(f, s, rec, at)
		out = appendTSV(out, v)
	}
	return append(out, '\n')
}

// plainValue returns field f of the current URL as unescaped text, and whether
// it is present. The result points into the record or scratch and is valid
// until the next call.
func (v *values) plainValue(f fieldID, s *site, rec []byte, at *Position) ([]byte, bool) {
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

// appendTSV appends v with the escapes of a tsv value.
func appendTSV(out, v []byte) []byte {
	for {
		i := bytes.IndexAny(v, "\t\n\r\\")
		if i < 0 {
			return append(out, v...)
		}
		out = append(append(out, v[:i]...), '\\')
		switch v[i] {
		case '\t':
			out = append(out, 't')
		case '\n':
			out = append(out, 'n')
		case '\r':
			out = append(out, 'r')
		default:
			out = append(out, '\\')
		}
		v = v[i+1:]
	}
}

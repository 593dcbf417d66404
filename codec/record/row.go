package record

import (
	"bytes"
	"strconv"
)

// row appends the chosen fields of the URL in w.cur with tabs between them, and
// a line feed. Tab, line feed, carriage return and backslash in a value are
// written \t, \n, \r, \\; a field that is absent is empty.
func (w *Worker) row(out []byte, s *site, rec []byte, at Position) []byte {
	for i, f := range w.job.fields {
		if i > 0 {
			out = append(out, '\t')
		}
		out = appendTSV(out, w.plainValue(f, s, rec, at))
	}
	return append(out, '\n')
}

// plainValue returns field f of the URL in w.cur as text without any escapes. It
// is empty if the field is absent, and lies in the record or in scratch, until
// the next call.
func (w *Worker) plainValue(f fieldID, s *site, rec []byte, at Position) []byte {
	switch f {
	case fLine:
		w.key = strconv.AppendInt(w.key[:0], at.Line, 10)
	case fOffset:
		w.key = strconv.AppendInt(w.key[:0], at.Off, 10)
	case fFlags:
		w.key = w.cur.flags.AppendTo(w.key[:0])
	case fDiagnostics:
		w.key = w.appendPlainDiagnostics(w.key[:0])
	default:
		v, ok := w.value(f, s, rec, at)
		if !ok {
			return nil
		}
		return v
	}
	return w.key
}

// appendPlainDiagnostics appends the URL's diagnostics as flag@offset, commas between them.
func (w *Worker) appendPlainDiagnostics(out []byte) []byte {
	for i, m := range w.diagnostics() {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, m.Flag.String()...), '@')
		out = strconv.AppendInt(out, int64(m.At), 10)
	}
	return out
}

// appendTSV appends v as a tsv value.
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

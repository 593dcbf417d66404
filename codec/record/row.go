package record

import (
	"bytes"
	"strconv"
)

// row appends the chosen fields of the URL in w.cur with tabs between them, and
// a line feed. Tab, line feed, carriage return and backslash in a value are
// written \t, \n, \r, \\; a field that is absent is empty.
func (w *Worker) row(out []byte, s *site, rec []byte, at Place) []byte {
	for i, f := range w.job.fields {
		if i > 0 {
			out = append(out, '\t')
		}
		switch f {
		case fLine:
			out = strconv.AppendInt(out, at.Line, 10)
		case fOffset:
			out = strconv.AppendInt(out, at.Off, 10)
		case fFlags:
			out = w.cur.flags.AppendTo(out)
		case fMarks:
			out = w.appendPlainMarks(out)
		case fError:
			if w.cur.why != 0 {
				out = append(out, w.cur.why.String()...)
			}
		default:
			if v, ok := w.value(f, s, rec, at); ok {
				out = appendTSV(out, v)
			}
		}
	}
	return append(out, '\n')
}

// appendPlainMarks appends the URL's marks as flag@offset, commas between them.
func (w *Worker) appendPlainMarks(out []byte) []byte {
	for i, m := range w.marks() {
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

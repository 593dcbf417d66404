package record

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// A column is given by name, or by number if the name is nil.
type column struct {
	name  []byte
	index int // from 0; -1: there is none
}

// parseColumn reads a column's name or number. What is all digits is a number.
func parseColumn(text string) (column, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return column{name: []byte(text), index: -1}, nil
	}
	if n < 1 {
		return column{}, fmt.Errorf("column %d: columns are counted from 1", n)
	}
	return column{index: n - 1}, nil
}

// noColumn stands for a column that nobody asked for.
const noColumn = -1

// columns finds the columns of the URL, the base and the host in records below
// head. They are looked up when the header changes, not per record.
func (w *Worker) columns(head []byte) {
	j := w.job
	if !j.named || w.headKnown && bytes.Equal(head, w.head) {
		return
	}
	w.head, w.headKnown = append(w.head[:0], head...), true
	w.urlColumn, w.baseColumn, w.hostColumn = w.resolve(j.url), w.resolve(j.base), w.resolve(j.host)
}

// resolve finds a column in w.head.
func (w *Worker) resolve(c column) int {
	if c.name == nil {
		return c.index
	}
	return slices.Index(w.job.columnNames(w.head), string(c.name)) // -1 is noColumn
}

// CheckHead checks that the header record head, as [Framing] cut it, has the
// columns that the job is given by name. Formats without a header pass. The error
// joins a *ConfigError for each column that is missing, with the name that was
// most likely meant. It repeats no more of head than that: a table without a
// header begins with data.
func (j *Job) CheckHead(head []byte) error {
	if !j.named {
		return nil
	}
	names := j.columnNames(head)
	var errs []error
	for _, c := range []struct {
		field string
		column
	}{{"URLField", j.url}, {"BaseField", j.base}, {"Base", j.host}} {
		if c.name == nil || slices.Contains(names, string(c.name)) {
			continue
		}
		err := fmt.Errorf("the header has no column %q", c.name)
		if near := nearest(names, string(c.name)); near >= 0 {
			err = fmt.Errorf("%w (did you mean %q?)", err, names[near])
		}
		errs = append(errs, in(c.field, err))
	}
	return errors.Join(errs...)
}

// columnNames returns the cells of a header record. A byte order mark before the
// first is no part of it.
func (j *Job) columnNames(head []byte) (names []string) {
	body := trimEnd(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")))
	for pos := 0; pos <= len(body); {
		s, enc, next, ok := cell(body, pos, j.sep)
		if !ok {
			break
		}
		name, _, _ := enc.unescape(nil, s.in(body), nil)
		names = append(names, string(name))
		pos = next
	}
	return names
}

// locateCell finds the URL, the base and the host of a csv or tsv record. One that
// is to be extended must be read to its end: a quote that is open there would
// swallow what is added.
func (w *Worker) locateCell(body, head []byte) (Reason, int) {
	f, sep := &w.found, w.job.sep
	w.columns(head)
	url, base, host := w.urlColumn, w.baseColumn, w.hostColumn
	if url < 0 {
		return NoField, 0
	}
	found, last := false, max(url, base, host)
	if w.job.render == RenderExtend {
		last = len(body)
	}
	for i, pos := 0, 0; pos <= len(body) && i <= last; i++ {
		s, enc, next, ok := cell(body, pos, sep)
		if !ok {
			return Unparsed, pos
		}
		if i == base && s.end > s.start {
			f.base, f.enc = s, enc
		}
		if i == host {
			f.host, f.hostEnc = s, enc
		}
		if i == url {
			found = true
			if s.end > s.start {
				f.add(s, roleURL, enc)
				f.sites[0].stop = sep
			}
		}
		pos = next
	}
	if !found {
		return NoField, 0
	}
	return 0, 0
}

// cell returns the inside of the cell that starts at pos, how it is escaped,
// and where the next one starts: beyond the end of body if there is none. Text
// behind a closing quote is refused (RFC 4180 §2).
func cell(body []byte, pos int, sep byte) (s span, enc encoding, next int, ok bool) {
	if pos == len(body) || body[pos] != '"' {
		end := bytes.IndexByte(body[pos:], sep)
		if end < 0 {
			end = len(body) - pos
		}
		return span{pos, pos + end}, encCell, pos + end + 1, true
	}
	end := quotedEnd(body, pos+1)
	if end < 0 || end < len(body) && body[end] != sep {
		return span{}, encQuoted, 0, false
	}
	return span{pos + 1, end - 1}, encQuoted, end + 1, true
}

// quotedEnd returns the offset behind the quote that closes a quoted cell whose
// inside starts at pos, or -1.
func quotedEnd(b []byte, pos int) int {
	for {
		n := bytes.IndexByte(b[pos:], '"')
		if n < 0 {
			return -1
		}
		pos += n + 1
		if pos == len(b) || b[pos] != '"' {
			return pos
		}
		pos++
	}
}

// tableRecordEnd returns the length of the first record of b, line end
// included, or -1 if b does not hold all of it. A quote opens a quoted cell only
// at the start of a cell; a line feed inside one ends nothing.
func tableRecordEnd(b []byte, sep byte) int {
	for pos, end := 0, -1; ; {
		if end < pos { // not for each cell anew: a line may have many
			n := bytes.IndexByte(b[pos:], '\n')
			if n < 0 {
				return -1
			}
			end = pos + n
		}
		q := openingQuote(b[:end], pos, sep)
		if q < 0 {
			return end + 1
		}
		if pos = quotedEnd(b, q+1); pos < 0 {
			return -1
		}
	}
}

// openingQuote returns the offset of the first quote in line, at or behind pos,
// that starts a cell, or -1.
func openingQuote(line []byte, pos int, sep byte) int {
	for {
		n := bytes.IndexByte(line[pos:], '"')
		if n < 0 {
			return -1
		}
		pos += n
		if pos == 0 || line[pos-1] == sep {
			return pos
		}
		pos++
	}
}

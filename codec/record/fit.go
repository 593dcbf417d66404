package record

import "slices"

// NewFit returns a function that reports whether a record, with or without its
// line end, fits the format of the job: the configured fields exist, the URL
// can be parsed, and there are no control characters except tabs. Use it to
// guess which text is damaged; damaged text can still fit. For documents and for
// formats whose records state their length the function always returns true,
// because one line is not enough to decide.
//
// head is the header record or the current directive, or nil if there is none.
// Directives among the records do not change it. The function must not be
// called concurrently. It does not retain the record and does not panic.
func (j *Job) NewFit(head []byte) func(rec []byte) bool {
	_, length := j.reader.(LengthFraming)
	if _, ok := j.reader.(extractor); ok || length {
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
		body := trimEnd(rec)
		if slices.ContainsFunc(body, func(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			return false
		}
		if v, ok := j.reader.(validator); ok && !isBlank(body) && !v.valid(body) {
			return false
		}
		var st Stats
		out, dead = w.Append(out[:0], dead[:0], rec, Position{Head: head, Off: 1}, &st)
		return st.Rejected == 0 && w.Err() == nil
	}
}

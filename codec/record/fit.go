package record

import "slices"

// NewFit returns a function that reports whether a record, with or without its line
// end, fits the format of the job: its fields are found, its URL can be parsed, and
// it holds no control characters. That is a guess about damaged text: damage can
// leave records that fit. head is the header record, or the directive
// in force, nil if there is none; a directive among the records does not change it. The
// function is not shared between goroutines, keeps nothing of a record, and does
// not panic. Records with a length always fit: one line of them says nothing.
func (j *Job) NewFit(head []byte) func(rec []byte) bool {
	if _, ok := j.reader.(LengthFraming); ok {
		return func([]byte) bool { return true } // who asks has lines
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

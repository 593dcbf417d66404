package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file handles output that no checksum of its input verifies; see
// engine.Lane.Hold. An output remembers where its last segment starts. When the
// source withdraws that segment, the sink truncates the output to the start of
// the segment and stores the raw text:
//
//	raw text ──▶ NAME.unverified.part ──sync, rename──▶ NAME.unverified
//
// This happens before the output is renamed to its final name. If the process
// dies before that, the next process stores the raw text again, and keeps the
// existing NAME.unverified if it holds the same text.

// unverifiedSuffix is appended to the name of an output for the unverified raw
// text of its input.
const unverifiedSuffix = ".unverified"

// A span is the last segment in an output. The zero value is for an output
// without batches.
type span struct {
	lane    *engine.Lane
	segment uint64
	start   place // where the segment begins in the output
}

// next registers that b is about to be written at offset size.
func (s *span) next(b *engine.Batch, size int64) {
	if b != nil && s.begins(b) {
		*s = span{lane: b.Lane, segment: b.Segment, start: place{at: size}}
	}
}

// begins reports whether b is not part of s.
func (s *span) begins(b *engine.Batch) bool { return s.lane != b.Lane || s.segment != b.Segment }

// covered returns how much of the output before end is covered by the commit
// in progress.
func (s *span) covered(end place) place {
	if s.lane == nil || s.lane.Covered(s.segment) || s.start.at >= end.at {
		return end
	}
	return s.start
}

// verified returns how much of the output before end was not withdrawn by l.
func (s *span) verified(l *engine.Lane, end place) place {
	if s.lane != l || s.segment < l.VerifiedSegments() || s.start.at >= end.at {
		return end
	}
	return s.start
}

// keepUnverified writes u to a file beside the output final, and returns its
// path. If a file with the same text exists, keepUnverified returns the path
// of that file. If another file has the name, keepUnverified adds a number
// to the name. If the text is empty or the input no longer exists,
// keepUnverified writes nothing and returns "".
func keepUnverified(final string, u *engine.Unverified, mode fs.FileMode) (path string, err error) {
	r, err := u.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // the input no longer exists
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }() // opened for reading only
	base := final + unverifiedSuffix
	part, err := openPart(base, nil, nil, mode)
	if err != nil {
		return "", err
	}
	_ = part.f.Chmod(mode) // best effort: not every file system supports it
	n, err := io.Copy(part.f, r)
	if err == nil && n > 0 {
		err = part.f.Sync()
	}
	if err == nil && n > 0 {
		var kept bool
		if path, kept, err = freeName(base, part.name); err == nil && !kept {
			part.final = path
			return path, part.publish()
		}
	}
	return path, errors.Join(err, part.abort(true))
}

// freeName returns the first of base and its numbered variants that either does
// not exist or is a file with the same bytes as the file at path. same reports
// whether the returned name belongs to such a file.
func freeName(base, path string) (name string, same bool, err error) {
	for n := 1; n < 1e6; n++ {
		name = numbered(base, n)
		fi, err := os.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, false, nil
		case err != nil:
			return "", false, err
		case !fi.Mode().IsRegular():
			continue
		}
		if same, err := sameFile(name, path); err != nil || same {
			return name, same, err
		}
	}
	return "", false, fmt.Errorf("%s: cannot find an unused file name", base)
}

// sameFile reports whether two files hold the same bytes.
func sameFile(a, b string) (bool, error) {
	var files [2]*os.File
	var sizes [2]int64
	for i, name := range []string{a, b} {
		f, err := os.Open(name)
		if err != nil {
			return false, err
		}
		defer func() { _ = f.Close() }() // opened for reading only
		fi, err := f.Stat()
		if err != nil {
			return false, err
		}
		files[i], sizes[i] = f, fi.Size()
	}
	if sizes[0] != sizes[1] {
		return false, nil
	}
	var bufs [2][64 << 10]byte
	for left := sizes[0]; left > 0; {
		n := min(left, int64(len(bufs[0])))
		for i, f := range files {
			if _, err := io.ReadFull(f, bufs[i][:n]); err != nil {
				return false, err
			}
		}
		if !bytes.Equal(bufs[0][:n], bufs[1][:n]) {
			return false, nil
		}
		left -= n
	}
	return true, nil
}

// withdrawn stores the text that l has withdrawn beside the output final, and
// registers the stored file in l.
func withdrawn(l *engine.Lane, final string, mode fs.FileMode) error {
	path, err := keepUnverified(final, l.Withdrawn(), mode)
	if err != nil {
		return fmt.Errorf("%s%s: %w", final, unverifiedSuffix, err)
	}
	if path != "" {
		l.AddUnverifiedFile(path)
	}
	return nil
}

// Withdraw implements [Output].
func (s *sink) Withdraw(l *engine.Lane) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Withdrawn() == nil || s.part == nil || s.part.f == nil || s.err != nil {
		return s.err
	}
	err := s.cutBack(l)
	if err == nil && !s.cfg.DeadLetter {
		var fi os.FileInfo
		if fi, err = s.part.f.Stat(); err == nil {
			err = withdrawn(l, s.part.final, fi.Mode().Perm())
		}
	}
	if err != nil {
		s.err = s.explain(err)
	}
	return s.err
}

// cutBack truncates the records that l has withdrawn. The caller holds mu.
func (s *sink) cutBack(l *engine.Lane) error {
	n := max(s.span.verified(l, place{at: s.written.Load()}).at, s.header)
	if n == s.written.Load() {
		return nil
	}
	if err := s.part.f.Truncate(n); err != nil {
		return err
	}
	s.written.Store(n)
	s.span, s.torn = span{}, false
	if _, err := s.part.f.Seek(n, io.SeekStart); err != nil { // Close continues from here, and makes even an empty output a valid member
		return err
	}
	return s.part.f.Sync()
}

// withdraw stores the text that lanes have withdrawn, before their outputs are
// renamed. It runs without mu, because it may take as long as reading the
// inputs.
func (s *log) withdraw(lanes []*engine.Lane) []error {
	errs := make([]error, len(lanes))
	if s.cfg.DeadLetter {
		return errs
	}
	for i, l := range lanes {
		if l.Withdrawn() == nil {
			continue
		}
		final, mode, err := s.outputOf(l)
		if err == nil && final != "" {
			err = withdrawn(l, final, mode)
		}
		if err != nil {
			errs[i] = fmt.Errorf("file sink: %w", err)
		}
	}
	return errs
}

// outputOf returns the final path and the permissions of the last output of a
// lane, which it creates if necessary. The path is empty if the lane is
// finished.
func (s *log) outputOf(l *engine.Lane) (final string, mode fs.FileMode, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != logOpen {
		return "", 0, errNotOpen
	}
	st, err := s.table.lastOf(l)
	if st == nil || err != nil || st.active == nil {
		return "", 0, err
	}
	o := st.active
	if err := s.table.ensure(o); err != nil {
		return "", 0, err
	}
	fi, err := o.f.Stat()
	if err != nil {
		return "", 0, err
	}
	return o.final, fi.Mode().Perm(), nil
}

// cutBack truncates the records in o that l has withdrawn. The caller holds mu.
func (s *log) cutBack(o *output, l *engine.Lane) error {
	if l.Withdrawn() == nil || o.err != nil || len(o.pending) > 0 {
		return o.err
	}
	n := o.span.verified(l, place{at: o.size})
	if n.at == o.size {
		return nil
	}
	if err := s.table.ensure(o); err != nil {
		return err
	}
	s.log.Info("truncating output to its verified records", "path", o.final, "bytes", n.at, "cut", o.size-n.at)
	if err := s.files.at("file.before_truncate"); err != nil {
		return err
	}
	if err := s.cutTo(o, n); err != nil {
		return err
	}
	o.span = span{}
	return o.f.Sync()
}

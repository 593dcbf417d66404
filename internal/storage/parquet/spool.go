package parquet

import (
	"fmt"
	"io"
	"os"
)

// spoolMemory is the number of bytes that a spool keeps in memory.
const spoolMemory = 8 << 20

// A spool holds bytes until the chunks before them are written: in memory, and
// the bytes that exceed it in a temporary file without a name.
type spool struct {
	dir string // of the file; "": the operating system's
	mem []byte
	f   *os.File
	n   int64
}

// Write implements [io.Writer].
func (s *spool) Write(p []byte) (int, error) {
	if s.f == nil && len(s.mem)+len(p) <= spoolMemory {
		s.mem = append(s.mem, p...)
		s.n += int64(len(p))
		return len(p), nil
	}
	if s.f == nil {
		f, err := os.CreateTemp(s.dir, "urlfold-pages-*")
		if err != nil {
			return 0, fmt.Errorf("temporary file: %w", err)
		}
		_ = os.Remove(f.Name()) // on Unix, the open file needs no name; elsewhere, close removes it
		s.f = f
	}
	n, err := s.f.Write(p)
	s.n += int64(n)
	if err != nil {
		err = fmt.Errorf("temporary file: %w", err)
	}
	return n, err
}

// ReadAt implements [io.ReaderAt].
func (s *spool) ReadAt(p []byte, at int64) (n int, err error) {
	if at < int64(len(s.mem)) {
		n = copy(p, s.mem[at:])
	}
	if n < len(p) && s.f != nil {
		k, err := s.f.ReadAt(p[n:], at+int64(n-len(s.mem)))
		return n + k, err
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// copyTo writes all bytes to w.
func (s *spool) copyTo(w io.Writer) error {
	_, err := io.Copy(w, io.NewSectionReader(s, 0, s.n))
	return err
}

// close releases the memory and the file.
func (s *spool) close() {
	if s.f != nil {
		_ = s.f.Close()
		_ = os.Remove(s.f.Name())
	}
	s.mem, s.f, s.n = nil, nil, 0
}

package parquet

import (
	"fmt"
	"io"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// spoolMemory is the number of bytes that a spool keeps in memory.
const spoolMemory = 8 << 20

// A spool holds bytes until the chunks before them are written. The first bytes, up
// to spoolMemory, are in memory, and the others in a temporary file without a name.
type spool struct {
	dir string // directory of the file; "": the operating system's
	mem []byte
	f   disk.Temporary
	n   int64
}

// Write implements [io.Writer].
func (s *spool) Write(p []byte) (int, error) {
	if s.f.File == nil && len(s.mem)+len(p) <= spoolMemory {
		s.mem = append(s.mem, p...)
		s.n += int64(len(p))
		return len(p), nil
	}
	if s.f.File == nil {
		f, err := disk.NewTemporary(s.dir, "pages")
		if err != nil {
			return 0, err
		}
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
	if n < len(p) && s.f.File != nil {
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
	if s.f.File != nil {
		_ = s.f.Close() // nobody reads it any more
	}
	*s = spool{dir: s.dir}
}

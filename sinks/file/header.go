package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// The header of an output is written together with its first batch, so that a
// repair writes it again, and a truncation to 0 bytes removes both. An output
// that gets no batch receives it when it is completed.

// headed sets the header of the first pending batch of o, which is about to be
// written again from o.size on.
func (s *log) headed(o *output) {
	if len(o.pending) == 0 {
		return
	}
	h := &o.pending[0]
	before := h.size()
	h.head = nil
	if o.size == 0 {
		h.head = s.cfg.Header
	}
	s.unsynced += int64(h.size() - before)
}

// errHeader is the error of an existing output that cannot be continued because its
// header is missing or different.
var errHeader = errors.New("has different columns than codec.to: choose a different path, or move the file away")

// checkHeader returns an error that wraps errHeader if f, an output with
// records, does not begin with the header.
func (d *diskFiles) checkHeader(name string, f io.ReadSeeker) error {
	want := d.cfg.Header
	if len(want) == 0 {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := compress.NewReader(f, compress.Options{Limits: compress.Limits{MaxRatio: -1}})
	defer in.Close()
	got := make([]byte, len(want))
	n, err := io.ReadFull(in, got)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || bytes.Equal(got[:n], want) {
		return nil // the reader of the file reports the error
	}
	return fmt.Errorf("%s %w", name, errHeader)
}

// checkHeaderOf is checkHeader for a file that need not exist.
func (d *diskFiles) checkHeaderOf(name string) error {
	if len(d.cfg.Header) == 0 {
		return nil
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	if fi, err := f.Stat(); err != nil || fi.Size() == 0 {
		return err
	}
	return d.checkHeader(name, f)
}

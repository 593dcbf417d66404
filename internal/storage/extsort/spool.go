package extsort

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/urlfold/urlfold/internal/storage/disk"
)

// A Spool keeps pairs of texts in a temporary file, for values that are sorted
// without their texts.
type Spool struct {
	f  disk.Temporary
	w  *bufio.Writer
	at int64
}

// NewSpool returns an empty Spool with a file in the folder dir, or in the
// operating system's temporary folder if dir is empty.
func NewSpool(dir string) (*Spool, error) {
	f, err := disk.NewTemporary(dir, "texts")
	if err != nil {
		return nil, err
	}
	return &Spool{f: f, w: bufio.NewWriterSize(f, 256<<10)}, nil
}

// Write appends a pair and returns its place, which is greater than 0.
func (s *Spool) Write(a, b []byte) (place int64, err error) {
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(a)))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(b)))
	place = s.at + 1
	for _, text := range [][]byte{head[:], a, b} {
		n, err := s.w.Write(text)
		if s.at += int64(n); err != nil {
			return 0, fmt.Errorf("temporary file: %w", err)
		}
	}
	return place, nil
}

// Flush makes the pairs readable.
func (s *Spool) Flush() error { return s.w.Flush() }

// Read returns the pair at a place.
func (s *Spool) Read(place int64) (a, b string, err error) {
	var head [8]byte
	_, err = s.f.ReadAt(head[:], place-1)
	n := binary.LittleEndian.Uint32(head[:])
	text := make([]byte, int(n)+int(binary.LittleEndian.Uint32(head[4:])))
	if err == nil {
		_, err = s.f.ReadAt(text, place-1+int64(len(head)))
	}
	if err != nil && err != io.EOF {
		return "", "", fmt.Errorf("temporary file: %w", err)
	}
	return string(text[:n]), string(text[n:]), nil
}

// Close removes the file.
func (s *Spool) Close() error { return s.f.Close() }

package chaos

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeebo/xxh3"
)

// partSuffix is the suffix of the names of unfinished files.
const partSuffix = ".part"

// Digests maps the names of outputs, relative to their folder and without the
// suffix of unfinished files, to the hashes of their texts.
type Digests map[string]string

// ReadFile reads a file, compressed or not, as the next part of s. It returns
// the hash of its text.
func (s *Stream) ReadFile(path string) (digest string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // opened only for reading
	text, err := decoder(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = text.Close() }()
	h := xxh3.New()
	if err := s.Read(io.TeeReader(text, h)); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	sum := h.Sum128().Bytes()
	return hex.EncodeToString(sum[:]), nil
}

// ReadTree reads all files in dir and its subfolders. Each file is a separate
// Stream or, if sequence is set, all files in the order of their names are one
// Stream.
func (o *Oracle) ReadTree(dir string, sequence bool) (Digests, error) {
	d := Digests{}
	s := o.NewStream()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		if !sequence {
			s = o.NewStream()
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		sum, err := s.ReadFile(path)
		d[strings.TrimSuffix(rel, partSuffix)] = sum
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // there is no output
	}
	return d, err
}

// Diff returns the names whose texts differ or that are in only one of d and
// other.
func (d Digests) Diff(other Digests) (names []string) {
	for name, sum := range d {
		if other[name] != sum {
			names = append(names, name)
		}
	}
	for name := range other {
		if _, ok := d[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

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

// partSuffix is how names of files end that are not finished.
const partSuffix = ".part"

// Digests are the hashes of the texts of outputs, by their names below their folder,
// without the suffix of unfinished files.
type Digests map[string]string

// ReadFile reads a file, compressed or not, as a part of s. It returns the hash of
// its text.
func (s *Stream) ReadFile(path string) (digest string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
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

// ReadTree reads all files below dir, each a Stream of its own, or all one if
// sequence is set, in the order of their names.
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
		err = nil // nothing has come out
	}
	return d, err
}

// Diff returns the names whose texts differ, or are in one of d and other only.
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

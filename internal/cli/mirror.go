package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/terminal"
	"github.com/urlfold/urlfold/sources/file"
)

// mirror returns the output of each input below --output-dir. The error joins all
// reasons why there cannot be one: nothing is written if a name is taken.
func mirror(s *settings, source *file.Source) (map[string]string, error) {
	rels, err := source.Rels()
	if err != nil {
		return nil, err
	}
	inputs, err := source.Paths()
	if err != nil {
		return nil, err
	}
	outputs := make(map[string]string, len(inputs))
	owner := map[string]string{}
	var errs []error
	for _, path := range inputs {
		rel, ok := rels[path]
		if !ok {
			errs = append(errs, errors.New("--output-dir: stdin has no name: write it to a file with --output"))
			continue
		}
		name := filepath.Join(s.outputDir, compressedName(rel, s.compress))
		if err := s.checkMirrored(path, name, owner); err != nil {
			errs = append(errs, err)
		}
		outputs[path], owner[name] = name, path
	}
	if n := len(errs); n > maxFormatErrors {
		errs = append(errs[:maxFormatErrors], fmt.Errorf("and %s more", terminal.Plural(int64(n-maxFormatErrors), "input", "inputs")))
	}
	return outputs, errors.Join(errs...)
}

// checkMirrored returns why an input cannot have the output name. owner has the
// inputs of the outputs so far.
func (s *settings) checkMirrored(path, name string, owner map[string]string) error {
	if other := owner[name]; other != "" {
		return fmt.Errorf("--output-dir: %s and %s have the same output, %s: read them one run each, or name a folder above both", other, path, name)
	}
	if below(path, s.outputDir) {
		return fmt.Errorf("--output-dir: the input %s lies in the output directory", path)
	}
	if fi, err := os.Lstat(name); err == nil && fi.IsDir() {
		return fmt.Errorf("--output-dir: %s: is a directory", name)
	}
	return s.checkExisting(name)
}

// checkExisting refuses an output that exists, unless --force is given.
func (s *settings) checkExisting(name string) error {
	if fi, err := os.Lstat(name); s.force || err != nil || fi.IsDir() {
		return nil
	}
	return fmt.Errorf("--output-dir: %s: the file exists; --force replaces it", name)
}

// below reports whether path lies in dir, whatever links lead there.
func below(path, dir string) bool {
	rel, err := filepath.Rel(realPath(dir), realPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// realPath returns path as it is without links, as far as it exists.
func realPath(path string) string {
	if led, err := filepath.EvalSymlinks(path); err == nil {
		path = led
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}

// extensionOf are the extensions of the methods of --compress.
var extensionOf = map[string]string{"none": "", "gzip": ".gz", "zstd": ".zst"}

// compressedName returns the name of an output: that of its input, with the
// extension of how it is compressed.
func compressedName(rel, method string) string {
	ext := filepath.Ext(rel)
	bare := rel
	if compress.Compressed(rel) && ext != filepath.Base(rel) {
		bare = strings.TrimSuffix(rel, ext)
	}
	switch {
	case method != autoCompress:
		return bare + extensionOf[method]
	case bare == rel || slices.Contains([]string{".gz", ".zst"}, strings.ToLower(ext)):
		return rel
	}
	return bare + ".zst" // of a compression that is not written
}

package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/terminal"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/sources/file"
)

// mirror maps each input to its output below --output-dir. The error joins all
// conflicts; nothing is written if there is one.
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
			errs = append(errs, errors.New("--output-dir, --in-place: stdin has no file name: use --output instead"))
			continue
		}
		if s.InPlace {
			if _, err := os.Lstat(path); err != nil {
				errs = append(errs, fmt.Errorf("--in-place: %s: cannot replace a member of an archive", path))
			} else if name := filepath.Base(path); s.outputName(path, name) != name {
				errs = append(errs, fmt.Errorf("--in-place: %s: the extension does not fit the compression of the content; use --output-dir", path))
			}
			outputs[path] = path
			continue
		}
		name := s.outputPath(s.outputName(path, rel))
		if err := s.checkMirrored(path, name, owner); err != nil {
			errs = append(errs, err)
		}
		outputs[path], owner[name] = name, path
	}
	return outputs, fewInputs(errs)
}

// checkMirrored returns an error if the input at path cannot be written to
// name. owner maps the outputs of the previous inputs to their inputs.
func (s *settings) checkMirrored(path, name string, owner map[string]string) error {
	if other := owner[name]; other != "" {
		remedy := "name their common parent directory as the input, or use one run for each"
		if filepath.Dir(other) == filepath.Dir(path) { // such as a.xz and a.zst
			remedy = "leave one of them out with --exclude"
		}
		return fmt.Errorf("--output-dir: %s and %s would both be written to %s: %s", other, path, name, remedy)
	}
	stored := objects.Is(s.OutputDir)
	if stored && strings.HasPrefix(path, s.outputPath("")) || !stored && below(path, s.OutputDir) {
		return fmt.Errorf("--output-dir: input %s is inside the output directory", path)
	}
	if stored {
		return nil
	}
	switch fi, err := os.Lstat(name); {
	case err == nil && fi.IsDir():
		return fmt.Errorf("--output-dir: %s: is a directory", name)
	case err == nil && !s.Force && !s.Resume:
		return fmt.Errorf("--output-dir: %s: file exists; use --force to overwrite it", name)
	}
	if err := disk.Creatable(filepath.Dir(name)); err != nil {
		return fmt.Errorf("--output-dir: %w", err)
	}
	return nil
}

// below reports whether path is inside dir, after symbolic links are resolved.
func below(path, dir string) bool {
	rel, err := filepath.Rel(realPath(dir), realPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// realPath returns path as an absolute path with its symbolic links resolved.
// If path does not exist, links stay.
func realPath(path string) string {
	if led, err := filepath.EvalSymlinks(path); err == nil {
		path = led
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}

// extensionOf maps the methods of --compress to their file name extensions.
var extensionOf = map[string]string{"none": "", "gzip": ".gz", "zstd": ".zst"}

// outputName returns the name of the output for the input at path, which is rel below
// its folder. If the name of the input does not fit the compression of its content, the
// content decides.
func (s *settings) outputName(path, rel string) string {
	if s.record.Render.HasColumns() {
		ext := "." + s.record.Render.String()
		return strings.TrimSuffix(compressedName(rel, "none"), ext) + ext
	}
	name := compressedName(rel, s.Compress)
	content := contentOf(path)
	if s.Compress != autoCompress || content == compress.Plain || content >= compress.Unsupported {
		return name
	}
	packed := content
	if packed != compress.Gzip {
		packed = compress.Zstd // urlfold cannot write the other methods of inputs
	}
	if compress.ByName(name) != packed {
		name = compressedName(rel, packed.String())
		s.renamed = append(s.renamed, fmt.Sprintf("%s: %s by its content, written as %s", shownPath(path), content, terminal.Printable(name)))
	}
	return name
}

// contentOf returns the compression of the file at path by its first bytes. The
// result is Plain if these bytes are not known before the run.
func contentOf(path string) compress.Format {
	fi, err := os.Stat(path)
	if err != nil || !fi.Mode().IsRegular() { // a pipe can be read only once
		return compress.Plain
	}
	f, err := os.Open(path)
	if err != nil {
		return compress.Plain // the run reports the error
	}
	defer func() { _ = f.Close() }() // opened for reading only
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head) // the run reports the error
	return compress.Detect(head[:n])
}

// compressedName returns the name of the output for the input rel: the same
// name with the extension of the output's compression.
func compressedName(rel, method string) string {
	ext := filepath.Ext(rel)
	bare := rel
	if compress.Compressed(rel) && ext != filepath.Base(rel) {
		bare = strings.TrimSuffix(rel, ext)
	}
	switch {
	case method != autoCompress:
		method, _, _ = strings.Cut(method, ":")
		return bare + extensionOf[method]
	case bare == rel || slices.Contains([]string{".gz", ".zst"}, strings.ToLower(ext)):
		return rel
	}
	return bare + ".zst" // urlfold can read but not write the input's compression
}

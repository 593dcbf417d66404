// Package logs reads the records of files, whatever their format and compression: logs,
// tables, web archives, and the URLs of Parquet and Avro files. It is for programs that read
// files from beginning to end; it is not a source of a pipeline, and follows no file that grows.
package logs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/urlfold/urlfold/codec/record"
	"github.com/urlfold/urlfold/internal/ground/tsv"
	"github.com/urlfold/urlfold/internal/storage/avro"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/parquet"
)

// A Reader reads the records of files, one file after the other. It is used by one
// goroutine, which closes it.
type Reader struct {
	src   io.Reader // argument of NewReader; nil after the first record is read
	paths []string  // files that are not yet open
	job   record.Job
	file  *file // nil: none is open
	path  string
	guess record.Guess
}

// Open opens the file at path. It may be compressed with gzip, zstd, bzip2, xz, lz4, snappy, S2
// or zlib, whatever its name is. A nil j is the zero Job; *j is copied.
//
// A row of a Parquet or Avro file is a record whose Bytes are its URLs,
// separated by tabs. Job.URLField names up to three columns, separated by
// commas; without it, the file must have exactly one column called url or
// similar. Other columns are not read.
func Open(path string, j *record.Job) (*Reader, error) {
	r := newReader([]string{path}, j)
	return r, r.open()
}

// NewReader is Open for a stream, such as the standard input. Parquet and Avro files cannot be
// read from a stream. Closing the Reader does not close src.
func NewReader(src io.Reader, j *record.Job) *Reader {
	r := newReader(nil, j)
	r.src = src
	return r
}

// OpenAll is Open for several files, which it opens when their turn comes, in the order of
// the patterns. A pattern is a path or a pattern of filepath.Match. The error says
// which pattern matches no file. FieldFile is the path of a record's file, unless j.Name is
// set. The format of each file is detected.
func OpenAll(j *record.Job, patterns ...string) (*Reader, error) {
	var paths []string
	var errs []error
	for _, p := range patterns {
		if !strings.ContainsAny(p, `*?[`) {
			paths = append(paths, p)
			continue
		}
		found, err := filepath.Glob(p)
		if err == nil && len(found) == 0 {
			err = errors.New("no files match the pattern")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p, err))
		}
		paths = append(paths, found...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return newReader(paths, j), nil
}

func newReader(paths []string, j *record.Job) *Reader {
	r := &Reader{paths: paths}
	if j != nil {
		r.job = *j
	}
	return r
}

// Records returns the records that have not been read yet. A pair with an error has a nil
// Record, and concerns one file: a *[DamageError], a file that cannot be opened, a format
// that cannot be detected. If the loop continues, the next pair is from the next file. A
// Record is valid until the next record is read.
func (r *Reader) Records() iter.Seq2[*record.Record, error] {
	return func(yield func(*record.Record, error) bool) {
		for r.file != nil || r.src != nil || len(r.paths) > 0 {
			if r.file == nil {
				if err := r.open(); err != nil {
					if !yield(nil, err) {
						return
					}
					continue
				}
			}
			for rec, err := range r.file.records.Records() {
				if r.guess = r.file.records.Guess(); err != nil {
					if err = r.finish(err); !yield(nil, err) {
						return
					}
					break
				}
				if !yield(rec, nil) {
					return
				}
			}
			if r.file == nil {
				continue // no file is open after an error
			}
			if err := r.finish(nil); err != nil && !yield(nil, err) {
				return
			}
		}
	}
}

// Path returns the path of the file of the last record or error.
func (r *Reader) Path() string { return r.path }

// Guess returns the format of the current file. If the format was detected, Guess also
// returns how many of the first records fit it.
func (r *Reader) Guess() record.Guess { return r.guess }

// Close closes the open file, if any. Then there are no more records.
func (r *Reader) Close() error {
	r.src, r.paths = nil, nil
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.close()
}

// open opens the next file.
func (r *Reader) open() (err error) {
	if src := r.src; src != nil {
		r.path, r.src = r.job.Name, nil
		r.file = openStream(src, compress.Options{}, r.job)
		return nil
	}
	r.path, r.guess = r.paths[0], record.Guess{}
	r.paths = r.paths[1:]
	r.file, err = openFile(r.path, r.job)
	return err
}

// finish closes the file, whose records end with err, and returns why some
// records may be missing.
func (r *Reader) finish(err error) error {
	f := r.file
	r.file = nil
	if damage := f.damage(); damage != nil {
		err = damage // report the damage even if no text is missing, or if it prevented the detection of the format
	} else if err != nil {
		err = fmt.Errorf("%s: %w", cmp.Or(r.path, "input"), err)
	}
	return errors.Join(err, f.close())
}

// A file is an open file.
type file struct {
	path    string
	closer  io.Closer // nil: nothing is to be closed
	text    *compress.Reader
	records *record.Reader
}

// openFile opens the file at path.
func openFile(path string, j record.Job) (*file, error) {
	src, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	opt := compress.Options{Name: path}
	if fi, err := src.Stat(); err == nil && fi.Mode().IsRegular() {
		columns := j.URLField
		opt.Table = func(format compress.Format) (compress.Table, error) {
			return openTable(src, fi.Size(), columns, format)
		}
	}
	j.Name = cmp.Or(j.Name, path)
	f := openStream(src, opt, j)
	f.closer, f.path = src, path
	return f, nil
}

// openStream prepares for reading src.
func openStream(src io.Reader, opt compress.Options, j record.Job) *file {
	f := &file{path: j.Name, text: compress.NewReader(src, opt)}
	// The first bytes show whether the file holds rows, which have a separate format.
	head := make([]byte, 4<<10)
	n, err := f.Read(head)
	if format := f.text.Format(); format == compress.Parquet || format == compress.Avro {
		rows := rowFormat(format)
		j.Format, j.URLField, j.Formats = rows.Name, "", []record.Format{rows}
	}
	f.records = record.NewReader(io.MultiReader(bytes.NewReader(head[:n]), &rest{f, err}), &j)
	return f
}

// openTable opens a file of rows as text.
func openTable(f io.ReaderAt, size int64, columns string, format compress.Format) (compress.Table, error) {
	var names []string
	if columns != "" {
		names = strings.Split(columns, ",")
	}
	if format == compress.Avro {
		return avro.OpenText(f, size, names)
	}
	return parquet.OpenText(f, size, names, parquet.Limits{Expands: true})
}

// A rest is a file after a Read that returned err.
type rest struct {
	f   *file
	err error
}

func (r *rest) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.f.Read(p)
}

// Read reads text. At the end of a file that was cut short it returns a *DamageError, so that
// an incomplete record is not taken for a whole one.
func (f *file) Read(p []byte) (int, error) {
	n, err := f.text.Read(p)
	if err == io.EOF && f.text.Verdict().Cut {
		if damage := f.damage(); damage != nil {
			return n, damage
		}
	}
	return n, err
}

// damage returns the damage of a file that was read completely, or nil.
func (f *file) damage() error {
	v := f.text.Verdict()
	if !v.Damage() {
		return nil
	}
	e := &DamageError{Path: f.path, Kind: DamageKind(v.Kind.String()), Format: v.Format.String(), Offset: v.Offset, Detail: v.Detail, Text: f.text.Bytes(), Err: f.text.Err()}
	e.Verified, e.Checksums = f.text.Verified()
	return e
}

func (f *file) close() error {
	f.text.Close()
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// DamageKind is what is wrong with a file. It is the name that urlfold reports.
type DamageKind string

// Kinds of damage.
const (
	Truncated           DamageKind = "truncated"            // the file ends too early
	BadCRC              DamageKind = "bad-crc"              // a checksum or a length does not match
	Corrupt             DamageKind = "corrupt"              // the compressed data is invalid
	OverLimit           DamageKind = "limit"                // the file decompresses to too much
	UnsupportedEncoding DamageKind = "unsupported-encoding" // the text is UTF-16 or UTF-32
	UnsupportedFormat   DamageKind = "unsupported-format"   // the compression or archive is not supported
	Unreadable          DamageKind = "unreadable"           // the file cannot be read: see Err
)

// A DamageError says that a file is damaged, cut short, unsupported or cannot
// be read completely. The records of its text before the damage have been
// returned.
type DamageError struct {
	Path   string
	Kind   DamageKind
	Format string // human-readable name of the compression, such as "gzip"; "plain" for none
	Offset int64  // offset of the damage in the file, in bytes; -1: unknown
	Detail string // human-readable; may be empty
	Text   int64  // bytes of text that were read
	// Checksums in the file confirm the first Verified bytes of the text. The
	// rest may be wrong, or the format has no checksums (Checksums is false).
	Verified  int64
	Checksums bool
	Err       error // the error of the operating system, if that is the cause
}

// Error returns a message with the path, the position, and what is verified.
func (e *DamageError) Error() string {
	text := cmp.Or(e.Path, "input") + ": " + string(e.Kind)
	if e.Offset >= 0 {
		text += fmt.Sprintf(" at byte %d", e.Offset)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Checksums || e.Verified > 0 {
		text += fmt.Sprintf(" (%d of %d bytes of text are verified)", e.Verified, e.Text)
	}
	return text
}

// Unwrap returns e.Err.
func (e *DamageError) Unwrap() error { return e.Err }

// rowFormat returns the format of the text of a file of rows: cells with a tab between them.
func rowFormat(format compress.Format) record.Format {
	return record.Format{
		Name: format.String() + "-rows",
		Open: func(*record.Config) (*record.Framing, func() record.Locator, error) {
			return nil, func() record.Locator { return row{} }, nil
		},
	}
}

// escapes are the escapes of a cell.
var escapes = record.NewEscaping('\\', tsv.Decode, func(dst, text []byte, _ byte) []byte { return tsv.AppendEscaped(dst, text) })

// row finds the URLs of a row.
type row struct{}

func (row) Locate(f *record.Found, rec []byte) (record.Reason, int) {
	for start := 0; start <= len(rec); {
		n := bytes.IndexByte(rec[start:], '\t')
		if n < 0 {
			n = len(rec) - start
		}
		if n > 0 {
			f.AddURL(start, start+n, escapes)
		}
		start += n + 1
	}
	return "", 0
}

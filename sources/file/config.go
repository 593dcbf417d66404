package file

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
)

// A Framing finds record boundaries. record.Framing implements it.
type Framing interface {
	// Cut returns the length of the longest prefix of block that consists of
	// whole records, or 0 if block does not hold one.
	Cut(block []byte) int
	// Head returns the length of the header record at the start of a stream. It
	// returns 0 without a header, or if block does not hold all of it.
	Head(block []byte) int
}

// A director is a Framing for streams that contain directives: see
// record.Director.
type director interface {
	Directive(head, block []byte) []byte
}

// A lengthFraming is a Framing for records that state their own length: see
// record.LengthFraming.
type lengthFraming interface {
	Framing
	Span(block []byte, last bool) (n int, sound bool)
	Length(block []byte) int64
	Ends(rec []byte) bool
	Resync(block []byte) (n int, found bool)
	Incomplete(block []byte) bool
}

// A quoteFraming is a Framing of tables: see record.QuoteFraming.
type quoteFraming interface {
	Framing
	MaxQuoted() int
	Next(in []byte) int
	OpenQuotes(records []byte) (first, number int)
}

// A Config configures a [Source]. Framing or FramingOf must be set.
type Config struct {
	// Paths lists files, globs (** matches any number of folders), directories
	// (read recursively) and "-" for stdin. An empty list means stdin. A file
	// that several paths match is read once, unless two of the paths name that
	// file itself.
	Paths []string
	// Objects, if not nil, has the objects that paths of the form
	// s3://BUCKET/KEY name. Otherwise these paths name files.
	Objects *objects.Store
	// Exclude lists globs of files to leave out. A glob without a slash applies
	// to the name of a file, any other glob to its path and its relative path.
	// Stdin is never left out.
	Exclude []string
	// AllowEmpty permits that a directory contains no files, that a glob matches no
	// files, and that Exclude leaves all files out. Otherwise, in these cases, the
	// error is ErrNoInput.
	AllowEmpty bool
	// Select, if not nil, reports whether to read the input with the relative path rel,
	// as in Source.Rels but with slashes. The source does not open the other inputs,
	// and may end up without inputs. Select is not called for stdin, which is always
	// read.
	Select func(rel string) bool
	// Stdin is the reader for "-"; it must be set if Paths contains "-".
	// Anything but a regular file is treated as a pipe. The source never closes
	// it.
	Stdin io.Reader
	// Framing finds the record boundaries of every input.
	Framing Framing
	// FramingOf, if not nil, replaces Framing and returns the framing of one
	// input, so that inputs may have different formats. path is as Source.Paths
	// returns it. Run calls FramingOf once for each input, concurrently from
	// several goroutines.
	FramingOf func(path string) Framing
	// MaxRecord is the length in bytes up to which a record is kept in one
	// piece. It limits memory, so a record that is one byte longer, or that
	// fits into the arena of a batch, may stay in one piece as well. Default 1
	// MiB.
	MaxRecord int
	// Parallel is the number of inputs to read at the same time. Default 2.
	Parallel int
	// Linger is how long the first record of a batch from a pipe waits for more
	// data. Default 50 ms.
	Linger time.Duration
	// Limits protect against compressed inputs that expand too far. The zero
	// value means the defaults.
	Limits field.Limits
	// Index is the path of an index of the only input, or IndexAuto. An index lists
	// places inside a gzip file, so that several cores can inflate it. If the index
	// does not exist, or urlfold has written it for another state of the input, the
	// source writes a new one after it has read all of an intact input. If the index
	// does not belong to the input, the source reads the input without it. Default: no
	// index.
	Index string
	// Logger logs why an index is not used. Default: no logging.
	Logger *slog.Logger
	// OnDamage says how to handle a damaged input: emit-and-report, quarantine,
	// skip-file or stop, as in Settings. Default emit-and-report.
	OnDamage string
	// Hold says that every output can withdraw what it has written, so that
	// quarantine need not read inputs twice: see engine.Lane.Withdraw.
	Hold bool
	// FitOf, if not nil, returns a function that reports whether a record of
	// the input at path fits its format. head is the header record, or nil.
	FitOf func(path string, head []byte) func(rec []byte) bool

	// Limit, if not 0, is the number of records to read from all inputs, which are then
	// read one after the other. The source does not read the rest of the inputs, so it
	// does not find damage there: see Report.Limited. Blank lines and headers do not
	// count.
	Limit int64
	// Sample, if not nil, chooses records of all inputs at random, within Limit. The
	// source emits only these records, after it has read everything. Records longer
	// than MaxRecord are never chosen.
	Sample *Sample
	// OpenTable, if not nil, opens the Parquet or Avro file at path as text.
	// Without it such files are not supported. It is called from several
	// goroutines.
	OpenTable func(path string, f compress.Format) (compress.Table, error)

	// IsText, if not nil, reports whether the file at path, whose first bytes
	// are head, is text although its name has the extension of a compressed
	// format.
	IsText func(path string, head []byte) bool
	// Encodings says how to convert text in UTF-16, or with CR at line ends.
	Encodings compress.Encodings
	// Exact says that verdicts and Report.Good are exact in zstd files too, which takes
	// longer.
	Exact bool

	stdinID string // lane identity of stdin; empty: the path
}

// setDefaults replaces zero values with defaults.
func (c *Config) setDefaults() {
	if len(c.Paths) == 0 {
		c.Paths = []string{stdinPath}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.MaxRecord = cmp.Or(c.MaxRecord, 1<<20)
	c.Parallel = cmp.Or(c.Parallel, 2)
	c.OnDamage = cmp.Or(c.OnDamage, damageEmit)
	if c.Limit > 0 {
		c.Parallel = 1
	}
	c.Linger = cmp.Or(c.Linger, 50*time.Millisecond)
}

// validate returns all problems of c, joined.
func (c *Config) validate() error {
	var errs []error
	check := func(ok bool, text string) {
		if !ok {
			errs = append(errs, errors.New("file source: "+text))
		}
	}
	check(c.Framing != nil || c.FramingOf != nil, "neither Framing nor FramingOf is set")
	check(c.Stdin != nil || !slices.Contains(c.Paths, stdinPath), "Paths contains \"-\" (stdin), but Stdin is nil")
	check(slices.Contains(OnDamageNames(), c.OnDamage), "OnDamage must be emit-and-report, quarantine, skip-file or stop")
	check(!c.NeedsFiles() || !slices.Contains(c.Paths, stdinPath), "OnDamage "+c.OnDamage+" may read inputs twice, which is not possible for stdin")
	for _, pattern := range c.Exclude {
		check(doublestar.ValidatePattern(pattern), fmt.Sprintf("invalid glob in Exclude: %q", pattern))
	}
	check(c.MaxRecord > 0, "MaxRecord must be positive")
	check(c.Parallel > 0, "Parallel must be positive")
	check(c.Linger > 0, "Linger must be positive")
	return errors.Join(errs...)
}

// NeedsFiles reports whether all inputs must be regular files, because the source reads
// damaged inputs, or all inputs, twice.
func (c *Config) NeedsFiles() bool {
	return c.OnDamage == damageSkip || c.OnDamage == damageQuarantine
}

// framing returns the framing of the input at path.
func (c *Config) framing(path string) Framing {
	if c.FramingOf != nil {
		return c.FramingOf(path)
	}
	return c.Framing
}

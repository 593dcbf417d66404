package file

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// A Framing says where records end: record.Framing is one.
type Framing interface {
	// Cut returns the length of the longest prefix of block that is made of whole
	// records, 0 if there is none.
	Cut(block []byte) int
	// Head returns the length of the header record at the start of a stream, 0 if
	// there is none, or not all of it in block.
	Head(block []byte) int
}

// A director is a Framing of streams with directives: see record.Director.
type director interface{ Directive(block []byte) []byte }

// A lengthFraming is a Framing of records that say how long they are: see
// record.LengthFraming.
type lengthFraming interface {
	Framing
	Span(block []byte, last bool) (n int, sound bool)
	Length(block []byte) int64
	Ends(rec []byte) bool
	Resync(block []byte) (n int, found bool)
	Incomplete(block []byte) bool
}

// A Config says what to read, and how. Framing or FramingOf must be set.
type Config struct {
	// Paths are files, globs (with ** for any number of folders), directories
	// (read with all below them) and "-" for stdin. None means stdin. A file that
	// is found more than once is read once, unless it is named, as it is, twice.
	Paths []string
	// Stdin is what "-" means, and must be set if that is read. Anything but a
	// regular file is taken for a pipe. It is never closed.
	Stdin io.Reader
	// Framing says where records end.
	Framing Framing
	// FramingOf says where the records of an input end, by its path as Paths
	// returns it, for inputs of several formats. It is called once an input, when
	// Run comes to it, by many goroutines. Framing is not used then.
	FramingOf func(path string) Framing
	// MaxRecord is the longest record, in bytes, that is kept together. A record
	// that fits into the arena of a batch, or is but one byte longer than this, may
	// be kept together anyway: the limit is on memory. Default 1 MiB.
	MaxRecord int
	// Parallel is how many inputs are read at once. Default 2.
	Parallel int
	// LaneBatches is how many batches of one input may be under way. Default: as
	// the pipeline sees fit.
	LaneBatches int
	// Linger is how long the first record of a batch waits for more to come from
	// a pipe. Default 50 ms.
	Linger time.Duration
	// Limits bound what a compressed input may cost. The zero value means the
	// defaults.
	Limits field.Limits
	// OnDamage is what a damaged input leads to: emit_and_report, quarantine,
	// skip_file or stop, as in Settings. Default: emit_and_report.
	OnDamage string
	// Hold says that what was emitted can be withdrawn from all outputs, so that
	// quarantine need not read inputs twice: see pipeline.Lane.Withdraw.
	Hold bool
	// FitOf, if it is set, returns a function that reports whether a record of the
	// input with that path fits its format. head is the header record, or nil.
	FitOf func(path string, head []byte) func(rec []byte) bool

	stdinID string // identity of the lane of stdin; empty: its name
}

// readsTwice reports whether inputs are examined before anything of them is emitted.
func (c *Config) readsTwice() bool {
	return c.OnDamage == damageSkip || c.OnDamage == damageQuarantine && !c.Hold
}

// NeedsFiles reports whether all inputs must be regular files: they are read twice
// if they are damaged, or always.
func (c *Config) NeedsFiles() bool {
	return c.OnDamage == damageSkip || c.OnDamage == damageQuarantine
}

// setDefaults replaces zero values by defaults.
func (c *Config) setDefaults() {
	if len(c.Paths) == 0 {
		c.Paths = []string{stdinPath}
	}
	if c.MaxRecord == 0 {
		c.MaxRecord = 1 << 20
	}
	if c.Parallel == 0 {
		c.Parallel = 2
	}
	if c.OnDamage == "" {
		c.OnDamage = damageEmit
	}
	if c.Linger == 0 {
		c.Linger = 50 * time.Millisecond
	}
}

// validate returns all that is wrong with c, joined.
func (c *Config) validate() error {
	var errs []error
	check := func(ok bool, text string) {
		if !ok {
			errs = append(errs, errors.New("file source: "+text))
		}
	}
	check(c.Framing != nil || c.FramingOf != nil, "no framing")
	check(c.Stdin != nil || !slices.Contains(c.Paths, stdinPath), "stdin is to be read, and there is none")
	check(slices.Contains(OnDamageNames(), c.OnDamage), "an unknown value of OnDamage")
	check(!c.NeedsFiles() || !slices.Contains(c.Paths, stdinPath), "stdin cannot be read twice, which "+c.OnDamage+" takes")
	check(c.MaxRecord > 0, "the record limit is not positive")
	check(c.Parallel > 0, "the number of inputs that are read at once is not positive")
	check(c.LaneBatches >= 0, "the number of batches of a lane is negative")
	check(c.Linger > 0, "the time that a record waits is not positive")
	return errors.Join(errs...)
}

// framing returns the framing of the input at path.
func (c *Config) framing(path string) Framing {
	if c.FramingOf != nil {
		return c.FramingOf(path)
	}
	return c.Framing
}

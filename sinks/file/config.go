package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A Config configures an [Output]. Exactly one of Path and Writer must be set.
type Config struct {
	// Path is the output file. If it is a symbolic link, the output replaces
	// the target of the link. If it exists and is not a regular file (a named
	// pipe, /dev/null), the sink writes to it directly.
	Path string
	// Objects, if not nil, has the object that a Path of the form s3://BUCKET/KEY
	// names. The output becomes that object when it is published, and before that
	// it is not visible: there is no NAME.part, and records that were written
	// cannot be withdrawn.
	Objects *objects.Store
	// Writer receives the output instead of a file. It is neither synced nor
	// closed.
	Writer io.Writer
	// Compress is "none", "gzip" or "zstd"; "gzip" and "zstd" take a level, as in
	// "zstd:3". If it is empty, the extension of Path, .gz or .zst, selects the
	// format.
	Compress string
	// Unbuffered makes Submit write each batch before it answers. If the output is
	// compressed, each batch is then a separate member; otherwise, a member can
	// have several batches.
	Unbuffered bool
	// Mode limits the permissions of the file. They are also limited by the permissions
	// of Inputs, by the umask and by the permissions of the file that the output
	// replaces, if any. 0 means 0666.
	Mode fs.FileMode
	// NewEncoder, if not nil, returns an encoder that writes to w. Open calls
	// it. Compress is then ignored, and records that were written cannot be
	// withdrawn.
	NewEncoder func(w io.Writer) (Encoder, error)
	// Header is written at the beginning of the output, before the first
	// record. An Encoder ignores it.
	Header []byte
	// Replace permits the output to replace an existing file at Path. Otherwise
	// Open and Publish fail if the file exists.
	Replace bool
	// DeadLetter reports that this is the output of rejected records. Withdraw
	// then discards the withdrawn text, because Withdraw of the main output
	// keeps it.
	DeadLetter bool
	// BeforePublish, if not nil, is called with the path of the complete and synced
	// part, which then gets its final name, unless BeforePublish returns an error. If it
	// returns [ErrKeep], the part is removed and the output of a [Tree] does not fail.
	BeforePublish func(part string) error
	// InPlace permits the output to replace one of Inputs.
	InPlace bool
	// Inputs are the paths of the files that the run reads. Open fails if they
	// include the output.
	Inputs []string

	blocks blocks // shared with other outputs; nil: the output has its own
}

var (
	// ErrClosedPipe is wrapped by the error of a run whose output pipe was
	// closed by its reader. This is the usual end of `urlfold … | head`.
	ErrClosedPipe = errors.New("output pipe closed by its reader")
	// ErrIsInput is wrapped by the error of Open if the output is one of the
	// inputs.
	ErrIsInput = errors.New("the output is one of the inputs")
	// ErrExists is wrapped by the error of Open and Publish if the output
	// exists and Replace is not set.
	ErrExists = errors.New("the file exists")
	// ErrKeep is what BeforePublish returns to keep the existing file.
	ErrKeep = errors.New("the existing file is kept")
	// ErrLocked is wrapped by the error of Open if another process is writing
	// the file.
	ErrLocked = errors.New("another process is writing this file")
)

// An Output is a sink that writes a single file.
type Output interface {
	engine.Sink

	// Publish completes the output and renames it to its final name. Call it
	// after Close. If part of the output was not written, Publish fails and has
	// the effect of Abort. For a Writer it only completes the written data.
	Publish() error
	// Withdraw truncates the output to the verified records of l, its only
	// lane, if l has withdrawn others (see engine.Lane.Withdraw). It stores
	// the withdrawn text, as it was read, in NAME.unverified, or in a numbered
	// variant if that name is taken. Call it after Close and before Publish.
	Withdraw(l *engine.Lane) error
	// Abort gives up the output. The written data remains in NAME.part; if
	// nothing was written, Abort removes the file. After Publish it does
	// nothing.
	Abort() error
	// Part returns the path of the file that is written before Publish, or "".
	Part() string
}

// New returns an output with the given configuration. The error joins all
// problems of cfg. New does not access any file.
func New(cfg Config) (Output, error) {
	var errs []error
	if (cfg.Path == "") == (cfg.Writer == nil) {
		errs = append(errs, errors.New("file sink: exactly one of Path and Writer must be set"))
	}
	format, level, err := cfg.formatOf()
	if err != nil {
		errs = append(errs, fmt.Errorf("file sink: %w", err))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return newSink(cfg, format, level), nil
}

func newSink(cfg Config, format compress.Format, level int) *sink {
	if cfg.Mode == 0 {
		cfg.Mode = oneShotMode
	}
	s := &sink{cfg: cfg, format: format, level: level, blocks: cfg.blocks}
	if format != compress.Plain && s.blocks == nil {
		s.blocks = newBlocks()
	}
	return s
}

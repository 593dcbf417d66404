package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline"
)

// A Config says where to write, and how. Either Path or Writer must be set.
type Config struct {
	// Path is the file. If it is a link, the file that it leads to is replaced. If
	// it is there and no regular file (a named pipe, /dev/null), it is written to
	// as it is.
	Path string
	// Writer is written to instead of a file. It is neither synced nor closed.
	Writer io.Writer
	// Compress is gzip, zstd or none. Empty: by the extension of Path, .gz or
	// .zst.
	Compress string
	// Mode bounds the permissions of the file, together with those of Inputs, the
	// umask and, if it replaces a file, those of that. 0: 0666.
	Mode fs.FileMode
	// Level is that of compress.NewPack. 0: its default.
	Level int
	// Replace says that a file that exists at Path is replaced. Otherwise it is
	// refused, when the sink is opened and when it is published.
	Replace bool
	// DeadLetter says that this is the output of rejected records: it keeps no text
	// that is withdrawn, for the output of the records does.
	DeadLetter bool
	// Inputs are the paths of the files that the run reads. An output that is one
	// of them is refused.
	Inputs []string
}

var (
	// ErrClosedPipe is in the error of a run whose reader has gone away. It is the
	// usual end of `urlfold … | head`.
	ErrClosedPipe = errors.New("the reader of the output has gone away")
	// ErrIsInput is in the error of Open if the output is one of the inputs.
	ErrIsInput = errors.New("the output is one of the inputs")
	// ErrExists is in the error of Open and Publish if the output exists and is not
	// to be replaced.
	ErrExists = errors.New("the file exists")
	// ErrLocked is in the error of Open if another run is writing the same file.
	ErrLocked = errors.New("another run is writing this file")
)

// An Output is the sink of one file.
type Output interface {
	pipeline.Sink

	// Publish makes the output complete, and gives it its name. It is for after
	// Close, and fails if anything that was to be written was not: then it is
	// Abort too. Of a Writer it only completes what was written.
	Publish() error
	// Withdraw cuts the output back to the verified records of l, its only lane, if
	// that has withdrawn others (see pipeline.Lane.Withdraw), and keeps these, as they
	// were read, in NAME.unverified, or with a number after it if that is taken. It is
	// for after Close, before Publish.
	Withdraw(l *pipeline.Lane) error
	// Abort gives the output up. What was written stays in NAME.part; if that is
	// nothing, no file stays. After Publish it does nothing.
	Abort() error
	// Part returns the path of the file that is written to before Publish, empty
	// if there is none.
	Part() string
	// Written returns how many bytes were written. It may be called from any
	// goroutine.
	Written() int64
}

// New returns the output that cfg asks for. The error tells all that is wrong
// with cfg, joined. It looks at no file. The Output is a pipeline.Packer if it is
// compressed.
func New(cfg Config) (Output, error) {
	var errs []error
	if (cfg.Path == "") == (cfg.Writer == nil) {
		errs = append(errs, errors.New("file sink: either a path or a writer must be given"))
	}
	format, err := compress.ParseFormat(cfg.Compress, cfg.Path)
	if err != nil {
		errs = append(errs, fmt.Errorf("file sink: %w", err))
	}
	if format != compress.Plain {
		if _, err := compress.NewPack(format, cfg.Level); err != nil {
			errs = append(errs, fmt.Errorf("file sink: %w", err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if cfg.Mode == 0 {
		cfg.Mode = oneShotMode
	}
	s := &sink{cfg: cfg, format: format, lineFeed: []byte{'\n'}}
	if format == compress.Plain {
		return s, nil
	}
	pack, _ := compress.NewPack(format, cfg.Level) // one was made above
	s.lineFeed = pack(nil, s.lineFeed)
	return &packer{s}, nil
}

// pieces returns what PiecePacker.NewPiecePack does: a function that packs the pieces
// for which packs is true.
func pieces(level int, packs func(b *pipeline.Batch) bool) (func(dst []byte, b *pipeline.Batch) []byte, error) {
	pack, err := compress.NewPiecePack(level)
	if err != nil {
		return nil, err
	}
	return func(dst []byte, b *pipeline.Batch) []byte {
		if !packs(b) {
			return dst
		}
		return pack(dst, b.Out.Bytes, b.Piece == pipeline.First, b.Piece == pipeline.Last, b.Sum, b.Size)
	}, nil
}

// A packer is a sink whose batches come compressed.
type packer struct{ *sink }

// NewPack implements [pipeline.Packer].
func (p *packer) NewPack() (func(dst, src []byte) []byte, error) {
	return compress.NewPack(p.format, p.cfg.Level)
}

// NewPiecePack implements [pipeline.PiecePacker].
func (p *packer) NewPiecePack() (func(dst []byte, b *pipeline.Batch) []byte, error) {
	if p.format != compress.Gzip {
		return nil, nil
	}
	return pieces(p.cfg.Level, func(*pipeline.Batch) bool { return true })
}

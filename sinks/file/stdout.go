package file

import (
	"context"
	"io"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A StdoutConfig configures the stdout sink, which writes to the standard output
// of a daemon.
type StdoutConfig struct {
	// Compression of the output: gzip, zstd, none, or {zstd: {level: 3}}.
	// Default: none.
	Compress Compression `yaml:"compress"`

	// Header is written before the first record.
	Header []byte
}

// NewStdout returns a sink that writes to w, the standard output of a daemon. A
// batch counts as delivered when the system has accepted its bytes: the sink
// cannot know whether the reader of a pipe has processed them, and does not
// sync a file. If the reader closes the pipe, the run ends with
// [ErrClosedPipe]. Any other write error ends the run as well, because part of
// a batch may have been written. The sink is a engine.Packer if it is
// compressed. It does not close w.
func NewStdout(cfg StdoutConfig, w io.Writer) (engine.Sink, error) {
	format, level, err := cfg.Compress.resolve("")
	if err != nil {
		return nil, err
	}
	name := format.String()
	if format == compress.Plain {
		name = "none"
	}
	out, err := New(Config{Writer: w, Compress: name, Level: level, Header: cfg.Header})
	if err != nil {
		return nil, err
	}
	if p, ok := out.(*packer); ok {
		return &packedStdout{stdout{p.sink}}, nil
	}
	return &stdout{out.(*sink)}, nil
}

// A stdout is a sink whose Close ends the last record with a line feed, so that
// the output of the same process after a reload starts on a new line.
type stdout struct{ *sink }

// Close implements [engine.Sink].
func (s *stdout) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.torn && s.err == nil && !s.closed {
		_ = s.append(s.lineFeed) // append records the error
	}
	s.mu.Unlock()
	if err := s.sink.Close(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil || s.err != nil {
		return nil // never opened, or a batch was already answered with the error
	}
	return s.complete()
}

// A packedStdout is a stdout whose batches are compressed by the pipeline.
type packedStdout struct{ stdout }

// NewPack implements [engine.Packer].
func (p *packedStdout) NewPack() (func(dst, src []byte) []byte, error) {
	return compress.NewPack(p.format, p.cfg.Level)
}

// Interface guards.
var (
	_ engine.Sink   = (*stdout)(nil)
	_ engine.Packer = (*packedStdout)(nil)
)

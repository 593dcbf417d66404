package file

import (
	"context"
	"io"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline"
)

// A StdoutConfig says how a daemon writes to its standard output.
type StdoutConfig struct {
	// How the output is compressed: gzip, zstd, none, or {zstd: {level: 3}}. Default: none.
	Compress Compression `yaml:"compress"`
}

// NewStdout returns a sink that writes to w, the standard output of a daemon. A batch
// counts as delivered when the system has taken its bytes: nothing says that the
// reader of a pipe has processed them, and a file is not synced. When the reader of
// the pipe goes away, the run ends with [ErrClosedPipe]; other errors of a write end it
// as well, since part of a batch may be out. The sink is a pipeline.Packer if it is
// compressed. It does not close w.
func NewStdout(cfg StdoutConfig, w io.Writer) (pipeline.Sink, error) {
	format, level, err := cfg.Compress.resolve("")
	if err != nil {
		return nil, err
	}
	name := format.String()
	if format == compress.Plain {
		name = "none"
	}
	out, err := New(Config{Writer: w, Compress: name, Level: level})
	if err != nil {
		return nil, err
	}
	if p, ok := out.(*packer); ok {
		return &packedStdout{stdout{p.sink}}, nil
	}
	return &stdout{out.(*sink)}, nil
}

// A stdout is a sink that ends the last record when it is closed: what follows in the
// same process, after a reload, begins on a line of its own.
type stdout struct{ *sink }

// Close implements [pipeline.Sink].
func (s *stdout) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.torn && s.err == nil && !s.closed {
		_ = s.append(s.lineFeed) // it keeps its error
	}
	s.mu.Unlock()
	if err := s.sink.Close(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil || s.err != nil {
		return nil // it was never opened, or the error is in the answer to a batch
	}
	return s.complete()
}

// A packedStdout is a stdout whose batches come compressed.
type packedStdout struct{ stdout }

// NewPack implements [pipeline.Packer].
func (p *packedStdout) NewPack() (func(dst, src []byte) []byte, error) {
	return compress.NewPack(p.format, p.cfg.Level)
}

// Interface guards.
var (
	_ pipeline.Sink   = (*stdout)(nil)
	_ pipeline.Packer = (*packedStdout)(nil)
)

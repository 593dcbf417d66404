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
	// Compression of the output: none, gzip or zstd. gzip and zstd take a level,
	// such as zstd:3. Default: none.
	Compress Compression `yaml:"compress"`

	// Header is written before the first record.
	Header []byte
}

// NewStdout returns a sink that writes to w, the standard output of a
// daemon. A batch counts as delivered when the system has accepted its
// bytes: the sink cannot know whether the reader of a pipe has processed
// them, and does not sync a file. If the reader closes the pipe, the run
// ends with [ErrClosedPipe]. Any other write error ends the run as well,
// because part of a batch may have been written. The sink does not close w.
func NewStdout(cfg StdoutConfig, w io.Writer) (engine.Sink, error) {
	format, level, err := compress.ParseFormat(string(cfg.Compress), "")
	if err != nil {
		return nil, err
	}
	return &stdout{newSink(Config{Writer: w, Unbuffered: true, Header: cfg.Header}, format, level)}, nil
}

// A stdout is a sink whose Close ends the last record with a line feed, so that
// the output of the same process after a reload starts on a new line.
type stdout struct{ *sink }

// Close implements [engine.Sink].
func (s *stdout) Close(ctx context.Context) error {
	s.mu.Lock()
	switch {
	case !s.torn || s.err != nil || s.closed:
	case s.format == compress.Plain:
		_ = s.append([]byte{'\n'}) // append records the error
	default:
		_ = s.gather(nil, new(engine.Stream)) // gather records the error
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

// Interface guards.

package file

import (
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// An Encoder writes batches in a form whose end depends on all of them, such as a
// Parquet file with its index at the end. A file without that end is not readable, so
// an aborted output with an Encoder leaves no NAME.part.
type Encoder interface {
	// Append encodes the stream of b, which it does not retain. After an error
	// the output cannot be completed.
	Append(b *engine.Batch, stream *engine.Stream) error
	// Close writes the end of the file. The sink calls it once, unless the run
	// failed.
	Close() error
}

// A sinkWriter passes the bytes of an Encoder to its sink. The caller of the
// Encoder holds the lock of the sink.
type sinkWriter struct{ s *sink }

// Write implements io.Writer.
func (w sinkWriter) Write(p []byte) (int, error) {
	if err := w.s.append(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A partWriter is a sinkWriter whose Encoder can read what it has written.
type partWriter struct{ sinkWriter }

// ReadAt implements io.ReaderAt.
func (w partWriter) ReadAt(p []byte, at int64) (int, error) { return w.s.part.f.ReadAt(p, at) }

// formatOf returns the format in which the sink compresses the output, and the
// level. An Encoder compresses by itself.
func (cfg *Config) formatOf() (f compress.Format, level int, err error) {
	if cfg.NewEncoder != nil {
		return compress.Plain, 0, nil
	}
	return compress.ParseFormat(cfg.Compress, cfg.Path)
}

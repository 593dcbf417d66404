package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A sink writes batches directly from their arenas as they arrive, or gathers
// them if the output is compressed.
type sink struct {
	cfg     Config
	format  compress.Format
	level   int
	written atomic.Int64

	mu        sync.Mutex
	w         io.Writer
	part      *part // nil: the output is not a file that is renamed later
	direct    *os.File
	object    *objects.Writer
	encoder   Encoder // nil: batches are written as they are
	flushing  writeback
	torn      bool // the last record has no line end
	span      span
	header    int64 // length of the header, as written
	err       error // first error; then nothing more is written
	closed    bool
	published bool

	// Of a compressed output; see gather.go.
	blocks  blocks
	filling *block
	flying  []*block
	begins  bool // the next block is the first of span
	cont    bool // the last launched block was open
	long    long
}

// Open implements [engine.Sink].
func (s *sink) Open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w != nil {
		return errors.New("file sink: Open called twice")
	}
	err := s.open(ctx)
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		s.err = err
	}
	return err
}

// begin writes what precedes the first record.
func (s *sink) begin() (err error) {
	switch {
	case s.cfg.NewEncoder != nil && s.part != nil:
		s.encoder, err = s.cfg.NewEncoder(partWriter{sinkWriter{s}})
	case s.cfg.NewEncoder != nil:
		s.encoder, err = s.cfg.NewEncoder(sinkWriter{s})
	case len(s.cfg.Header) > 0:
		var header []byte
		if header, err = packed(s.format, s.level, s.cfg.Header); err == nil {
			err = s.append(header)
		}
		s.header = s.written.Load()
	}
	return err
}

func (s *sink) open(ctx context.Context) error {
	if s.cfg.Writer != nil {
		s.w = s.cfg.Writer
		if f, ok := s.w.(*os.File); ok {
			// `urlfold a.log >> a.log` would never end.
			fi, err := f.Stat()
			if err != nil || !fi.Mode().IsRegular() || !isInput(fi, s.cfg.Inputs) {
				return nil
			}
			return ErrIsInput
		}
		return nil
	}
	if s.cfg.Objects != nil && objects.Is(s.cfg.Path) {
		return s.create()
	}
	path, fi, err := target(s.cfg.Path)
	switch {
	case err != nil:
		return err
	case fi != nil && fi.IsDir():
		return fmt.Errorf("%s: output is a directory", path)
	case fi != nil && !fi.Mode().IsRegular():
		if s.direct, err = openDirect(ctx, path); err == nil {
			s.w = s.direct
		}
		return err
	}
	others := s.cfg.Inputs
	if s.cfg.InPlace {
		others = nil
	}
	if fi != nil && isInput(fi, others) {
		return fmt.Errorf("%s: %w", path, ErrIsInput) // not even --force permits this
	}
	if err := refuseExisting(path, s.cfg.Replace); err != nil {
		return err
	}
	s.part, err = openPart(path, fi, others, allowed(oneShotMode, s.cfg.Mode, modeOfFiles(s.cfg.Inputs)))
	if err != nil {
		return err
	}
	s.w = s.part.f
	s.flushing.f = s.part.f.File
	return nil
}

// openDirect opens a file that is not regular. Opening a pipe waits until it
// has a reader or ctx is done.
func openDirect(ctx context.Context, path string) (*os.File, error) {
	type result struct {
		f   *os.File
		err error
	}
	opened := make(chan result, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		opened <- result{f, err}
	}()
	select {
	case r := <-opened:
		return r.f, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("open %s: %w while waiting for a reader", path, ctx.Err())
	}
}

// Submit implements [engine.Sink]. It answers the ticket, then returns. A file
// error is fatal, because a partially written batch cannot be taken back.
func (s *sink) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.write(b, t.Stream())
	if err != nil {
		t.Done(engine.Result{Err: err, Class: engine.Fatal})
		return nil
	}
	t.Done(engine.Result{})
	return nil
}

// write appends the stream of b, compressed if the output is. A last record
// without a line end remains so unless another batch follows.
func (s *sink) write(b *engine.Batch, stream *engine.Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil:
		return s.err
	case s.w == nil || s.closed:
		return errors.New("file sink: not open")
	case len(stream.Bytes) == 0:
		return nil
	case s.encoder != nil:
		err := s.encoder.Append(b, stream)
		if s.err == nil && err != nil { // if s.err is set, append has recorded the error
			s.err = err
		}
		return s.err
	case s.format != compress.Plain:
		return s.gather(b, stream)
	case b == nil: // the text comes from no lane
		return s.append(stream.Bytes)
	}
	s.span.next(b, s.written.Load())
	if s.torn { // without an ordering, the lane's last batch may be followed by others
		if err := s.append([]byte{'\n'}); err != nil {
			return err
		}
	}
	s.torn = !endsRecord(b, stream)
	return s.append(stream.Bytes)
}

// append writes p. The caller holds mu.
func (s *sink) append(p []byte) error {
	n, err := s.w.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	size := s.written.Add(int64(n))
	if err != nil {
		s.err = s.explain(err)
		return s.err
	}
	s.flushing.wrote(size)
	return nil
}

// explain adds context to a write error.
func (s *sink) explain(err error) error {
	switch {
	case s.object != nil:
		return s.explainObject(err)
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return fmt.Errorf("%w: %w", ErrClosedPipe, err)
	case s.part != nil && s.encoder == nil && s.written.Load() == 0:
		return err // err names the part; Abort removes an empty part
	case s.part != nil && s.encoder == nil:
		return fmt.Errorf("%w (partial output is in %s)", err, s.part.name)
	}
	return err
}

// Barrier implements [engine.Sink].
func (s *sink) Barrier(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.drain() // drain records the error
	return s.sync()
}

// sync makes the written data durable. A failed sync is final, because the
// system may have dropped the data that it could not write, and the next sync
// would not report that. The caller holds mu.
func (s *sink) sync() error {
	if s.err != nil || s.part == nil || s.part.f == nil {
		return s.err
	}
	if err := s.part.f.Sync(); err != nil {
		s.err = s.explain(err)
	}
	return s.err
}

// Close implements [engine.Sink]. It keeps NAME.part locked until Publish or
// Abort.
func (s *sink) Close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.w == nil {
		s.closed = true
		return nil
	}
	s.closed = true
	reported := s.err != nil // the answer to a batch contained the error
	_ = s.drain()            // drain records the error
	if ctx.Err() == nil && s.encoder != nil && s.err == nil {
		if err := s.encoder.Close(); s.err == nil { // if s.err is set, append has recorded the error
			s.err = err
		}
	}
	switch {
	case s.direct != nil:
		if err := s.direct.Close(); s.err == nil {
			s.err = err
		}
	case !reported:
		_ = s.sync() // sync records the error
	}
	if reported {
		return nil
	}
	return s.err
}

// Publish implements [Output].
func (s *sink) Publish() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.published {
		return nil
	}
	err := s.complete()
	if err == nil && s.part != nil {
		err = refuseExisting(s.part.final, s.cfg.Replace)
	}
	if err == nil && s.part != nil && s.cfg.BeforePublish != nil {
		err = s.cfg.BeforePublish(s.part.name)
	}
	if err == nil && s.part != nil {
		err = s.part.publish()
	}
	if err == nil && s.object != nil {
		err = s.explainObject(s.object.Complete())
	}
	if errors.Is(err, ErrKeep) {
		s.err = err
		return errors.Join(err, s.part.abort(true))
	}
	if err != nil {
		_ = s.abort() // err is the error to report
		return err
	}
	s.published = true
	return nil
}

// complete checks that everything was written. If there were no records, it writes an
// empty member, because an empty file is not a valid gzip file. The caller holds mu.
func (s *sink) complete() error {
	switch {
	case s.err != nil:
		return s.err
	case s.w == nil || !s.closed:
		return errors.New("file sink: Publish called before Open and Close")
	case s.format == compress.Plain || s.written.Load() > 0 || s.direct != nil:
		return nil
	}
	member, err := packed(s.format, s.level, nil)
	if err == nil {
		err = s.append(member)
	}
	if err != nil {
		return err
	}
	return s.sync()
}

// packed returns text as one member, or as it is without a compression.
func packed(f compress.Format, level int, text []byte) ([]byte, error) {
	if f == compress.Plain {
		return text, nil
	}
	pack, err := compress.NewPack(f, level)
	if err != nil {
		return nil, err
	}
	return pack(nil, text), nil
}

// Abort implements [Output].
func (s *sink) Abort() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.abort()
}

func (s *sink) abort() error {
	_ = s.drain() // drain records the error
	if s.err == nil {
		s.err = errors.New("file sink: output aborted")
	}
	if s.object != nil {
		return s.explainObject(s.object.Abort())
	}
	if s.part == nil {
		return nil
	}
	return s.part.abort(s.written.Load() == s.header || s.encoder != nil)
}

// Part implements [Output].
func (s *sink) Part() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.part == nil {
		return ""
	}
	return s.part.name
}

// Caps implements [engine.Sink].
func (s *sink) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

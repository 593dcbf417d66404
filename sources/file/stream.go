package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/ground/pause"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
)

// An input is one file, pipe or stdin of a source.
type input struct {
	found
	size   int64 // size in the file system; -1: unknown
	stream *stream
	early  <-chan openedObject             // the object is being opened; nil: it is not
	live   atomic.Pointer[compress.Reader] // for Progress, while the input is being read
	taken  atomic.Int64                    // for Progress, after that: bytes read
	done   atomic.Bool
	judged bool   // see Source.Judge
	report Report // written by the goroutine of the lane
}

// release drops the reader, whose buffers add up when there are many inputs.
// The number of bytes read stays.
func (in *input) release() {
	if zr := in.live.Load(); zr != nil {
		in.taken.Store(zr.CompressedBytes())
		in.live.Store(nil)
	}
}

// read returns how many bytes of the file were read.
func (in *input) read() int64 {
	if zr := in.live.Load(); zr != nil {
		return zr.CompressedBytes()
	}
	return in.taken.Load()
}

// A stream is an open input.
type stream struct {
	zr    *compress.Reader
	file  io.Closer // nil: not ours to close
	index *indexing // nil: none
	pump  *pump     // nil for a regular file
	ahead []byte    // read by peek and not delivered yet
	hold  *hold     // nil: none
	left  int64     // bytes that may still be delivered
	ended bool      // peek has read the whole stream, so the verdict of zr is final

	complete bool // the whole stream was read, and it is intact
}

// open opens the input, unless it is open already. If the file is at fault,
// open sets the verdict in the report and returns nil. It returns an error only
// if descriptors or memory were exhausted for too long, or if ctx is done.
func (s *Source) open(ctx context.Context, in *input) (*stream, error) {
	if in.stream != nil || in.judged || in.report.Verdict.Kind == compress.Unreadable {
		return in.stream, nil
	}
	var src io.Reader
	var closer io.Closer
	var pipe bool
	err := patiently(ctx, patience, func() (err error) {
		src, closer, pipe, err = s.openFile(in)
		return err
	})
	switch {
	case disk.Exhausted(err), errors.Is(err, errStopped):
		return nil, err
	case err != nil:
		in.report.Verdict = compress.Verdict{Kind: compress.Unreadable, Cut: true, Detail: err.Error()}
		return nil, nil
	}
	opt := s.readerOptions(in)
	var index *indexing
	if pipe {
		opt.Ahead = 0 // text that has arrived must not wait for more input
	} else if f, ok := src.(steadyFile); ok {
		index = s.openIndex(in, f.File, &opt)
	}
	st := &stream{zr: compress.NewReader(src, opt), file: closer, index: index, left: math.MaxInt64}
	if pipe {
		st.pump = &pump{
			sums: func() int64 { off, _ := st.zr.Verified(); return off },
			free: make(chan []byte, 2), full: make(chan pumped, 2), quit: make(chan struct{}), ended: make(chan struct{}),
		}
		st.pump.free <- make([]byte, pumpBytes)
		st.pump.free <- make([]byte, pumpBytes)
		go st.pump.run(st.zr)
	}
	in.stream = st
	in.live.Store(st.zr)
	return st, nil
}

// patience is how long a run waits for descriptors or memory.
const patience = 30 * time.Second

// patiently calls do until it succeeds, fails for a reason other than exhausted
// resources, or the duration long has passed. It returns errStopped if ctx is done
// first.
func patiently(ctx context.Context, long time.Duration, do func() error) error {
	end := time.Now().Add(long)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := do()
		if !disk.Exhausted(err) || time.Now().After(end) {
			return err
		}
		if pause.For(ctx, wait) != nil {
			return errStopped
		}
	}
}

// A steadyFile reads a file and retries reads that fail because resources are
// exhausted.
type steadyFile struct {
	*os.File
	at func(point string) error // fault.At, except in tests
}

// Read implements io.Reader.
func (f steadyFile) Read(p []byte) (n int, err error) {
	err = patiently(context.Background(), patience, func() (err error) {
		n, err = readFile(f).Read(p)
		if n > 0 {
			err = nil
		}
		return err
	})
	return n, err
}

// readerOptions returns the options of package compress for an input.
func (s *Source) readerOptions(in *input) compress.Options {
	opt := decoding(s.cfg.Limits, in.path)
	opt.RestartEvery = membersOnly
	if len(s.inputs) == 1 && !s.cfg.Exact {
		opt.Concurrency = zstdGoroutines // no other input uses the other cores
	}
	if len(s.inputs) == 1 {
		opt.Ahead = min(runtime.GOMAXPROCS(0), maxAhead)
		opt.Turn = s.turn
	}
	if s.cfg.IsText != nil {
		opt.IsText = func(head []byte) bool { return s.cfg.IsText(in.path, head) }
	}
	opt.Encodings = s.cfg.Encodings
	if s.cfg.OpenTable != nil && in.path != stdinPath && in.size >= 0 { // a size of -1 means that the input is not a regular file
		opt.Table = func(f compress.Format) (compress.Table, error) { return s.cfg.OpenTable(in.path, f) }
	}
	return opt
}

// verified returns the offset up to which checksums verify the stream.
func (st *stream) verified() int64 {
	if st.pump != nil {
		return st.pump.known
	}
	return st.marks().sums
}

// marks returns what is known about the text that read has returned.
func (st *stream) marks() marks {
	if st.hold != nil && len(st.hold.pieces) > 0 {
		return st.hold.at
	}
	return marksOf(st.zr)
}

// zstdGoroutines is the number of goroutines that decode a single input.
const zstdGoroutines = 4

// maxAhead is the maximum number of goroutines that inflate a single input.
const maxAhead = 8

// openFile opens the file of an input and reports whether it is a pipe.
func (s *Source) openFile(in *input) (src io.Reader, closer io.Closer, pipe bool, err error) {
	switch {
	case in.err != nil:
		return nil, nil, false, in.err
	case in.path == stdinPath:
		return s.cfg.Stdin, nil, !isRegular(s.cfg.Stdin), nil
	case in.object != nil:
		r, err := s.openObject(in)
		if err != nil { // an interface with a nil pointer would not be nil
			return nil, nil, false, err
		}
		return r, r, false, nil
	case in.archive != "":
		r, err := openMember(in.archive, in.member, decoding(s.cfg.Limits, in.archive))
		if err != nil {
			return nil, nil, false, err
		}
		return r, r, true, nil
	}
	f, err := s.openSteady(in.path)
	if err != nil {
		return nil, nil, false, err
	}
	if !isRegular(f.File) {
		return f.File, f.File, true, nil
	}
	return f, f.File, false, nil
}

// openSteady opens the file at path.
func (s *Source) openSteady(path string) (f steadyFile, err error) {
	if err := s.at("source.open"); err != nil {
		return f, err
	}
	file, err := os.Open(path)
	return steadyFile{file, s.at}, err
}

// isRegular reports whether r is a regular file.
func isRegular(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	return err == nil && fi.Mode().IsRegular()
}

// read reads into p, like pump.read. Only a pipe ever waits, so due has an
// effect only for a pipe.
func (st *stream) read(ctx context.Context, p []byte, due <-chan time.Time) (n int, err error) {
	if st.left <= 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), st.left)]
	defer func() { st.left -= int64(n) }()
	switch {
	case len(st.ahead) > 0:
		n := copy(p, st.ahead)
		st.ahead = st.ahead[n:]
		return n, nil
	case st.pump != nil:
		return st.pump.read(ctx, p, due)
	case ctx.Err() != nil:
		return 0, errStopped
	}
	if st.hold != nil {
		if n := st.hold.read(p); n > 0 {
			return n, nil
		}
	}
	return st.zr.Read(p)
}

// peek returns the first n bytes, or all bytes if there are fewer. For a pipe,
// it returns fewer bytes once it has a complete line and no data has arrived for
// the duration linger. The only error is errStopped.
func (st *stream) peek(ctx context.Context, n int, linger time.Duration) ([]byte, error) {
	least := max(n, 2) // one byte is too short to detect a byte order mark
	buf := append(make([]byte, 0, max(least, len(st.ahead))), st.ahead...)
	st.ahead = nil
	defer func() { st.ahead = buf }()
	for len(buf) < least {
		var due <-chan time.Time
		if bytes.IndexByte(buf, '\n') >= 0 {
			due = time.After(linger)
		}
		k, err := st.read(ctx, buf[len(buf):least], due)
		buf = buf[:len(buf)+k]
		switch {
		case err == io.EOF || err == errLinger:
			st.ended = err == io.EOF
			return buf[:min(n, len(buf))], nil
		case err != nil:
			return nil, err
		}
	}
	return buf[:n], nil
}

// peekLines is peek for at least n bytes. If these do not hold two whole lines, it
// returns up to most bytes.
func (st *stream) peekLines(ctx context.Context, n, most int, linger time.Duration) ([]byte, error) {
	for {
		head, err := st.peek(ctx, n, linger)
		if err != nil || len(head) < n || n >= most || bytes.Count(head, []byte("\n")) >= 2 {
			return head, err
		}
		n = min(4*n, most)
	}
}

// close closes the stream. It reports whether all goroutines that read it have
// ended; if not, only the counters of zr may be used.
func (st *stream) close() (gone bool) {
	if st.pump != nil {
		st.pump.stop()
	}
	if st.file != nil {
		_ = st.file.Close() // unblocks a pump that waits for a named pipe
	}
	if st.pump != nil && st.file != nil {
		<-st.pump.ended
	}
	if st.pump != nil && !st.pump.gone() {
		return false
	}
	st.zr.Close()
	if st.index != nil {
		st.index.close(st.complete)
	}
	return true
}

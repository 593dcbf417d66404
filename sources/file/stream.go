package file

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/urlfold/urlfold/internal/compress"
)

// An input is one file, pipe or stdin of a source.
type input struct {
	found
	size   int64 // in the file system; -1: not known
	stream *stream
	live   atomic.Pointer[compress.Reader] // for Progress
	done   atomic.Bool
	report Report // written by the goroutine of the lane
}

// A stream is an input that is open.
type stream struct {
	zr    *compress.Reader
	file  io.Closer // nil: not ours to close
	pump  *pump     // nil for a regular file
	ahead []byte    // read by peek, and not delivered yet
}

// open opens the input, unless it is open already. If that fails the report has
// the verdict, and the result is nil.
func (s *Source) open(in *input) *stream {
	if in.stream != nil || in.report.Verdict.Kind == compress.Unreadable {
		return in.stream
	}
	src, closer, pipe, err := s.openFile(in)
	if err != nil {
		in.report.Verdict = compress.Verdict{Kind: compress.Unreadable, Cut: true, Detail: err.Error()}
		return nil
	}
	opt := compress.Options{Limits: s.cfg.Limits, Name: in.path}
	if len(s.inputs) == 1 {
		opt.Concurrency = zstdGoroutines // nothing else keeps the cores busy with reading
	}
	st := &stream{zr: compress.NewReader(src, opt), file: closer}
	if pipe {
		st.pump = newPump(st.zr)
	}
	in.stream = st
	in.live.Store(st.zr)
	return st
}

// zstdGoroutines is how many goroutines decode a single input.
const zstdGoroutines = 4

// openFile opens the file of an input and says whether it is a pipe.
func (s *Source) openFile(in *input) (src io.Reader, closer io.Closer, pipe bool, err error) {
	switch {
	case in.err != nil:
		return nil, nil, false, in.err
	case in.path == stdinPath:
		return s.cfg.Stdin, nil, !isRegular(s.cfg.Stdin), nil
	}
	f, err := os.Open(in.path)
	if err != nil {
		return nil, nil, false, err
	}
	return f, f, !isRegular(f), nil
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

// read reads into p, like pump.read. Only a pipe ever waits, and so only for a
// pipe due means something.
func (st *stream) read(ctx context.Context, p []byte, due <-chan time.Time) (int, error) {
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
	return st.zr.Read(p)
}

// peek returns the first n bytes, or all if there are fewer. Of a pipe it is
// content with less, as soon as that ends a line and nothing more comes for the
// time of linger. It fails only with errStopped.
func (st *stream) peek(ctx context.Context, n int, linger time.Duration) ([]byte, error) {
	least := max(n, 2) // a byte order mark is not seen in one byte
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
			return buf[:min(n, len(buf))], nil
		case err != nil:
			return nil, err
		}
	}
	return buf[:n], nil
}

// close ends the stream. It reports whether all that read it is gone: if not,
// nothing but the counters of zr may be looked at.
func (st *stream) close() (gone bool) {
	if st.pump != nil {
		st.pump.stop()
	}
	if st.file != nil {
		_ = st.file.Close() // wakes a pump that waits for a named pipe
	}
	if st.pump != nil && st.file != nil {
		<-st.pump.ended
	}
	if st.pump != nil && !st.pump.gone() {
		return false
	}
	st.zr.Close()
	return true
}

package file

import (
	"context"
	"errors"
	"io"
	"time"
)

var (
	errLinger  = errors.New("no data within the linger time")
	errStopped = errors.New("source stopped")
)

// pumpBytes is the size of each of the two buffers of a pump: the size of a
// Linux pipe.
const pumpBytes = 64 << 10

// A pump reads from a pipe in a separate goroutine, so that its reader can stop
// waiting.
type pump struct {
	free  chan []byte
	full  chan pumped // closed at the end of the pipe
	quit  chan struct{}
	ended chan struct{} // closed when the goroutine has ended
	rest  []byte        // unread part of buf
	buf   []byte
	sums  func() int64 // see pumped; may be nil
	known int64        // sums of the last buffer
	last  int64        // sums at the end of the pipe
}

// A pumped is the result of one read, with the offset up to which the stream was
// verified then. The goroutine records the offset because no other goroutine may query
// the reader of the pipe.
type pumped struct {
	buf  []byte
	sums int64
}

func (p *pump) run(r io.Reader) {
	defer close(p.full)
	defer close(p.ended) // before full, so that whoever sees the end of the pipe also sees this
	for {
		select {
		case buf := <-p.free:
			n, err := r.Read(buf[:pumpBytes])
			var sums int64
			if p.sums != nil {
				sums = p.sums()
			}
			if n > 0 {
				p.full <- pumped{buf[:n], sums} // never blocks: there are two buffers
			}
			if err != nil {
				p.last = sums
				return
			}
			if n == 0 {
				p.free <- buf
			}
		case <-p.quit:
			return
		}
	}
}

// read copies available data to dst. It waits for the first byte until ctx is
// done (errStopped), due fires (errLinger) or the pipe ends (io.EOF).
func (p *pump) read(ctx context.Context, dst []byte, due <-chan time.Time) (int, error) {
	for len(p.rest) == 0 {
		if p.buf != nil {
			p.free <- p.buf
			p.buf = nil
		}
		select {
		case buf, ok := <-p.full:
			if !ok {
				p.known = p.last
				return 0, io.EOF
			}
			p.buf, p.rest, p.known = buf.buf, buf.buf, buf.sums
		case <-due:
			return 0, errLinger
		case <-ctx.Done():
			return 0, errStopped
		}
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// stop makes the goroutine end after its current read.
func (p *pump) stop() { close(p.quit) }

// gone reports whether the goroutine has ended.
func (p *pump) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

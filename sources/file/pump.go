package file

import (
	"context"
	"errors"
	"io"
	"time"
)

var (
	errLinger  = errors.New("nothing more came in time")
	errStopped = errors.New("stopped")
)

// pumpBytes is the size of each of the two buffers of a pump, that of a Linux
// pipe.
const pumpBytes = 64 << 10

// A pump reads from a pipe in a goroutine of its own, so that its reader can
// stop waiting.
type pump struct {
	free  chan []byte
	full  chan []byte // closed at the end of the pipe
	quit  chan struct{}
	ended chan struct{} // closed when the goroutine is gone
	rest  []byte        // of buf: not read yet
	buf   []byte
}

// newPump starts to read r.
func newPump(r io.Reader) *pump {
	p := &pump{
		free:  make(chan []byte, 2),
		full:  make(chan []byte, 2),
		quit:  make(chan struct{}),
		ended: make(chan struct{}),
	}
	p.free <- make([]byte, pumpBytes)
	p.free <- make([]byte, pumpBytes)
	go p.run(r)
	return p
}

func (p *pump) run(r io.Reader) {
	defer close(p.full)
	defer close(p.ended) // before full: who sees the end of the pipe sees this too
	for {
		select {
		case buf := <-p.free:
			n, err := r.Read(buf[:pumpBytes])
			if n > 0 {
				p.full <- buf[:n] // never blocks: there are two buffers
			}
			if err != nil {
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

// read copies what has come to dst. It waits for the first byte until ctx is
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
				return 0, io.EOF
			}
			p.buf, p.rest = buf, buf
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

// stop asks the goroutine to end after the read that it is in.
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

package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// The length of ranges. The first one is short, because a run first looks at
// the beginning of every object.
const (
	firstRange = 256 << 10
	fullRange  = 4 << 20
)

// readerAhead is how many ranges a reader fetches ahead of the current one.
const readerAhead = 2

// rangeTime is how long a single request for a range may take. A connection
// that has died without notice costs that time once.
const rangeTime = 2 * time.Minute

// A Reader reads one version of an object. Its methods must not be called
// concurrently, except ReadAt.
type Reader struct {
	store  *Store
	object Object
	ctx    context.Context
	cancel context.CancelFunc

	rest    []byte    // unread part of the current range
	buf     []byte    // memory of the current range
	queue   []*extent // requested ranges after the current one
	next    int64     // offset after the last requested range
	length  int64     // length of the next range to request
	fetches sync.WaitGroup
	free    [][]byte // memory of full ranges

	block struct { // the last range that ReadAt has read
		sync.Mutex
		off  int64
		data []byte
	}
}

// An extent is a range that is being fetched.
type extent struct {
	off   int64
	data  []byte
	err   error // set when done is closed
	done  chan struct{}
	ahead bool // the request holds a token of Store.ahead
}

// Open returns a reader of o. It fetches the first range, so that an object that
// cannot be read is found here. ctx ends all requests of the reader.
func (s *Store) Open(ctx context.Context, o Object) (*Reader, error) {
	r := &Reader{store: s, object: o, length: firstRange}
	r.ctx, r.cancel = context.WithCancel(ctx)
	if o.Size == 0 {
		return r, nil
	}
	if err := r.advance(); err != nil {
		_ = r.Close() // it returns no error
		return nil, err
	}
	return r, nil
}

// Size returns the length of the object in bytes.
func (r *Reader) Size() int64 { return r.object.Size }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.rest) == 0 {
		if err := r.advance(); err != nil {
			return 0, err
		}
		r.fetchAhead()
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// advance makes the next range the current one.
func (r *Reader) advance() error {
	r.recycle()
	if len(r.queue) == 0 && !r.request(false) {
		return io.EOF
	}
	e := r.queue[0]
	<-e.done
	if e.err != nil {
		return e.err // the extent stays first, so that every later call fails too
	}
	r.queue = r.queue[1:]
	r.release(e)
	r.buf, r.rest = e.data, e.data
	return nil
}

// recycle gives up the current range.
func (r *Reader) recycle() {
	if cap(r.buf) == fullRange {
		r.free = append(r.free, r.buf)
	}
	r.buf = nil
}

// fetchAhead requests ranges after the current one, one for each free token.
func (r *Reader) fetchAhead() {
	for len(r.queue) < readerAhead {
		select {
		case r.store.ahead <- struct{}{}:
		default:
			return
		}
		if !r.request(true) {
			<-r.store.ahead
			return
		}
	}
}

// request begins to fetch the next range. It returns false at the end of the
// object.
func (r *Reader) request(ahead bool) bool {
	n := min(r.length, r.object.Size-r.next)
	if n <= 0 {
		return false
	}
	e := &extent{off: r.next, done: make(chan struct{}), ahead: ahead}
	if k := len(r.free); k > 0 {
		e.data, r.free = r.free[k-1][:n], r.free[:k-1]
	} else {
		e.data = make([]byte, n)
	}
	r.queue = append(r.queue, e)
	r.next += n
	r.length = min(4*r.length, fullRange)
	r.fetches.Go(func() {
		e.err = r.fetch(e.data, e.off)
		close(e.done)
	})
	return true
}

// release gives back the token of e.
func (r *Reader) release(e *extent) {
	if e.ahead {
		<-r.store.ahead
	}
}

// fetch reads a range, and continues where a connection broke.
func (r *Reader) fetch(p []byte, off int64) error {
	return r.store.retry(r.ctx, r.object.Path(), "get", func() (progress bool, err error) {
		ctx, cancel := context.WithTimeout(r.ctx, rangeTime)
		defer cancel()
		body, err := r.store.Client.Get(ctx, r.object, off, int64(len(p)))
		if err != nil {
			return false, err
		}
		n, err := io.ReadFull(body, p)
		_ = body.Close() // closing a body loses no data
		p, off = p[n:], off+int64(n)
		if err != nil {
			return n > 0, &Error{Temporary, fmt.Sprintf("connection ended with %d bytes of the range missing", len(p))}
		}
		return true, nil
	})
}

// Seek implements io.Seeker.
func (r *Reader) Seek(off int64, whence int) (int64, error) {
	pos := r.next - int64(len(r.rest))
	for _, e := range r.queue {
		pos -= int64(len(e.data))
	}
	switch whence {
	case io.SeekCurrent:
		off += pos
	case io.SeekEnd:
		off += r.object.Size
	}
	if off < 0 {
		return pos, errors.New("seek before the beginning of the object")
	}
	if off == pos {
		return pos, nil
	}
	if begin := pos + int64(len(r.rest)-len(r.buf)); begin <= off && off < begin+int64(len(r.buf)) {
		r.rest = r.buf[off-begin:]
		return off, nil
	}
	r.drop()
	r.recycle()
	r.rest, r.next, r.length = nil, off, firstRange
	return off, nil
}

// drop waits for the requested ranges and forgets them.
func (r *Reader) drop() {
	for _, e := range r.queue {
		<-e.done
		r.release(e)
	}
	r.queue = nil
}

// ReadAt implements io.ReaderAt. It caches the last range, because the readers
// of tables read many neighboring bytes.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	if off >= r.object.Size {
		return 0, io.EOF
	}
	b := &r.block
	b.Lock()
	defer b.Unlock()
	want := min(int64(len(p)), r.object.Size-off)
	if off < b.off || off+want > b.off+int64(len(b.data)) {
		data := make([]byte, min(max(want, firstRange), r.object.Size-off))
		if err := r.fetch(data, off); err != nil {
			return 0, err
		}
		b.off, b.data = off, data
	}
	n := copy(p, b.data[off-b.off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close ends the requests of the reader. It returns no error.
func (r *Reader) Close() error {
	r.cancel()
	r.drop()
	r.fetches.Wait()
	return nil
}

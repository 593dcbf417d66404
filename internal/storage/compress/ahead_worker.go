package compress

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/urlfold/urlfold/internal/storage/inflate"
)

// An aheadWorker decodes segments.
type aheadWorker struct {
	chunks  []*chunk
	pos     int64 // offset in the file of the next byte to read from chunks
	in      input
	gzip    gzipDecoder // reads headers
	inflate *inflate.Reader
}

// workerBuffer is the size of the input buffer of a worker.
const workerBuffer = 32 << 10

func newAheadWorker() *aheadWorker {
	w := &aheadWorker{}
	w.in.raw.src = chunkReader{w}
	w.in.br = bufio.NewReaderSize(&w.in.raw, workerBuffer)
	w.gzip.in = &w.in
	w.inflate = inflate.NewReader(w.in.br, nil, 0)
	return w
}

// run decodes segments until a is closed.
func (w *aheadWorker) run(a *ahead) {
	for s, done := a.take(); s != nil; s, done = a.take() {
		w.segment(s)
		w.chunks = nil
		// Publish the runs of the segment.
		a.drop(s)
		a.mu.Lock()
		s.done = true
		a.mu.Unlock()
		a.changed.Broadcast()
		done()
	}
}

// segment decodes a segment. It treats a panic of the decoder like damage,
// because the reader will find the cause itself.
func (w *aheadWorker) segment(s *segment) {
	defer func() { _ = recover() }()
	w.chunks = s.chunks
	w.seek(s.from)
	if s.atBit && w.decode(s, s.window, uint8(s.bit%8)) != nil {
		return
	}
	for w.find(s.to) {
		at := w.in.offset()
		err := w.gzip.header()
		if err == nil {
			err = w.decode(s, nil, 0)
		}
		switch {
		case err == errSegmentEnd:
			return
		case err != nil:
			w.seek(at + 1)
		}
	}
}

// seek continues reading at an offset in the file.
func (w *aheadWorker) seek(offset int64) {
	w.pos = offset
	w.in.raw.n.Store(offset)
	w.in.br.Reset(&w.in.raw)
}

// find advances to what looks like the header of a member that begins before
// limit. It returns false if it finds none.
func (w *aheadWorker) find(limit int64) bool {
	br := w.in.br
	for w.in.offset() < limit {
		if _, err := br.Peek(len(w.gzip.buf)); err != nil {
			return false
		}
		head, _ := br.Peek(br.Buffered())
		magic := magicOf[Gzip]
		skip := bytes.Index(head, []byte(magic))
		switch {
		case skip < 0:
			skip = len(head) - len(magic) + 1
		case skip == 0 && plausibleGzip(head[len(magic):]):
			return true
		case skip == 0:
			skip = 1
		}
		_, _ = br.Discard(skip) // buffered, so this cannot fail
	}
	return false
}

// errSegmentEnd means that a segment has all the output that it can get.
var errSegmentEnd = errors.New("end of the segment")

// decode decodes the deflate data from the given bit of the next byte on and
// adds a run to the segment. It returns nil after the trailer that follows
// the data, and errSegmentEnd if the input or the space for output ends
// earlier; the run then ends at the last complete block.
func (w *aheadWorker) decode(s *segment, window []byte, bit uint8) error {
	base, from := w.in.offset()*8, len(s.out)
	begin := base + int64(bit)
	end, to := begin, from // where the last complete block ends, in bits of the input and in bytes of s.out
	w.inflate.Reset(w.in.br, window, bit)
	w.inflate.PauseAtBlocks(true)
	var err error
	for err == nil && len(s.out) < cap(s.out) {
		var n int
		n, err = w.inflate.Read(s.out[len(s.out):cap(s.out)])
		s.out = s.out[:len(s.out)+n]
		if bit, ok := w.inflate.Block(); ok && err == nil {
			end, to = base+bit, len(s.out)
			if s.atBit && end >= s.target {
				break
			}
		}
	}
	final := err == io.EOF
	if final {
		end, to = w.in.offset()*8, len(s.out)
	}
	var corrupt *inflate.CorruptError
	if errors.As(err, &corrupt) {
		to = from
	}
	s.out = s.out[:to]
	if to > from {
		s.runs = append(s.runs, run{begin: begin, end: end, window: window, out: s.out[from:to:to], final: final})
	}
	if corrupt != nil {
		return err
	}
	if _, err := w.in.br.Discard(gzipTrailer); !final || err != nil {
		return errSegmentEnd
	}
	return nil
}

// A chunkReader reads the chunks of a worker.
type chunkReader struct{ *aheadWorker }

func (r chunkReader) Read(p []byte) (int, error) {
	for _, c := range r.chunks {
		if i := r.pos - c.at; i >= 0 && i < int64(len(c.data)) {
			n := copy(p, c.data[i:])
			r.pos += int64(n)
			return n, nil
		}
	}
	return 0, io.EOF
}

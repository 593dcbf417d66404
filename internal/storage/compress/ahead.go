package compress

import (
	"io"
	"sync"
	"sync/atomic"
)

// An ahead inflates parts of a gzip file before the reader arrives there.
//
// It reads the file ahead of the reader, cuts it into segments, and its
// goroutines decode each segment from the places where members seem to
// begin. The results are runs: the output of the deflate data from one bit
// of the file to another. The reader takes a run only if it has itself
// arrived at the first bit of the run, with the same window. From there the
// output depends only on the data, so a wrong guess costs time and changes
// nothing. A run ends before the first error, and the reader checks every
// header and trailer itself, so texts, offsets and verdicts are the same as
// without goroutines.
//
// The reader waits only for segments that a goroutine has taken, and decodes all
// other segments itself. To avoid waits, the goroutines take segments that the
// reader will not reach soon.
//
// The goroutine of the reader calls all methods except take; the other
// goroutines call take and drop. Of the fields that change, only the fields
// after mu are shared with them.
type ahead struct {
	src   io.Reader
	sizes aheadSizes
	spare chan *chunk // free chunks
	plan  plan
	index *indexPlan // plan, if there is an index

	start  int64    // offset of the first byte of src in the file
	queue  []*chunk // loaded, and not yet read by the reader
	left   []byte   // unread rest of queue[0]
	fresh  []*chunk // loaded, and not before the next segment
	read   int64    // offset in the file of the next byte that the reader reads
	loaded int64    // offset after the last loaded chunk
	ended  bool     // src has ended, with err
	err    error
	lent   *segment // holds the run that the reader uses

	workers sync.WaitGroup
	turn    Turn
	quit    chan struct{} // closed by close
	mu      sync.Mutex
	changed sync.Cond
	passed  int64 // everything before this offset is decoded
	// segments lists the segments that the reader has not passed, in the order
	// of the file.
	segments []*segment
	outputs  [][]byte // free space for output
	closed   bool
}

// A Turn waits until the caller may use a processor, and returns a function to
// call afterwards. It returns false when stop is closed or nothing needs doing
// any more.
type Turn func(stop <-chan struct{}) (done func(), ok bool)

// anyTime is the Turn of a program that does nothing else.
func anyTime(<-chan struct{}) (done func(), ok bool) { return func() {}, true }

// aheadSizes are the sizes of an ahead in bytes.
type aheadSizes struct {
	buffer int // input buffer of the reader
	chunk  int // unit of reading ahead, and the part of a file in which one segment looks for members
	tail   int // input after the chunk, for a member that crosses the end of the chunk
	input  int // limit of the input between the reader and the segments
	output int // limit of the output of a segment; a member with more is decoded ahead in part
	gap    int // segments that are left to the reader before the first segment that is decoded ahead
	most   int // limit of the number of segments with output
}

// defaultSizes suit members of all lengths: 10 KB, as in WARC files, and 500 KB,
// some of which fit into a segment. If a member is longer than output, only its
// beginning is decoded ahead.
var defaultSizes = aheadSizes{buffer: bufferSize, chunk: 64 << 10, tail: 512 << 10, input: 4 << 20, output: 2 << 20, gap: 3}

// A chunk is a piece of the file. Whoever drops the last reference makes it
// free.
type chunk struct {
	at   int64
	data []byte
	refs atomic.Int32
}

// A segment is a part of the file that one goroutine decodes.
type segment struct {
	from, to int64 // offsets in the file: the segment decodes the members that begin in this range
	chunks   []*chunk
	taken    bool // a goroutine has taken the segment
	done     bool
	out      []byte
	runs     []run

	// With an index, a segment starts at the block at bit, with window, and
	// ends at the first end of a block that is at target or later.
	atBit  bool
	bit    int64
	window []byte
	target int64
}

// A run is the output of some deflate data. Bits are numbered from the start of
// the file.
type run struct {
	begin, end int64
	window     []byte // output before begin that the data may refer to; empty at the start of a member
	out        []byte
	final      bool // the deflate data ends at end; otherwise a block begins there
}

// newAhead returns an ahead that reads src, whose next byte has the given
// offset in the file.
func newAhead(src io.Reader, at int64, opt *Options) *ahead {
	goroutines, sizes := opt.Ahead, opt.sizes
	sizes.most = goroutines + 2
	a := &ahead{src: src, sizes: sizes, start: at, read: at, loaded: at, passed: at, turn: opt.Turn, quit: make(chan struct{})}
	a.plan = &searchPlan{next: at}
	if opt.Index != nil {
		a.index = &indexPlan{index: opt.Index}
		a.plan = a.index
		a.sizes = indexSizes(opt.Index, sizes)
	}
	if a.turn == nil {
		a.turn = anyTime
	}
	a.changed.L = &a.mu
	a.spare = make(chan *chunk, 2*goroutines+sizes.tail/sizes.chunk)
	for range goroutines {
		a.workers.Go(func() { newAheadWorker().run(a) })
	}
	return a
}

// close stops the goroutines.
func (a *ahead) close() {
	a.mu.Lock()
	again := a.closed
	a.closed = true
	a.mu.Unlock()
	if !again {
		close(a.quit)
	}
	a.changed.Broadcast()
	a.workers.Wait()
}

// Read returns the next bytes of the file. Errors of the file come at the same
// offset as without reading ahead.
func (a *ahead) Read(p []byte) (int, error) {
	a.fill(a.read - int64(a.sizes.buffer)) // the reader holds no more than its buffer
	for len(a.left) == 0 {
		if len(a.queue) == 0 && !a.load() {
			// The file may have grown since the last read reached the end.
			if err := a.err; err != nil {
				a.err = nil
				return 0, err
			}
			n, err := a.src.Read(p)
			a.read += int64(n)
			return n, err
		}
		a.left = a.queue[0].data
	}
	n := copy(p, a.left)
	a.left = a.left[n:]
	a.read += int64(n)
	if len(a.left) == 0 {
		a.release(a.queue[0])
		a.queue = append(a.queue[:0], a.queue[1:]...)
	}
	return n, nil
}

// load reads another chunk, and returns false at the end of the file.
func (a *ahead) load() bool {
	if a.ended {
		return false
	}
	c := a.chunk()
	n, err := io.ReadFull(&raw{src: a.src}, c.data[:a.sizes.chunk])
	if err != nil {
		a.ended = true
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			a.err = err
		}
	}
	if n == 0 {
		return false
	}
	c.at, c.data = a.loaded, c.data[:n]
	c.refs.Store(2)
	a.queue, a.fresh = append(a.queue, c), append(a.fresh, c)
	a.loaded += int64(n)
	return true
}

func (a *ahead) release(c *chunk) {
	if c.refs.Add(-1) == 0 {
		select {
		case a.spare <- c:
		default:
		}
	}
}

// chunk returns a chunk without references.
func (a *ahead) chunk() *chunk {
	select {
	case c := <-a.spare:
		return c
	default:
		return &chunk{data: make([]byte, a.sizes.chunk)}
	}
}

// fill removes the segments that the reader has passed, and adds others.
// Everything before the given offset is decoded.
func (a *ahead) fill(passed int64) {
	a.mu.Lock()
	a.passed = max(a.passed, passed)
	n := a.retire()
	if a.candidate() != nil {
		a.changed.Broadcast()
	}
	a.mu.Unlock()
	for ; n < a.sizes.gap+a.sizes.most; n++ {
		s := a.plan.segment(a)
		if s == nil {
			return
		}
		for _, c := range a.fresh {
			c.refs.Add(1)
		}
		s.chunks = append(s.chunks, a.fresh...)
		a.mu.Lock()
		a.segments = append(a.segments, s)
		a.mu.Unlock()
		a.changed.Broadcast()
	}
}

// output returns free space for the output of a segment. The caller holds mu.
func (a *ahead) output() []byte {
	k := len(a.outputs) - 1
	if k < 0 {
		return make([]byte, 0, a.sizes.output)
	}
	out := a.outputs[k]
	a.outputs = a.outputs[:k]
	return out[:0]
}

// retire removes the segments that are no longer useful, and returns the
// number of the others. The caller holds mu.
func (a *ahead) retire() int {
	kept := a.segments[:0]
	for _, s := range a.segments {
		switch {
		case s == a.lent, s.taken && !s.done, !s.taken && s.to > a.passed && !(s.atBit && s.bit < a.passed*8),
			s.done && len(s.runs) > 0 && s.runs[len(s.runs)-1].begin >= a.passed*8:
			kept = append(kept, s)
			continue
		case s.taken:
			a.outputs = append(a.outputs, s.out)
		default:
			a.drop(s)
		}
	}
	clear(a.segments[len(kept):])
	a.segments = kept
	return len(kept)
}

// drop releases the input of a segment.
func (a *ahead) drop(s *segment) {
	for _, c := range s.chunks {
		a.release(c)
	}
	s.chunks = nil
}

// pass forgets the loaded chunks before an offset, which no segment needs.
func (a *ahead) pass(offset int64) {
	for len(a.fresh) > 0 && a.fresh[0].at+int64(len(a.fresh[0].data)) <= offset {
		a.release(a.fresh[0])
		a.fresh = append(a.fresh[:0], a.fresh[1:]...)
	}
}

// at returns a run that begins at the given bit of the file with a window as
// long as the given one, or nil. The reader has decoded everything before that
// bit. The run is valid until the next call.
func (a *ahead) at(bit int64, window []byte) *run {
	a.lent = nil
	a.fill(bit / 8)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.segments {
		switch {
		case s.from > bit/8:
			return nil
		case len(window) > 0 && (!s.atBit || s.bit != bit):
			continue // the segment begins elsewhere
		}
		for s.taken && !s.done && !a.closed {
			a.changed.Wait()
		}
		for i := range s.runs {
			if r := &s.runs[i]; r.begin == bit && len(r.window) == len(window) {
				a.lent = s
				return r
			}
		}
	}
	return nil
}

// arrive compares the index with the end of a block that the reader has
// reached: see [indexPlan.compare].
func (a *ahead) arrive(before, bit int64) {
	if a.index != nil {
		a.index.compare(before, bit)
		a.checkIndex()
	}
}

// checkIndex continues without the index if it does not match.
func (a *ahead) checkIndex() {
	if a.index.index.reason != "" {
		a.index, a.plan = nil, &searchPlan{next: a.passed}
	}
}

// take waits for a segment to decode, and for a turn. The caller must call done
// when the segment is finished. take returns nil after close.
func (a *ahead) take() (s *segment, done func()) {
	for a.awaitSegment() {
		done, ok := a.turn(a.quit)
		if !ok {
			return nil, nil
		}
		if s := a.claim(); s != nil {
			return s, done
		}
		done()
	}
	return nil, nil
}

// awaitSegment waits for a segment that can be taken. It returns false after
// close.
func (a *ahead) awaitSegment() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.closed && a.candidate() == nil {
		a.changed.Wait()
	}
	return !a.closed
}

// claim takes a segment, and returns nil if none remains.
func (a *ahead) claim() *segment {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.candidate()
	if s != nil {
		s.taken, s.out = true, a.output()
	}
	return s
}

// candidate returns the first segment that is not taken and so far away that it
// is decoded before the reader gets there, or nil. The caller holds mu.
func (a *ahead) candidate() *segment {
	taken := 0
	for i, s := range a.segments {
		switch {
		case s.taken:
			taken++
		case taken == a.sizes.most:
			return nil
		case i >= a.sizes.gap:
			return s
		}
	}
	return nil
}

// A plan decides how a file is cut into segments.
type plan interface {
	// segment loads the input of the next segment and returns it, or nil after
	// the last segment.
	segment(a *ahead) *segment
}

// A searchPlan cuts the file into chunks, in which members are searched for.
type searchPlan struct{ next int64 }

func (p *searchPlan) segment(a *ahead) *segment {
	p.next = max(p.next, a.passed)
	end := p.next + int64(a.sizes.chunk)
	if end-a.passed > int64(a.sizes.input) {
		return nil
	}
	for a.loaded < end+int64(a.sizes.tail) && a.load() {
	}
	a.pass(p.next)
	s := &segment{from: p.next, to: min(end, a.loaded)}
	if s.from >= s.to {
		return nil
	}
	p.next = s.to
	return s
}

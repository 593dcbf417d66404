package file

import (
	"hash/crc32"
	"runtime"
	"slices"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// This file compresses the output of a run that ends. A batch is too small to
// be compressed well by itself, so the sink gathers batches in blocks. Each
// block is compressed in a separate goroutine, to one member, or to a member
// for each record if engine.Stream.Apart is set:
//
//	flying, in order                 filling
//	│ compressing │ compressing │    │ batch batch …      │
//	  ▼ written by the goroutine that needs its block

// A block is text that is compressed together.
type block struct {
	text   []byte
	ends   []int // ends of the members in text
	packed []byte
	done   chan struct{} // receives a value when packed is complete
	begins bool          // the block is the first one of sink.span

	// An oversize record is a single gzip member, even if it needs several
	// blocks.
	cont, open bool   // cont: the block begins within the member of an oversize record; open: the block ends within it
	sum        uint32 // CRC-32 of the first record, if it is oversize and ends here
	size       int64  // length of that record

	gzip compress.PiecePack
	zstd compress.Pack
}

// A long is the part of an oversize record that was gathered.
type long struct {
	open bool
	sum  uint32
	size int64
}

// blocks holds the blocks that are not in use. All outputs of a Tree share it.
type blocks chan *block

// maxBlocks limits the memory for blocks: each holds up to 4 MiB of text, and the
// compressed text.
const maxBlocks = 8

// newBlocks returns the blocks for an output: one for each processor to compress, and
// one to fill.
func newBlocks() blocks {
	bs := make(blocks, min(runtime.GOMAXPROCS(0)+1, maxBlocks))
	for range cap(bs) {
		bs <- &block{done: make(chan struct{}, 1)}
	}
	return bs
}

// gather adds stream to the block that is being filled.
func (s *sink) gather(b *engine.Batch, stream *engine.Stream) error {
	if b != nil && b.Lane.Held() && s.span.begins(b) { // the output may have to be truncated here
		s.launch()
		s.span, s.begins = span{lane: b.Lane, segment: b.Segment}, true
	}
	k, err := s.current()
	if err != nil {
		return err
	}
	k.reserve(len(stream.Bytes)+1, s.format)
	switch {
	case !stream.Apart:
		if s.torn { // without an ordering, the lane's last batch may be followed by others
			k.text = append(k.text, '\n')
		}
		s.torn = b != nil && !endsRecord(b, stream)
		k.text = append(k.text, stream.Bytes...)
	case b.Piece != engine.Whole:
		s.gatherPiece(k, b, stream)
	default:
		s.endLong(k)
		k.addApart(stream)
	}
	switch {
	case s.cfg.Unbuffered:
		return s.drain()
	case len(k.text) >= compress.MemberSize(s.format):
		s.launch()
	}
	return nil
}

// gatherPiece adds a piece of an oversize record to k.
func (s *sink) gatherPiece(k *block, b *engine.Batch, stream *engine.Stream) {
	if b.Piece == engine.First || !s.long.open {
		s.endLong(k)
		s.long = long{open: true}
	}
	k.text = append(k.text, stream.Bytes...)
	s.long.sum = crc32.Update(s.long.sum, crc32.IEEETable, stream.Bytes)
	s.long.size += int64(len(stream.Bytes))
	if b.Piece == engine.Last {
		s.endLong(k)
	}
}

// endLong ends the member of an oversize record in k.
func (s *sink) endLong(k *block) {
	if !s.long.open {
		return
	}
	if len(k.ends) == 0 { // the record may have begun in an earlier block
		k.sum, k.size = s.long.sum, s.long.size
	}
	k.ends = append(k.ends, len(k.text))
	s.long = long{}
}

// addApart adds each record of stream as a separate member.
func (k *block) addApart(stream *engine.Stream) {
	for p := range apart(stream) {
		k.text = append(k.text, p...)
		k.ends = append(k.ends, len(k.text))
	}
}

// reserve makes room for n more bytes of text. A block grows to its full size
// in one step when it is clear that the output is not small.
func (k *block) reserve(n int, f compress.Format) {
	if need := len(k.text) + n; need > cap(k.text) && len(k.text) > 256<<10 {
		n = max(n, compress.MemberSize(f)+256<<10-len(k.text))
	}
	k.text = slices.Grow(k.text, n)
}

// current returns the block that is being filled. The caller holds mu.
func (s *sink) current() (*block, error) {
	for s.filling == nil {
		select {
		case s.filling = <-s.blocks:
			continue
		default:
		}
		if len(s.flying) == 0 { // other outputs of the Tree have all blocks
			s.filling = <-s.blocks
		} else if s.land(); s.err != nil {
			return nil, s.err
		}
	}
	if s.begins {
		s.filling.begins, s.begins = true, false
	}
	return s.filling, nil
}

// launch starts the compression of the block that is being filled, if any. The
// caller holds mu.
func (s *sink) launch() {
	k := s.filling
	if k == nil {
		return
	}
	s.filling = nil
	if len(k.text) == 0 && len(k.ends) == 0 {
		s.begins = s.begins || k.begins
		s.free(k)
		return
	}
	if k.open = s.long.open && s.format == compress.Gzip; len(k.ends) == 0 || k.ends[len(k.ends)-1] < len(k.text) || k.open {
		k.ends = append(k.ends, len(k.text))
	}
	k.cont, s.cont = s.cont, k.open
	s.flying = append(s.flying, k)
	go func() {
		k.compress(s.format, s.level)
		k.done <- struct{}{}
	}()
}

// compress compresses the members of k.
func (k *block) compress(f compress.Format, level int) {
	if f == compress.Zstd && k.zstd == nil {
		k.zstd, _ = compress.NewPack(f, level) // New has checked the level
	} else if f == compress.Gzip && k.gzip == nil {
		k.gzip, _ = compress.NewPiecePack(level)
	}
	k.packed = slices.Grow(k.packed, len(k.text)/5) // usually enough
	at := 0
	for i, end := range k.ends {
		text := k.text[at:end]
		at = end
		if f == compress.Zstd {
			k.packed = k.zstd(k.packed, text)
			continue
		}
		first, last := i > 0 || !k.cont, i < len(k.ends)-1 || !k.open
		sum, size := k.sum, k.size
		if first && last {
			sum, size = crc32.ChecksumIEEE(text), int64(len(text))
		}
		k.packed = k.gzip(k.packed, text, first, last, sum, size)
	}
}

// land waits for the first flying block, writes it and frees it. An error is in
// s.err, after which nothing is written. The caller holds mu.
func (s *sink) land() {
	k := s.flying[0]
	s.flying = slices.Delete(s.flying, 0, 1)
	<-k.done
	if s.err == nil {
		if k.begins {
			s.span.start.at = s.written.Load()
		}
		_ = s.append(k.packed) // append records the error
	}
	s.free(k)
}

// free empties k and makes it available again.
func (s *sink) free(k *block) {
	*k = block{text: k.text[:0], ends: k.ends[:0], packed: k.packed[:0], done: k.done, gzip: k.gzip, zstd: k.zstd}
	s.blocks <- k
}

// drain writes everything that was gathered. The caller holds mu.
func (s *sink) drain() error {
	if s.long.open {
		if k, err := s.current(); err == nil {
			s.endLong(k)
		}
	}
	s.launch()
	for len(s.flying) > 0 {
		s.land()
	}
	return s.err
}

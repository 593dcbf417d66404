package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// A zstdDecoder passes the frames that a zstdFrames parses to klauspost's
// decoder. Both layers see all bytes, because the decoder does not report
// offsets and treats one to three stray bytes as a clean end. For a restart
// point at the end of a frame, zstdFrames reports the end of the stream there,
// so that everything the decoder returns up to that end belongs to the frames
// up to there.
type zstdDecoder struct {
	frames   *zstdFrames
	restarts *restarts
	note     func(Verdict)
	dec      *zstd.Decoder
	sync     bool // the decoder does not read ahead
	err      error
	failed   bool    // salvage or alone was attempted
	salvaged []byte  // returned before err
	second   decoder // replaces dec after a failure: see alone
	closed   bool
}

// noPatch means that no block is patched.
const noPatch = -2

// newZstd returns a decoder at the start of the file or, if later is set, after
// a frame.
func newZstd(in *input, restarts *restarts, opt Options, note func(Verdict), later bool) decoder {
	d := &zstdDecoder{restarts: restarts, note: note, sync: opt.Concurrency <= 1}
	if !later {
		opt.dictionary, d.err = readDictionary(in)
	}
	d.frames = &zstdFrames{in: in, maxWindow: opt.Limits.MaxWindow, dictionary: opt.dictionary, count: restarts.members, begun: later, end: in.offset(), pauses: true, patch: noPatch}
	if d.err == nil {
		d.dec, d.err = d.frames.decoder(max(opt.Concurrency, 1))
	}
	return d
}

// decoder returns klauspost's decoder of the frames.
func (z *zstdFrames) decoder(goroutines int) (*zstd.Decoder, error) {
	opts := []zstd.DOption{
		zstd.WithDecoderConcurrency(goroutines),
		zstd.WithDecoderLowmem(true),
		// zstdFrames checks the window before the decoder sees it, so that the
		// error can name the flag. This limit is a second safeguard.
		zstd.WithDecoderMaxWindow(uint64(max(z.maxWindow, zstd.MinWindowSize))),
	}
	if z.dictionary != nil {
		opts = append(opts, zstd.WithDecoderDicts(z.dictionary))
	}
	dec, err := zstd.NewReader(z, opts...)
	if err != nil {
		return nil, damagedDictionary(err) // the other options are valid
	}
	return dec, nil
}

func (d *zstdDecoder) Close() {
	if d.dec != nil && !d.closed {
		d.dec.Close()
	}
	d.closed = true
	if d.second != nil {
		d.second.Close()
	}
}

func (d *zstdDecoder) Read(p []byte) (int, error) {
	if d.err != nil {
		return d.after(p)
	}
	n, err := d.dec.Read(p)
	if d.frames.absent.Load() {
		d.restarts.sums.unsummed = true
	}
	if err == nil {
		return n, nil
	}
	// Without goroutines, the decoder holds back the last block of a frame with
	// a wrong or truncated checksum until the next call.
	if k := 0; n < len(p) {
		k, _ = d.dec.Read(p[n:])
		n += k
	}
	if n > 0 && err != io.EOF {
		return n, nil // later calls return the remaining data and the error
	}
	if err == io.EOF && d.frames.ended() {
		return n, d.frameEnd(n)
	}
	d.err = d.explain(err)
	if n > 0 {
		return n, nil
	}
	return d.after(p)
}

// after continues after the position at which the decoder failed.
func (d *zstdDecoder) after(p []byte) (int, error) {
	if !d.failed && d.err != io.EOF {
		d.failed = true
		var f *finding
		switch {
		case !d.sync:
			d.second = d.alone()
		case errors.As(d.err, &f) && f.Kind == Corrupt && d.frames.dictionary == nil: // the tables of the block may be in the missing dictionary
			d.salvaged = d.salvage(d.restarts.decoded)
		}
	}
	if d.second != nil {
		return d.second.Read(p)
	}
	n := copy(p, d.salvaged)
	d.salvaged = d.salvaged[n:]
	if n > 0 {
		return n, nil
	}
	return 0, d.err
}

// tell records the finding of the frames. No goroutine may be reading them.
func (d *zstdDecoder) tell() {
	if d.frames.noted.Kind != OK {
		d.note(d.frames.noted)
		d.frames.noted = Verdict{}
	}
}

// frameEnd records a restart point at the end of a frame whose last n bytes
// Read is about to return. It then continues after the frame, if there may be
// more.
func (d *zstdDecoder) frameEnd(n int) error {
	f := d.frames
	d.tell()
	d.restarts.members = f.count
	state := sumRight
	if f.unsummed {
		state = sumAbsent
	}
	d.restarts.unit(n, state)
	d.restarts.boundary(Zstd, f.end, n)
	if f.paused {
		f.paused, f.unsummed = false, false
		d.err = d.dec.Reset(f)
		return d.err
	}
	d.Close()
	d.err = io.EOF
	return io.EOF
}

// explain turns an error of the decoder into a finding. The error of the frames
// is the cause only if the decoder has reached it: a decoder with goroutines
// lets the frames run ahead, often to the end of the file, and detects an
// invalid block later.
func (d *zstdDecoder) explain(err error) error {
	d.Close() // waits for the goroutines of d
	d.tell()
	met := d.frames.err
	switch {
	case errors.Is(err, zstd.ErrCRCMismatch):
		at, cut := d.frames.in.offset(), true
		if d.sync {
			at, cut = d.frames.sumAt, !d.frames.in.atEnd()
		}
		return &finding{Verdict{Kind: BadCRC, Offset: at, Cut: cut, Detail: "zstd frame checksum does not match"}}
	case met == nil || met == io.EOF:
	case errors.Is(err, met), errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return met
	}
	return &finding{Verdict{Kind: Corrupt, Offset: -1, Cut: true, Detail: err.Error()}}
}

// zstdFrames is the input of the decoder, split into headers, blocks and
// checksums (RFC 8878 section 3.1). Its error describes the structure of the
// input.
type zstdFrames struct {
	in         *input
	maxWindow  int64
	dictionary []byte // or nil

	buf  [32]byte
	head []byte // in buf: consumed from in, but not yet read by the decoder
	body int64  // number of bytes after head to pass through
	next func(*zstdFrames) error
	sum  bool // the frame ends with a checksum
	// A frame since the last pause has no checksum. The decoder may not have
	// reached that frame yet.
	unsummed bool
	absent   atomic.Bool // some frame until now has no checksum
	sumAt    int64       // offset of the last checksum
	begun    bool

	blockAt int64 // offset of the last block
	// Used by a second pass: see patchBlock.
	patch int64
	table []byte

	err error

	end   int64   // end of the last complete frame
	count int64   // number of complete frames that are not skippable
	noted Verdict // finding to record at the end of a frame: see tell

	// A pause is a simulated end of the stream at the end of each frame, so that the
	// text up to there belongs to the frames up to there, even if the decoder has
	// goroutines: only then do checksums verify exactly the text that they cover.
	pauses bool
	paused bool
}

// ended reports whether the last io.EOF of Read means the end of a frame: a
// pause, or the end of the file.
func (z *zstdFrames) ended() bool { return z.paused || z.err == io.EOF }

func (z *zstdFrames) Read(p []byte) (int, error) {
	for z.err == nil {
		if z.paused {
			return 0, io.EOF
		}
		switch {
		case len(z.head) > 0:
			n := copy(p, z.head)
			z.head = z.head[n:]
			return n, nil
		case z.body > 0:
			n, err := z.in.Read(p[:min(int64(len(p)), z.body)])
			z.body -= int64(n)
			if n > 0 || len(p) == 0 {
				return n, nil
			}
			z.err = noEOF(err)
		case z.next == nil && z.pauseHere():
		case z.next == nil:
			z.err = z.frame()
		default:
			z.err = z.next(z)
		}
	}
	return 0, z.err
}

// pauseHere records the end of a frame and reports whether to pause there.
func (z *zstdFrames) pauseHere() bool {
	at := z.in.offset()
	if !z.begun || z.end == at {
		return false
	}
	z.end = at
	z.paused = z.pauses
	return z.paused
}

// take appends the next n bytes of the input to head.
func (z *zstdFrames) take(n int) error {
	old := len(z.head)
	z.head = z.buf[:old+n]
	if err := z.in.full(z.head[old:]); err != nil {
		z.head = nil
		return err
	}
	return nil
}

// frame reads the header of the next frame, if there is one.
func (z *zstdFrames) frame() error {
	z.next = nil
	if z.begun {
		if err := z.in.following(Zstd, func(v Verdict) { z.noted = z.noted.merge(v) }); err != nil {
			return z.after(err)
		}
	}
	z.begun = true
	z.head = z.buf[:0]
	if err := z.take(5); err != nil { // magic, and Frame_Header_Descriptor
		return err
	}
	if string(z.head[1:4]) == skippableTail {
		if err := z.take(3); err != nil {
			return err
		}
		z.body = int64(binary.LittleEndian.Uint32(z.head[4:]))
		return nil
	}
	return z.header(z.head[4])
}

// after ends the frames. If err is only a warning, after records it and
// returns io.EOF, so that the decoder sees a clean end.
func (z *zstdFrames) after(err error) error {
	var f *finding
	if errors.As(err, &f) && !f.Damage() {
		z.noted = z.noted.merge(f.Verdict)
		return io.EOF
	}
	return err
}

// header reads the rest of a Frame_Header, RFC 8878 section 3.1.1.1.
func (z *zstdFrames) header(desc byte) error {
	single := desc&(1<<5) != 0
	z.sum = desc&(1<<2) != 0
	if !z.sum {
		z.unsummed = true
		z.absent.Store(true)
	}
	dict := [4]int{0, 1, 2, 4}[desc&3]
	content := [4]int{0, 2, 4, 8}[desc>>6]
	window := 1
	if single {
		window = 0
		content = max(content, 1)
	}
	if err := z.take(window + dict + content); err != nil {
		return err
	}
	rest := z.head[5:]
	if id := littleEndian(rest[window : window+dict]); id != 0 && (z.dictionary == nil || id != littleEndian(z.dictionary[4:8])) {
		return &finding{Verdict{Kind: UnsupportedFormat, Offset: z.in.offset() - int64(len(z.head)), Cut: true,
			Detail: fmt.Sprintf("a zstd frame needs the dictionary %d, which is not at the start of the file; decompress the file first: zstd -dc -D DICTIONARY FILE | urlfold -", id)}}
	}
	var size uint64
	if single {
		size = littleEndian(rest[dict:])
		if content == 2 {
			size += 256
		}
	} else {
		base := uint64(1) << (10 + rest[0]>>3)
		size = base + base/8*uint64(rest[0]&7)
	}
	if size > uint64(z.maxWindow) {
		return &finding{Verdict{Kind: Limit, Offset: -1, Cut: true,
			Detail: fmt.Sprintf("zstd frame needs a window of %d bytes, more than the limit of %d (--max-window, limits.max_window)", size, z.maxWindow)}}
	}
	z.next = (*zstdFrames).block
	return nil
}

func littleEndian(b []byte) (n uint64) {
	for i, c := range b {
		n |= uint64(c) << (8 * i)
	}
	return n
}

// maxZstdBlock is the maximum decompressed size of a block, RFC 8878 section
// 3.1.1.2.4.
const maxZstdBlock = 128 << 10

// block reads a Block_Header, RFC 8878 section 3.1.1.2.
func (z *zstdFrames) block() error {
	z.head = z.buf[:0]
	z.blockAt = z.in.offset()
	if err := z.take(3); err != nil {
		return err
	}
	h := littleEndian(z.head)
	z.body = int64(h >> 3)
	if h>>1&3 == 1 { // RLE_Block: one byte is repeated
		z.body = 1
	}
	if h&1 != 0 {
		z.count++
		z.next = nil
		if z.sum {
			z.next = (*zstdFrames).checksum
		}
	}
	if z.patch != noPatch && h>>1&3 == 2 {
		z.body = 0
		return z.patchBlock(int64(h >> 3))
	}
	return nil
}

// checksum reads a Content_Checksum.
func (z *zstdFrames) checksum() error {
	z.sumAt = z.in.offset()
	z.head = z.buf[:0]
	z.next = nil
	return z.take(4)
}

package file

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// errMoved means that a path now leads to a different file than in the last scan.
var errMoved = errors.New("file was just renamed or replaced")

// An opener opens the files of tracks at their positions, and counts the open
// ones.
type opener struct {
	cfg   *WatchConfig
	log   *slog.Logger
	store storage
	mu    *sync.Mutex // lock of the watcher; guards the fields below
	stats *counts
	descs int // open files
}

// errReplaced means that a file no longer holds the text of its track.
var errReplaced = errors.New("the content of the file was replaced")

// openContent prepares t for reading at t.read.cut.off, and checks that the
// file is the file to which the track is bound. The error is errReplaced if the
// text of the file differs from the text that the track has read.
func (o *opener) openContent(t *track) error {
	if t.read.in.f == nil {
		path, id := o.fileOf(t)
		f, err := o.store.open(path, id)
		if err != nil {
			return err
		}
		o.opened(t, f)
		if t.read.cut.off == 0 && t.read.stamp != 0 && f.born() != t.read.stamp {
			return errReplaced // a new file has the same inode
		}
	}
	if t.read.in.zr != nil {
		return nil
	}
	if t.read.cut.off == 0 || len(t.read.head) == 0 {
		if err := o.detect(t); err != nil {
			return err
		}
	}
	if t.read.in.compressed {
		t.read.cut.tail = t.read.cut.tail[:0]
		if err := o.resume(t); err != nil {
			return err
		}
		return o.readHeader(t)
	}
	// The text before the position must still be the text that was read.
	off := t.read.cut.off
	if want := tailLen(off); int64(len(t.read.last)) != want {
		t.read.last = make([]byte, want)
		n, err := t.read.in.f.ReadAt(t.read.last, off-want)
		if int64(n) != want || digestOf(t.read.last) != o.positionOf(t).tail {
			t.read.last = nil
			if int64(n) != want && err != io.EOF {
				return err
			}
			return errReplaced
		}
	}
	if err := t.holds(); err != nil {
		return err
	}
	return o.readHeader(t)
}

// detect determines whether package compress must read the file: because it is
// compressed, or because its content is not plain text. If it need not, detect
// reads the head of the text, and returns errReplaced if that is another head.
func (o *opener) detect(t *track) error {
	raw := make([]byte, rawHead)
	n, err := t.read.in.f.ReadAt(raw, 0)
	if err != nil && err != io.EOF {
		return err
	}
	path, _ := o.fileOf(t)
	t.read.in.compressed = needsReader(raw[:n], path)
	t.squeezed.Store(t.read.in.compressed)
	if t.read.in.compressed {
		return nil
	}
	head := make([]byte, max(int64(o.cfg.FingerprintBytes), t.key.n))
	n, err = t.read.in.f.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	head = head[:n]
	known := int64(n) >= t.key.n && digestOf(head[:t.key.n]) == t.key.sum // for a track without a head; see retire
	if err == nil && (t.read.stamp == 0 && !sameBeginning(t.read.head, head) || len(t.read.head) == 0 && t.read.cut.off > 0 && t.key.n > 0 && !known) {
		return errReplaced
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t.read.head, t.read.brief = head[:min(n, int(o.cfg.FingerprintBytes))], nil
	return err
}

// rawHead is how many bytes of a file are checked for compression.
const rawHead = 512

// needsReader reports whether a file with that beginning and name is anything
// but plain text.
func needsReader(raw []byte, path string) bool {
	odd := len(raw) >= 2 && raw[0]^raw[1] == 0xfe^0xff && (raw[0] == 0xfe || raw[0] == 0xff)
	return odd || compress.Detect(raw) != compress.Plain || compress.IsTar(raw) || compress.Compressed(path) && len(raw) > 0
}

// readerOptions returns the options of package compress for a track.
func (o *opener) readerOptions(t *track) compress.Options {
	path, _ := o.fileOf(t)
	opt := decoding(o.cfg.Limits, path)
	opt.RestartEvery = int64(o.cfg.RestartPointEvery)
	return opt
}

// resume prepares a compressed file for reading at t.read.cut.off: from the
// nearest restart point, or from its beginning if no restart point works.
func (o *opener) resume(t *track) error {
	off := t.read.cut.off
	var from compress.RestartPoint
	o.mu.Lock()
	if p := t.pointBefore(off); p != nil {
		from = p.p
	}
	o.mu.Unlock()
	err := o.resumeFrom(t, from)
	if err != nil && from.Offset() > 0 {
		o.log.Warn("restart point does not match the file, decompressing from the beginning", "error", err)
		err = o.resumeFrom(t, compress.RestartPoint{})
	}
	return err
}

func (o *opener) resumeFrom(t *track, from compress.RestartPoint) error {
	zr, err := compress.NewReaderAt(t.read.in.f, from, o.readerOptions(t))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errReplaced
	} else if err != nil {
		return err
	}
	off := t.read.cut.off
	again := off - from.Offset()
	o.mu.Lock()
	o.stats.reinflated += again
	o.mu.Unlock()
	head := t.read.head
	if from.Offset() == 0 && len(head) == 0 {
		head = make([]byte, 0, o.cfg.FingerprintBytes)
	}
	at := o.positionOf(t)
	sum := hashAfter{skip: t.read.hashFrom, hash: newTextHash()}
	last, head, err := skip(io.TeeReader(onlyRead{zr}, &sum), again, head)
	other := off > 0 && digestOf(last) != at.tail || from.Offset() == 0 && off > 0 && sum.hash.Sum64() != at.sum
	if err != nil || other {
		zr.Close()
		if zr.Err() != nil {
			return zr.Err()
		}
		return errReplaced
	}
	t.read.last, t.read.in.zr = last, zr
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(t.read.head) == 0 {
		t.read.head = head
	}
	return nil
}

// skip reads n bytes of zr. It returns the last bytes, up to tailBytes, and fills
// head with the first bytes, up to its capacity.
func skip(zr io.Reader, n int64, head []byte) (last, begin []byte, err error) {
	buf := make([]byte, min(n, 64<<10))
	for n > 0 {
		k, err := zr.Read(buf[:min(n, int64(len(buf)))])
		n -= int64(k)
		last = appendTail(last, buf[:k])
		head = append(head, buf[:min(k, cap(head)-len(head))]...)
		if err != nil && n > 0 {
			return nil, nil, fmt.Errorf("text shorter than expected: %w", err)
		}
	}
	return last, head, nil
}

// readHeader finds the header record of a text that is not read from its
// beginning.
func (o *opener) readHeader(t *track) (err error) {
	if t.read.parsed || t.read.cut.off == 0 || o.knowsDirective(t) {
		return nil
	}
	f, shut, err := t.read.in.f.again()
	if err != nil {
		return err
	}
	defer func() { _ = shut() }() // opened for reading only
	src := io.LimitReader(f, t.read.cut.off)
	if t.read.in.compressed {
		zr := compress.NewReader(f, o.readerOptions(t))
		defer zr.Close()
		src = io.LimitReader(onlyRead{zr}, t.read.cut.off)
		defer func() { err = cmp.Or(zr.Err(), err) }() // the readable part may be shorter than the text
	}
	defer func() { t.read.parsed = err == nil }()
	if d, ok := o.cfg.Framing.(director); ok {
		t.read.csv, err = lastDirective(d, src)
		t.read.cut.head = t.read.csv
		return err
	}
	var block []byte
	for size := int64(4 << 10); ; size *= 4 {
		size = min(size, int64(o.cfg.MaxRecord))
		var more bytes.Buffer
		n, err := more.ReadFrom(io.LimitReader(src, size-int64(len(block))))
		block = append(block, more.Bytes()...)
		if h := o.cfg.Framing.Head(block); h > 0 {
			t.read.csv = block[:h:h]
			return nil
		}
		if err != nil || n == 0 || size == int64(o.cfg.MaxRecord) || o.cfg.Framing.Cut(block) > 0 {
			return err
		}
	}
}

// knowsDirective reports whether the directive in force at t.read.cut.off is
// known from the checkpoint or from earlier reading. If so, it sets t.read.csv.
// A directive of a format that was configured before does not count.
func (o *opener) knowsDirective(t *track) bool {
	d, ok := o.cfg.Framing.(director)
	if !ok {
		return false
	}
	head := o.positionOf(t).head
	if len(head) == 0 || !bytes.Equal(d.Directive(nil, head), head) {
		return false
	}
	t.read.csv, t.read.cut.head, t.read.parsed = head, head, true
	return true
}

// lastDirective reads all of src and returns the last directive in it. Lines
// longer than a block cannot be directives.
func lastDirective(d director, src io.Reader) (last []byte, err error) {
	const size = 256 << 10
	buf, n := make([]byte, size), 0
	for err == nil {
		var k int
		k, err = io.ReadFull(src, buf[n:])
		n += k
		cut := bytes.LastIndexByte(buf[:n], '\n') + 1
		if cut == 0 {
			n = 0
			continue
		}
		if found := d.Directive(last, buf[:cut]); found != nil {
			last = bytes.Clone(found)
		}
		n = copy(buf, buf[cut:n])
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // the end of the readable part, as in readHeader
	}
	return last, err
}

// fileOf returns the path and the id of the file of t.
func (o *opener) fileOf(t *track) (path string, id fileID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return t.path, t.sight.file.id
}

// positionOf returns the position at which reading resumes.
func (o *opener) positionOf(t *track) position {
	o.mu.Lock()
	defer o.mu.Unlock()
	return t.at()
}

// opened sets the open file of t.
func (o *opener) opened(t *track, f handle) {
	t.read.in.f = f
	o.mu.Lock()
	defer o.mu.Unlock()
	o.descs++
}

// closeContent closes the file of t. The caller holds mu, or no other goroutine
// reads the file any more.
func (o *opener) closeContent(t *track) {
	t.read.in.rest()
	if t.read.in.f != nil {
		_ = t.read.in.f.Close()
		t.read.in.f = nil
		o.descs--
	}
}

// keepOpen is called when t becomes idle. It leaves the file open unless too many files
// are open. The caller holds mu.
func (o *opener) keepOpen(t *track) {
	t.read.in.rest()
	if o.descs > o.cfg.MaxOpenFiles {
		o.closeContent(t)
	}
}

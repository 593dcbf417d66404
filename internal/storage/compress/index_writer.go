package compress

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// IndexEvery is the distance in bytes of text between the places of an index.
const IndexEvery = 1 << 20

// maxIndex is the memory in bytes for the places of an IndexWriter. If the
// places need more, the IndexWriter drops every second one.
const maxIndex = 16 << 20

// An IndexWriter collects the places of an index while a Reader reads the file:
// see Options.IndexTo. The zero value is ready to use.
type IndexWriter struct {
	places []place
	every  int64 // minimum distance of places
	bytes  int   // bytes of memory that places need
	lines  int64
	size   int64 // size of the text until now
	pack   *zlib.Writer
}

// begin adds the start of the first member.
func (w *IndexWriter) begin(deflate int64) {
	w.every = IndexEvery
	w.places = append(w.places, place{bit: deflate * 8})
}

// text adds decoded text.
func (w *IndexWriter) text(p []byte) {
	w.lines += int64(bytes.Count(p, []byte{'\n'}))
	w.size += int64(len(p))
}

// add adds a place inside a member.
func (w *IndexWriter) add(p *RestartPoint) {
	if len(w.places) == 0 || p.offset-w.places[len(w.places)-1].out < w.every {
		return
	}
	var b bytes.Buffer
	if w.pack == nil {
		w.pack = zlib.NewWriter(&b)
	}
	w.pack.Reset(&b)
	_, _ = io.WriteString(w.pack, p.window) // a bytes.Buffer never fails
	_ = w.pack.Close()
	w.places = append(w.places, place{bit: p.compressed*8 + int64(p.bit), out: p.offset, window: bytes.Clone(b.Bytes()), lines: w.lines})
	w.bytes += b.Len()
	if w.bytes > maxIndex {
		// Drop every second place, which halves the index.
		kept := w.places[:0]
		w.bytes = 0
		for i, p := range w.places {
			if i%2 == 0 {
				kept = append(kept, p)
				w.bytes += len(p.window)
			}
		}
		clear(w.places[len(kept):])
		w.places = kept
		w.every *= 2
	}
}

// Useful reports whether the index has a place other than the start.
func (w *IndexWriter) Useful() bool { return len(w.places) > 1 }

// Write writes the index of the file with the given stamp to dst: in the format
// of indexed_gzip or, otherwise, of gztool with line numbers. The stamp
// follows, which other programs ignore.
func (w *IndexWriter) Write(dst io.Writer, indexed bool, file Stamp) error {
	sum := crc32.NewIEEE()
	both := io.MultiWriter(dst, sum)
	var err error
	if indexed {
		err = w.writeIndexed(both, file.Size)
	} else {
		err = w.writeGztool(both)
	}
	if err != nil {
		return err
	}
	if _, err := both.Write(file.append(nil)); err != nil {
		return err
	}
	_, err = dst.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// A Stamp identifies the content of a file without reading all of it.
type Stamp struct {
	Size    int64
	ModTime int64             // nanoseconds since 1970
	Ends    [sha256.Size]byte // hash of the first and the last 64 KiB
}

// stampEnds is how much of each end of a file its stamp covers.
const stampEnds = 64 << 10

// StampOf returns the stamp of a file.
func StampOf(src io.ReaderAt, size, modTime int64) (Stamp, error) {
	h := sha256.New()
	for _, from := range []int64{0, max(0, size-stampEnds)} {
		if _, err := io.Copy(h, io.NewSectionReader(src, from, min(size, stampEnds))); err != nil {
			return Stamp{}, err
		}
	}
	return Stamp{Size: size, ModTime: modTime, Ends: [sha256.Size]byte(h.Sum(nil))}, nil
}

// A stamp is stored at the end of an index: the magic, size, time, hash, and
// the CRC of the index up to there. Integers are little-endian.
const (
	stampMagic = "urlfold1"
	stampSize  = len(stampMagic) + 8 + 8 + sha256.Size + 4
)

func (s Stamp) append(b []byte) []byte {
	b = append(b, stampMagic...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Size))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.ModTime))
	return append(b, s.Ends[:]...)
}

// IsStamped reports whether a file of the given size ends like an index that
// this package has written. The index may be damaged.
func IsStamped(src io.ReaderAt, size int64) bool {
	b := make([]byte, len(stampMagic))
	n, _ := src.ReadAt(b, max(0, size-int64(stampSize)))
	return string(b[:n]) == stampMagic
}

// readStamp returns the stamp at the end of an index of the given size, or nil.
// It compares the checksum of the index.
func readStamp(src io.ReaderAt, size int64) (*Stamp, error) {
	if size < int64(stampSize) {
		return nil, nil
	}
	b := make([]byte, stampSize)
	if _, err := src.ReadAt(b, size-int64(stampSize)); err != nil && err != io.EOF {
		return nil, err
	}
	if string(b[:len(stampMagic)]) != stampMagic {
		return nil, nil
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(src, 0, size-4)); err != nil {
		return nil, err
	}
	if sum.Sum32() != binary.LittleEndian.Uint32(b[stampSize-4:]) {
		return nil, fmt.Errorf("%w: its checksum does not match", errIndex)
	}
	f := b[len(stampMagic):]
	return &Stamp{
		Size:    int64(binary.LittleEndian.Uint64(f)),
		ModTime: int64(binary.LittleEndian.Uint64(f[8:])),
		Ends:    [sha256.Size]byte(f[16 : 16+sha256.Size]),
	}, nil
}

package chaos

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// An Archive is an intact compressed file of lines.
type Archive struct {
	Format string // gzip, zstd, bzip2, xz, lz4, snappy or s2
	Name   string // describes how it was written, as "many members"
	Ext    string // file name extension, as ".gz"
	Text   []byte
	Packed []byte
	Sums   bool // checksums cover the whole text

	// Units are the parts that a reader may hold back until it has compared
	// their checksum. If there are none, a reader delivers as much as it can.
	Units []Unit
	// Data is the number of bytes of the file that hold data. They are followed
	// by padding, which no reader can distinguish from foreign bytes once it is
	// damaged.
	Data int
	// Ends are the offsets at which a member, a frame or a chunk ends: a file
	// truncated there looks complete.
	Ends []int
}

// A Unit is identified by where it ends: in the file, rounded up, and in the
// text.
type Unit struct{ Packed, Text int }

// ArchiveFormats are the formats that Archives supports.
var ArchiveFormats = []string{"gzip", "zstd", "bzip2", "xz", "lz4", "snappy", "s2"}

// ArchiveText returns about size bytes of lines, each of which is a unique URL.
// No byte occurs four times in a row, so that all blocks of bzip2 have the same
// size.
func ArchiveText(rng *rand.Rand, size int) []byte {
	var b bytes.Buffer
	words := strings.Fields("shop search item article user cart image static report archive")
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "http://%s%d.example/%s/%x?id=%d.%d&session=%x\n",
			words[rng.IntN(len(words))], rng.IntN(50), words[rng.IntN(len(words))], rng.IntN(1<<16), n, rng.IntN(10), rng.Uint32())
	}
	return runs(b.Bytes())
}

// runs breaks up runs of four equal bytes.
func runs(text []byte) []byte {
	for i := 3; i < len(text); i++ {
		if c := text[i]; c != '\n' && c == text[i-1] && c == text[i-2] && c == text[i-3] {
			text[i] = c%9 + 'a'
		}
	}
	return text
}

// Archives returns one archive of each kind of a format, each with its own
// text. If a program is missing, it omits the archives that need it, and the
// error names the program.
func Archives(rng *rand.Rand, format string, size int) ([]Archive, error) {
	build := map[string]func(*rand.Rand, int) ([]Archive, error){
		"gzip": gzipArchives, "zstd": zstdArchives, "bzip2": bzip2Archives, "xz": xzArchives,
		"lz4": lz4Archives, "snappy": snappyArchives, "s2": snappyArchives,
	}[format]
	all, err := build(rng, size)
	var right []Archive
	for _, a := range all {
		if a.Format == format {
			right = append(right, a)
		}
	}
	return right, err
}

// An archiver creates a compressing writer.
type archiver func(w io.Writer) (io.WriteCloser, error)

// members writes the text in parts, each as a separate member.
func members(a Archive, parts int, p archiver) (Archive, error) {
	var b bytes.Buffer
	step := len(a.Text)/parts + 1
	for from := 0; from < len(a.Text); from += step {
		w, err := p(&b)
		if err != nil {
			return a, err
		}
		if _, err := w.Write(a.Text[from:min(from+step, len(a.Text))]); err != nil {
			return a, err
		}
		if err := w.Close(); err != nil {
			return a, err
		}
		a.Ends = append(a.Ends, b.Len())
	}
	a.Packed = b.Bytes()
	return a, nil
}

// A writing is a way to write archives of a format.
type writing struct {
	name  string
	parts int
	bare  bool // without checksums
	pack  archiver
}

func buildArchives(rng *rand.Rand, format, ext string, size int, kinds []writing) (all []Archive, err error) {
	for _, k := range kinds {
		a := Archive{Format: format, Name: k.name, Ext: ext, Text: ArchiveText(rng, size), Sums: !k.bare}
		if a, err = members(a, k.parts, k.pack); err != nil {
			return nil, fmt.Errorf("%s, %s: %w", format, k.name, err)
		}
		a.Data = len(a.Packed)
		if skippable := bytes.LastIndex(a.Packed, []byte("\x2a\x4d\x18")); format == "zstd" && skippable > 0 {
			a.Data = skippable - 1
		}
		all = append(all, a)
	}
	return all, nil
}

func gzipArchives(rng *rand.Rand, size int) ([]Archive, error) {
	level := func(n int) archiver {
		return func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, n) }
	}
	return buildArchives(rng, "gzip", ".gz", size, []writing{
		{"one member", 1, false, level(6)},
		{"one member, fastest", 1, false, level(1)},
		{"one member, stored", 1, false, level(0)},
		{"many members", 20, false, level(6)},
	})
}

func zstdArchives(rng *rand.Rand, size int) ([]Archive, error) {
	with := func(opts ...zstd.EOption) archiver {
		return func(w io.Writer) (io.WriteCloser, error) {
			return zstd.NewWriter(w, append(opts, zstd.WithEncoderConcurrency(1))...)
		}
	}
	return buildArchives(rng, "zstd", ".zst", size, []writing{
		{"one frame", 1, false, with()},
		{"one frame, best", 1, false, with(zstd.WithEncoderLevel(zstd.SpeedBestCompression))},
		{"one frame, padded", 1, false, with(zstd.WithEncoderPadding(1000))},
		{"one frame without a checksum", 1, true, with(zstd.WithEncoderCRC(false))},
		{"many frames", 12, false, with()},
		{"many frames without checksums", 12, true, with(zstd.WithEncoderCRC(false))},
	})
}

func xzArchives(rng *rand.Rand, size int) ([]Archive, error) {
	with := func(c xz.WriterConfig) archiver {
		c.DictCap = 1 << 20
		return func(w io.Writer) (io.WriteCloser, error) { return c.NewWriter(w) }
	}
	return buildArchives(rng, "xz", ".xz", size, []writing{
		{"one block", 1, false, with(xz.WriterConfig{})},
		{"many blocks", 1, false, with(xz.WriterConfig{BlockSize: int64(size / 7), CheckSum: xz.SHA256})},
		{"CRC32", 1, false, with(xz.WriterConfig{CheckSum: xz.CRC32})},
		{"many streams", 8, false, with(xz.WriterConfig{})},
		{"no check", 1, true, with(xz.WriterConfig{NoCheckSum: true})},
	})
}

func lz4Archives(rng *rand.Rand, size int) ([]Archive, error) {
	with := func(opts ...lz4.Option) archiver {
		return func(w io.Writer) (io.WriteCloser, error) {
			z := lz4.NewWriter(w)
			return z, z.Apply(append(opts, lz4.ConcurrencyOption(1))...)
		}
	}
	small := lz4.BlockSizeOption(lz4.Block64Kb)
	all, err := buildArchives(rng, "lz4", ".lz4", size, []writing{
		{"one frame", 1, false, with(lz4.BlockSizeOption(lz4.Block256Kb))},
		{"one frame of small blocks", 1, false, with(small)},
		{"block checksums", 1, false, with(small, lz4.BlockChecksumOption(true))},
		{"no checksums", 1, true, with(small, lz4.ChecksumOption(false))},
		{"many frames", 9, false, with(small)},
	})
	if err == nil {
		all[2].Units = lz4Units(all[2].Packed, len(all[2].Text))
	}
	return all, err
}

// lz4Units returns the blocks of a frame with block checksums and blocks of 64
// KiB.
func lz4Units(packed []byte, size int) (units []Unit) {
	for at, text := 7, 0; text < size; {
		at += 8 + int(binary.LittleEndian.Uint32(packed[at:])&^(1<<31))
		text = min(text+64<<10, size)
		units = append(units, Unit{at, text})
	}
	return units
}

func snappyArchives(rng *rand.Rand, size int) ([]Archive, error) {
	with := func(opts ...s2.WriterOption) archiver {
		return func(w io.Writer) (io.WriteCloser, error) {
			return s2.NewWriter(w, append(opts, s2.WriterConcurrency(1))...), nil
		}
	}
	all, err := buildArchives(rng, "snappy", ".sz", size, []writing{
		{"one stream", 1, false, with(s2.WriterSnappyCompat())},
		{"not compressed", 1, false, with(s2.WriterSnappyCompat(), s2.WriterUncompressed())},
		{"many streams", 5, false, with(s2.WriterSnappyCompat(), s2.WriterBlockSize(8<<10))},
	})
	if err != nil {
		return nil, err
	}
	more, err := buildArchives(rng, "s2", ".s2", size, []writing{
		{"one stream", 1, false, with(s2.WriterBlockSize(16 << 10))},
		{"better, with an index", 1, false, with(s2.WriterBlockSize(64<<10), s2.WriterBetterCompression(), s2.WriterAddIndex())},
		{"padded", 1, false, with(s2.WriterBlockSize(16<<10), s2.WriterPadding(4096))},
		{"many streams", 5, false, with(s2.WriterBlockSize(8 << 10))},
	})
	all = append(all, more...)
	for i := range all {
		chunks(&all[i])
	}
	return all, err
}

// chunks records the chunks of a stream of snappy or S2.
func chunks(a *Archive) {
	a.Ends = nil
	for at, text := 0, 0; at < len(a.Packed); {
		size := int(a.Packed[at+1]) | int(a.Packed[at+2])<<8 | int(a.Packed[at+3])<<16
		switch a.Packed[at] {
		case 0:
			n, _ := s2.DecodedLen(a.Packed[at+8:]) // valid: it was just written
			text += n
		case 1:
			text += size - 4
		}
		at += 4 + size
		a.Ends = append(a.Ends, at)
		a.Units = append(a.Units, Unit{at, text})
	}
}

// ErrNoProgram means that a program is not installed on this machine.
var ErrNoProgram = errors.New("not on this machine")

// bzip2Archives needs the bzip2 program, because no library here writes bzip2.
func bzip2Archives(rng *rand.Rand, size int) (all []Archive, err error) {
	if _, err := exec.LookPath("bzip2"); err != nil {
		return nil, fmt.Errorf("the program bzip2: %w", ErrNoProgram)
	}
	for _, k := range []struct {
		name, flag string
		parts      int
	}{{"small blocks", "-1", 1}, {"one block", "-9", 1}, {"many streams", "-1", 4}} {
		a := Archive{Format: "bzip2", Name: k.name, Ext: ".bz2", Text: ArchiveText(rng, size), Sums: true}
		step := len(a.Text)/k.parts + 1
		for from := 0; from < len(a.Text); from += step {
			cmd := exec.Command("bzip2", "-c", k.flag)
			cmd.Stdin = bytes.NewReader(a.Text[from:min(from+step, len(a.Text))])
			out, err := cmd.Output()
			if err != nil {
				return nil, fmt.Errorf("bzip2 %s: %w", k.flag, err)
			}
			if err := bzip2Blocks(&a, out); err != nil {
				return nil, err
			}
		}
		a.Data = len(a.Packed)
		all = append(all, a)
	}
	return all, nil
}

// bzip2Blocks appends a stream and records its blocks. The library returns the
// data of one block at a time. A block ends where the magic number of the next
// block, or of the end of the stream, begins, at any bit.
func bzip2Blocks(a *Archive, stream []byte) error {
	const blockMagic, endMagic, mask = 0x314159265359, 0x177245385090, 1<<48 - 1
	r := bzip2.NewReader(bytes.NewReader(stream))
	text := 0
	if n := len(a.Units); n > 0 {
		text = a.Units[n-1].Text
	}
	var last uint64
	block := make([]byte, 2<<20)
	for i, c := range stream {
		for bit := 7; bit >= 0; bit-- {
			last = (last<<1 | uint64(c>>bit&1)) & mask
			if i < 12 && last == blockMagic || last != blockMagic && last != endMagic {
				continue
			}
			n, err := r.Read(block)
			if err != nil {
				return fmt.Errorf("a block of bzip2: %w", err)
			}
			text += n
			a.Units = append(a.Units, Unit{len(a.Packed) + i - 5, text})
		}
	}
	a.Packed = append(a.Packed, stream...)
	a.Ends = append(a.Ends, len(a.Packed))
	return nil
}

package compress

import (
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Default levels of [NewPack], as the programs gzip and zstd number them.
const (
	DefaultGzipLevel = 6
	DefaultZstdLevel = 3
)

// At these levels of the library, the outputs are nearest in size to the
// outputs of the gzip and zstd programs at the levels 1, 2 and so on.
// Measured with 40 MB of an access log; see docs/performance.md.
var (
	gzipLevels = [...]int{1, 3, 4, 5, 7, 8, 9, 9, 9}
	zstdLevels = [...]zstd.EncoderLevel{1, 1, 2, 2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}
)

// zstdWindow is the window of level 3 of the zstd program, in bytes. A larger
// window costs memory in readers and writers.
const zstdWindow = 2 << 20

// MemberSize returns how much text one member of format f should hold at least,
// so that the file is hardly larger than one with a single member.
func MemberSize(f Format) int {
	if f == Zstd {
		return 2 * zstdWindow
	}
	return 1 << 20 // 32 times the window
}

// ByName returns the format for the extension of an output's name: Gzip for
// .gz, Zstd for .zst, and otherwise Plain.
func ByName(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		return Gzip
	case ".zst":
		return Zstd
	}
	return Plain
}

// Misleading reports whether the name of an output has the extension of a
// compressed format that cannot be written, so that [ByName] returns Plain.
func Misleading(name string) bool { return ByName(name) == Plain && Compressed(name) }

// ParseFormat returns the format and the level for the value of a
// compression option: gzip, gzip:LEVEL, zstd, zstd:LEVEL or none. If the
// value is empty, the format is ByName(name). Level 0 is the default.
func ParseFormat(flag, name string) (f Format, level int, err error) {
	if flag == "" {
		return ByName(name), 0, nil
	}
	method, number, leveled := strings.Cut(flag, ":")
	switch method {
	case "gzip":
		f = Gzip
	case "zstd":
		f = Zstd
	case "none":
	default:
		return Plain, 0, fmt.Errorf("unknown compression %q (must be none, gzip or zstd; gzip and zstd take a level, such as zstd:3)", flag)
	}
	if !leveled {
		return f, 0, nil
	}
	if level, err = strconv.Atoi(number); err != nil || level < 1 {
		return Plain, 0, fmt.Errorf("invalid compression level %q (must be a number, as in zstd:3)", number)
	}
	return f, level, CheckLevel(f, level)
}

// CheckLevel returns an error if f does not define the level. Level 0 is the
// default.
func CheckLevel(f Format, level int) error {
	most := map[Format]int{Gzip: len(gzipLevels), Zstd: len(zstdLevels)}[f]
	switch {
	case most == 0:
		return fmt.Errorf("cannot write format %v (only gzip and zstd)", f)
	case level < 0 || level > most:
		return fmt.Errorf("%v level %d out of range (must be 1 to %d)", f, level, most)
	}
	return nil
}

// A Pack compresses src to one complete gzip member or zstd frame and appends
// it to dst. It retains neither slice, and allocates nothing after the first
// calls if dst has enough capacity. Only one goroutine at a time may use it.
type Pack func(dst, src []byte) []byte

// NewPack returns a Pack for format f, Gzip or Zstd. Level 0 is the default;
// gzip has levels 1 to 9, zstd 1 to 19, as their programs number them.
func NewPack(f Format, level int) (Pack, error) {
	if err := CheckLevel(f, level); err != nil {
		return nil, err
	}
	if f == Zstd {
		enc, err := newZstdEncoder(level)
		return func(dst, src []byte) []byte { return enc.EncodeAll(src, dst) }, err
	}
	piece, err := NewPiecePack(level)
	if err != nil {
		return nil, err
	}
	return func(dst, src []byte) []byte {
		return piece(dst, src, true, true, crc32.ChecksumIEEE(src), int64(len(src)))
	}, nil
}

// An appender is a writer that appends to a slice. It cannot fail.
type appender struct{ dst []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.dst = append(a.dst, p...)
	return len(p), nil
}

// zstdLevel returns the level of the library for a level of the program.
func zstdLevel(level int) zstd.EncoderLevel {
	if level == 0 {
		level = DefaultZstdLevel
	}
	return zstdLevels[level-1]
}

func newZstdEncoder(level int) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstdLevel(level)),
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstdWindow),
		zstd.WithZeroFrames(true), // empty input gives an empty frame
		zstd.WithLowerEncoderMem(true))
}

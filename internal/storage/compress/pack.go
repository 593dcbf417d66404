package compress

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Default levels of [NewPack], in the numbers of the library. Blocks of 128 KiB
// of an access log, by BenchmarkPack on one core: gzip 1, 5, 6 and 9 give 13.4,
// 11.2, 10.8 and 10.1 % of the size at 330, 225, 200 and 50 MB/s; zstd 1, 2, 3
// and 4 give 11.2, 10.9, 9.9 and 9.4 % at 450, 310, 190 and 40 MB/s.
const (
	DefaultGzipLevel = 5
	DefaultZstdLevel = 1 // zstd.SpeedFastest, about level 1 of the zstd program
)

// ByName returns the format that the extension of an output's name asks for:
// .gz, .zst, or Plain for any other.
func ByName(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gz":
		return Gzip
	case ".zst":
		return Zstd
	}
	return Plain
}

// Misleading reports whether the name of an output promises compressed data, of a
// format that is not written: [ByName] has it Plain.
func Misleading(name string) bool { return ByName(name) == Plain && Compressed(name) }

// ParseFormat returns the format that a flag names: gzip, zstd or none. The
// empty string is for [ByName] to decide.
func ParseFormat(flag, name string) (Format, error) {
	switch flag {
	case "":
		return ByName(name), nil
	case "none":
		return Plain, nil
	case "gzip":
		return Gzip, nil
	case "zstd":
		return Zstd, nil
	}
	return Plain, fmt.Errorf("%q is no compression: gzip, zstd or none", flag)
}

// A Pack appends src, compressed as one complete gzip member or zstd frame, to
// dst. It keeps neither, allocates nothing once it is warm and dst is long
// enough, and belongs to one goroutine.
type Pack func(dst, src []byte) []byte

// NewPack returns a Pack of format f, Gzip or Zstd. Level 0 is the default;
// gzip has 1 to 9, zstd 1 to 4.
func NewPack(f Format, level int) (Pack, error) {
	switch f {
	case Gzip:
		return newGzipPack(level)
	case Zstd:
		return newZstdPack(level)
	}
	return nil, fmt.Errorf("%v cannot be written", f)
}

// An appender is a writer into a slice. It cannot fail.
type appender struct{ dst []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.dst = append(a.dst, p...)
	return len(p), nil
}

func newGzipPack(level int) (Pack, error) {
	if level == 0 {
		level = DefaultGzipLevel
	}
	a := new(appender)
	w, err := gzip.NewWriterLevel(a, level)
	if err != nil {
		return nil, fmt.Errorf("gzip level %d: %w", level, err)
	}
	return func(dst, src []byte) []byte {
		a.dst = dst
		w.Reset(a)
		_, _ = w.Write(src) // an appender cannot fail
		_ = w.Close()
		dst, a.dst = a.dst, nil
		return dst
	}, nil
}

func newZstdPack(level int) (Pack, error) {
	if level == 0 {
		level = DefaultZstdLevel
	}
	if level < int(zstd.SpeedFastest) || level > int(zstd.SpeedBestCompression) {
		return nil, fmt.Errorf("zstd level %d: there are 1 to 4", level)
	}
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.EncoderLevel(level)),
		zstd.WithEncoderConcurrency(1),
		zstd.WithZeroFrames(true), // nothing, compressed, is a frame of nothing
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	return func(dst, src []byte) []byte { return enc.EncodeAll(src, dst) }, nil
}

package compress

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Default levels of [NewPack], in the numbering of the library. For blocks of
// 128 KiB of an access log, BenchmarkPack on one core measured: gzip levels 1,
// 5, 6 and 9 give 13.4, 11.2, 10.8 and 10.1 % of the size at 330, 225, 200 and
// 50 MB/s; zstd levels 1, 2, 3 and 4 give 11.2, 10.9, 9.9 and 9.4 % at 450,
// 310, 190 and 40 MB/s.
const (
	DefaultGzipLevel = 5
	DefaultZstdLevel = 1 // zstd.SpeedFastest, about level 1 of the zstd program
)

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

// ParseFormat returns the format for the value of a compression flag: gzip,
// zstd or none. If the value is empty, it returns ByName(name).
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
	return Plain, fmt.Errorf("unknown compression %q (must be gzip, zstd or none)", flag)
}

// A Pack compresses src to one complete gzip member or zstd frame and appends
// it to dst. It retains neither slice, and allocates nothing after the first
// calls if dst has enough capacity. Only one goroutine at a time may use it.
type Pack func(dst, src []byte) []byte

// NewPack returns a Pack for format f, Gzip or Zstd. Level 0 is the default;
// gzip has levels 1 to 9, zstd 1 to 4.
func NewPack(f Format, level int) (Pack, error) {
	switch f {
	case Gzip:
		return newGzipPack(level)
	case Zstd:
		return newZstdPack(level)
	}
	return nil, fmt.Errorf("cannot write format %v (only gzip and zstd)", f)
}

// An appender is a writer that appends to a slice. It cannot fail.
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
		return nil, fmt.Errorf("zstd level %d out of range (must be 1 to 4)", level)
	}
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstd.EncoderLevel(level)),
		zstd.WithEncoderConcurrency(1),
		zstd.WithZeroFrames(true), // empty input gives an empty frame
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	return func(dst, src []byte) []byte { return enc.EncodeAll(src, dst) }, nil
}

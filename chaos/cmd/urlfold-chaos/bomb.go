package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/urlfold/urlfold/chaos"
)

// A payload is a file that expands to a huge size, and the verdict it must get.
type payload struct {
	name    string
	verdict string
	write   func(w io.Writer, size int64) error
}

var payloads = []payload{
	{"zeros.gz", "limit", zeros(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, 9) })},
	{"zeros.zst", "limit", zeros(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) })},
	{"nested.zst", "unsupported-format", nested},
	{"members.gz", "limit", members},
	{"window.zst", "limit", window},
}

// zeros returns a function that writes compressed zeros.
func zeros(packer func(io.Writer) (io.WriteCloser, error)) func(io.Writer, int64) error {
	return func(w io.Writer, size int64) error {
		z, err := packer(w)
		if err != nil {
			return err
		}
		block := make([]byte, 1<<20)
		for ; size > 0; size -= int64(len(block)) {
			if _, err := z.Write(block); err != nil {
				return err
			}
		}
		return z.Close()
	}
}

// nested writes zstd in zstd, which is not decompressed twice.
func nested(w io.Writer, size int64) error {
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	inner := zeros(func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) })
	if err := inner(z, size); err != nil {
		return err
	}
	return z.Close()
}

// members writes the same member of zeros repeatedly.
func members(w io.Writer, size int64) error {
	const each = 64 << 20
	var member bytes.Buffer
	one := zeros(func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, 9) })
	if err := one(&member, each); err != nil {
		return err
	}
	for ; size > 0; size -= each {
		if _, err := w.Write(member.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// window writes the header of a zstd frame with a window of 2 GiB, and a block
// of zeros (RFC 8878, 3.1.1.1.2: exponent 21, mantissa 0).
func window(w io.Writer, _ int64) error {
	const magic, descriptor, exponent = "\x28\xb5\x2f\xfd", "\x00", 21 << 3
	_, err := w.Write(append([]byte(magic+descriptor), exponent, 1|1<<1|0xff<<3&0xff, 0xff, 0x03, 0))
	return err
}

func bomb(ctx context.Context, l *lab) error {
	s := &setup{
		dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}, dead: true, more: limited, source: quickSource,
		codec: fmt.Sprintf(", max_record: %d", maxRecord),
	}
	s.defaults()
	size := l.size(96<<20, 10<<30)
	for _, b := range payloads {
		if err := writeTo(l.path("in", b.name), func(w io.Writer) error { return b.write(w, size) }); err != nil {
			return err
		}
	}
	lanes := map[uint64]uint64{}
	for lane := range uint64(6) {
		k := chaos.Kinds()[lane]
		n, err := s.spec.WriteFile(l.path("in", fmt.Sprintf("sound%d%s", lane, k.Ext())), k, lane, 1<<20)
		if err != nil {
			return err
		}
		lanes[lane] = n
	}
	if err := l.bombAtOnce(ctx); err != nil {
		return err
	}
	p, err := s.begin(ctx, l)
	if err != nil {
		return err
	}
	if err := l.ends(ctx, p, 4); err != nil {
		return err
	}
	_, err = os.Lstat(l.path("out", "nested"))
	l.check(errors.Is(err, fs.ErrNotExist), "a refused input has an output: %v", err)
	r, _, err := s.judge(lanes, false)
	if err != nil {
		return err
	}
	l.did("%d bombs of %d MiB each next to %d intact files", len(payloads), size>>20, len(lanes))
	l.figure("oracle, intact files", r.String())
	l.check(r.Lost == 0 && r.Doubled == 0 && r.Reordered == 0, "%v: %v", r, r.Examples)
	return l.checkMemory(p)
}

// bombAtOnce reads the files with the one-shot command and compares the
// verdicts.
func (l *lab) bombAtOnce(ctx context.Context) error {
	p, err := l.finish(ctx, 4, "-f", "lines", "--quiet", "--summary", l.path("report.json"), "-o", l.path("once.log"), l.path("in"))
	if err != nil {
		return err
	}
	verdicts, err := readVerdicts(l.path("report.json"))
	if err != nil {
		return err
	}
	for _, b := range payloads {
		l.check(verdicts[b.name] == b.verdict, "%s: verdict is %q, want %q", b.name, verdicts[b.name], b.verdict)
	}
	l.figure("verdicts", fmt.Sprint(verdicts))
	l.figure("peak resident memory of the one-shot run, MiB", p.MaxRSS()>>20)
	return nil
}

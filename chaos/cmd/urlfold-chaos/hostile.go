package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/urlfold/urlfold/chaos"
)

var hostiles = []experiment{
	{
		name: "hostile", no: "8", about: "a line of 100 MB (full run: 1 GB) between other lines, files without a line end, NUL, CR LF, invalid UTF-8, plain and compressed",
		bound: "neighbouring records complete; each of the other lines in an output or a dead letter; memory ≤ budget + the longest record",
		run:   hostile,
	},
	{
		name: "bomb", no: "9", about: "10 GiB of zeros as gzip and zstd, a zstd window of 2 GiB, and intact files next to them; one-shot and daemon",
		bound: "reading stops at the limit, with the verdict limit; memory ≤ budget; intact files complete",
		run:   bomb,
	},
}

// Memory limits of the experiments, and an allowance for code and for garbage
// that the collector has not freed yet.
const (
	budget      = 192 << 20
	maxRecord   = 1 << 20
	besideMeant = 32 << 20
)

// limited is a configuration section that limits the memory.
var limited = fmt.Sprintf("memory_limit: %d\n", budget)

// odd are unusual lines. Some of them are valid URLs.
var odd = []string{
	"http://" + foreign + "/\x00nul\x00", "\x00\x00" + foreign + "\x00", "http://" + foreign + "/\xff\xfe\xc3\x28", "\xed\xa0\x80" + foreign,
	foreign + "\rhttp://" + foreign + "/\r", "http://" + foreign + "/" + strings.Repeat("%", 5000), "\ufeff" + foreign, "\"" + foreign, "{" + foreign + "\\u0000",
}

func hostile(ctx context.Context, l *lab) error {
	s := &setup{
		dir: l.dir, spec: chaos.Spec{Seed: l.seed, Format: chaos.Lines}, dead: true, more: limited, source: quickSource,
		codec: fmt.Sprintf(", max_record: %d", maxRecord),
	}
	o := chaos.NewOracle(s.spec)
	o.Foreign(foreign)
	s.defaults()
	giant := l.size(100<<20, 1<<30)
	for lane, length := range []int64{giant, 30 << 20, 3 << 20} {
		if err := writeHostile(s, uint64(lane), length); err != nil {
			return err
		}
		o.Expect(uint64(lane), 2000)
	}
	if err := writeEndless(l.path("in", "endless.log"), 64<<20); err != nil {
		return err
	}
	crlf, err := writeCRLF(s, l.path("in", "crlf.log"))
	if err != nil {
		return err
	}
	p, err := s.complete(ctx, l)
	if err != nil {
		return err
	}
	got, err := os.ReadFile(filepath.Join(s.outDir, "crlf.log"))
	if err != nil {
		return err
	}
	l.check(bytes.Equal(got, crlf), "lines with CR LF differ from their expected form: %.100q", got)
	if err := os.Remove(filepath.Join(s.outDir, "crlf.log")); err != nil {
		return err
	}
	if _, err := s.feed(o, false); err != nil {
		return err
	}
	r := o.Result()
	want := int64(3*(len(odd)+1) + 1)
	l.figure("oracle", r.String())
	odds := r.Foreign
	for _, n := range r.Reasons {
		odds += n
	}
	l.figure("unusual lines in outputs and dead letters", odds)
	l.check(r.Exact(), "%v: %v", &r, r.Examples)
	l.check(odds == want, "%d unusual lines in the output, want %d", odds, want)
	l.check(r.Reasons["record-too-long"] == 4, "dead letters without their record: %v, want 4 with the reason record-too-long", r.Reasons)
	return l.checkMemory(p)
}

// checkMemory compares the peak memory of a process with its limit.
func (l *lab) checkMemory(p *chaos.Process) error {
	l.figure("peak resident memory, MiB", p.MaxRSS()>>20)
	l.check(p.MaxRSS() <= budget+maxRecord+besideMeant, "peak memory is %d MiB with a budget of %d MiB", p.MaxRSS()>>20, budget>>20)
	return nil
}

// writeHostile writes 2,000 records of a lane with unusual lines in the middle.
// One of these lines has the given length. The file of lane 1 is compressed.
func writeHostile(s *setup, lane uint64, length int64) error {
	path := filepath.Join(s.dir, "in", fmt.Sprintf("%d.log", lane))
	if lane == 1 {
		path += ".gz"
	}
	return writeTo(path, func(w io.Writer) error {
		if lane == 1 {
			z := gzip.NewWriter(w)
			if err := hostileText(z, s, lane, length); err != nil {
				return err
			}
			return z.Close()
		}
		return hostileText(w, s, lane, length)
	})
}

func hostileText(w io.Writer, s *setup, lane uint64, length int64) error {
	var rec []byte
	for n := range uint64(2000) {
		if n == 1000 {
			if _, err := io.WriteString(w, strings.Join(odd, "\n")+"\n"); err != nil {
				return err
			}
			if err := long(w, length); err != nil {
				return err
			}
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		rec = s.spec.Append(rec[:0], lane, n)
		if _, err := w.Write(rec); err != nil {
			return err
		}
	}
	return nil
}

// long writes one long line without a line end.
func long(w io.Writer, length int64) error {
	block := bytes.Repeat([]byte("http://"+foreign+"/"), 1000)
	for left := length; left > 0; left -= int64(len(block)) {
		if _, err := w.Write(block[:min(left, int64(len(block)))]); err != nil {
			return err
		}
	}
	return nil
}

// writeEndless writes a file without a line end.
func writeEndless(path string, length int64) error {
	return writeTo(path, func(w io.Writer) error { return long(w, length) })
}

// writeCRLF writes lines that end in CR LF and returns the expected output.
func writeCRLF(s *setup, path string) (want []byte, err error) {
	const lane, records = 99, 5000
	var text []byte
	for n := range uint64(records) {
		text = s.spec.Append(text, lane, n)
		text = append(text[:len(text)-1], "\r\n"...)
		want = s.spec.Want(want, lane, n, chaos.Folded)
		want = append(want[:len(want)-1], "\r\n"...)
	}
	return want, os.WriteFile(path, text, 0o644)
}

// writeTo creates a file.
func writeTo(path string, write func(w io.Writer) error) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if err2 := f.Close(); err == nil {
			err = err2
		}
	}()
	b := bufio.NewWriterSize(f, 1<<20)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

package sinks_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/file"
	source "github.com/urlfold/urlfold/sources/file"
)

// This file runs real sinks in a real pipeline from file to file.

// A copier is a codec that copies its records.
type copier struct{}

func (copier) Process(b *engine.Batch) {
	b.Out.Recs = append(b.Out.Recs, engine.OutRec{Span: engine.Span{Len: uint32(len(b.In))}})
	b.Out.Bytes = append(b.Out.Bytes, b.In...)
	n := int64(bytes.Count(b.In, []byte("\n")))
	b.Stats.Records, b.Stats.Emitted = n, n
	b.Next = len(b.In)
}

func (copier) Reject(*engine.Batch) {}
func (copier) Refuse(*engine.Batch) {}

type lines struct{}

func (lines) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }
func (lines) Head([]byte) int      { return 0 }

// TestPipeline runs files, one of them damaged, through a pipeline into a
// compressed file, in input order.
func TestPipeline(t *testing.T) {
	dir := t.TempDir()
	pack, err := compress.NewPack(compress.Gzip, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for i := range 20 {
		text := strings.Repeat(fmt.Sprintf("a record of file %d\n", i), 1000*(i%3))
		packed := pack(nil, []byte(text))
		if i == 7 {
			packed = append(packed, packed[:30]...)
		}
		want.WriteString(text)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("in%02d.gz", i)), packed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out.zst")
	src, err := source.New(source.Config{Paths: []string{filepath.Join(dir, "*.gz")}, Framing: lines{}, Parallel: 4})
	if err != nil {
		t.Fatal(err)
	}
	sink := newFile(t, file.Config{Path: out})
	p, err := engine.New(engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{sink}, Ordering: engine.OrderInput, BatchBytes: 1000, Workers: 4,
		NewCodec: func() engine.Codec { return copier{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := sink.Publish(); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := unpack(t, packed); got != want.String() {
		t.Errorf("%d bytes, want %d in input order", len(got), want.Len())
	}
	for i, r := range src.Reports() {
		if damaged := r.Verdict.Damage(); damaged != (i == 7) {
			t.Errorf("%s: %v", r.Path, r.Verdict)
		}
	}
}

// TestClosedPipe: a run whose output pipe is closed ends with ErrClosedPipe.
func TestClosedPipe(t *testing.T) {
	pr, pw := io.Pipe()
	if err := pr.Close(); err != nil {
		t.Fatal(err)
	}
	src, err := source.New(source.Config{Stdin: strings.NewReader(strings.Repeat("a\n", 10000)), Framing: lines{}})
	if err != nil {
		t.Fatal(err)
	}
	sink := newFile(t, file.Config{Writer: pw})
	p, err := engine.New(engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{sink}, BatchBytes: 1000, NewCodec: func() engine.Codec { return copier{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Run(ctx); !errors.Is(err, file.ErrClosedPipe) {
		t.Errorf("Run: %v", err)
	}
	if err := sink.Publish(); !errors.Is(err, file.ErrClosedPipe) {
		t.Errorf("Publish: %v", err)
	}
}

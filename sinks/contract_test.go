package sinks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/compress"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sinks/file"
	source "github.com/urlfold/urlfold/sources/file"
)

// This file is structured in the following way:
//
//   - The table: every sink, in every form that writes another way.
//   - TestContract: what each of them must keep (pipeline.Sink).
//   - TestPipeline: a run from file to file, with nothing made up.

// A subject is a sink under test.
type subject struct {
	name string
	// sink returns a new sink, and a function that returns what was written to it
	// once it is closed; nil if nobody can know.
	sink func(t *testing.T) (pipeline.Sink, func() string)
	// broken returns a sink that cannot be opened; nil if there is no such thing.
	broken func(t *testing.T) pipeline.Sink
}

func subjects() []subject {
	toFile := func(name string) func(t *testing.T) (pipeline.Sink, func() string) {
		return func(t *testing.T) (pipeline.Sink, func() string) {
			path := filepath.Join(t.TempDir(), name)
			out := newFile(t, file.Config{Path: path})
			return out, func() string {
				if err := out.Publish(); err != nil {
					t.Fatal(err)
				}
				packed, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				return unpack(t, packed)
			}
		}
	}
	gone := func(t *testing.T) pipeline.Sink {
		return newFile(t, file.Config{Path: filepath.Join(t.TempDir(), "no", "such", "folder")})
	}
	toLog := func(name string) func(t *testing.T) (pipeline.Sink, func() string) {
		return func(t *testing.T) (pipeline.Sink, func() string) {
			dir := t.TempDir()
			return newLog(t, filepath.Join(dir, name)), func() string {
				names, err := filepath.Glob(filepath.Join(dir, "*"))
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				for _, name := range names {
					packed, err := os.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					text.WriteString(unpack(t, packed))
				}
				return text.String()
			}
		}
	}
	blocked := func(t *testing.T) pipeline.Sink {
		inTheWay := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(inTheWay, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		return newLog(t, filepath.Join(inTheWay, "out.log"))
	}
	return []subject{
		{"log", toLog("out.log"), blocked},
		{"zstd log", toLog("out.log.zst"), blocked},
		{"rotated log", toLog("{seq}.log.gz"), blocked},
		{"log of lanes", toLog("{lane}-{seq}.log"), blocked},
		{"file", toFile("out.log"), gone},
		{"gzip file", toFile("out.log.gz"), gone},
		{"zstd file", toFile("out.log.zst"), gone},
		{"writer", func(t *testing.T) (pipeline.Sink, func() string) {
			var b bytes.Buffer
			return newFile(t, file.Config{Writer: &b}), b.String
		}, nil},
		{"stdout", toStdout(""), nil},
		{"zstd stdout", toStdout("zstd"), nil},
		{"discard", func(*testing.T) (pipeline.Sink, func() string) { return discard.New(discard.Config{}), nil }, nil},
	}
}

// toStdout returns a subject that writes to a buffer in place of stdout.
func toStdout(method string) func(t *testing.T) (pipeline.Sink, func() string) {
	return func(t *testing.T) (pipeline.Sink, func() string) {
		var cfg file.StdoutConfig
		if method != "" {
			if err := cfg.Compress.UnmarshalText([]byte(method)); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		s, err := file.NewStdout(cfg, &b)
		if err != nil {
			t.Fatal(err)
		}
		return s, func() string { return unpack(t, b.Bytes()) }
	}
}

func newFile(t *testing.T, cfg file.Config) file.Output {
	t.Helper()
	out, err := file.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func newLog(t *testing.T, path string) file.Log {
	t.Helper()
	cfg := file.DefaultLogConfig()
	cfg.Path = path
	cfg.SyncInterval = time.Millisecond
	if strings.Contains(path, "{seq}") {
		cfg.Rotate.Records, cfg.Rotate.Size = 30, 300
	}
	out, err := file.NewLog(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func unpack(t *testing.T, packed []byte) string {
	t.Helper()
	r := compress.NewReader(bytes.NewReader(packed), compress.Options{})
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil || r.Verdict().Kind != compress.OK {
		t.Fatalf("%v, %v", err, r.Verdict())
	}
	return string(text)
}

func TestContract(t *testing.T) {
	for _, sub := range subjects() {
		t.Run(sub.name, func(t *testing.T) {
			t.Run("in order", func(t *testing.T) { inOrder(t, sub) })
			t.Run("at once", func(t *testing.T) { atOnce(t, sub) })
			t.Run("cancelled", func(t *testing.T) { cancelled(t, sub) })
			t.Run("close", func(t *testing.T) { closed(t, sub) })
		})
	}
}

var ctx = context.Background()

// A client submits batches as a worker does, and counts the answers.
type client struct {
	sink    pipeline.Sink
	pack    func(dst, src []byte) []byte
	answers atomic.Int64
	failed  atomic.Int64
}

func newClient(t *testing.T, s pipeline.Sink) *client {
	t.Helper()
	c := &client{sink: s}
	if p, ok := s.(pipeline.Packer); ok {
		pack, err := p.NewPack()
		if err != nil {
			t.Fatal(err)
		}
		c.pack = pack
	}
	return c
}

// submit submits text, and overwrites the batch when it is answered.
func (c *client) submit(ctx context.Context, text string) error {
	b := &pipeline.Batch{}
	b.Out.Bytes = []byte(text)
	if c.pack != nil {
		b.Out.Packed = c.pack(nil, b.Out.Bytes)
	}
	before := slices.Concat(b.Out.Bytes, b.Out.Packed)
	return c.sink.Submit(ctx, b, pipeline.NewTicket(&b.Out, func(r pipeline.Result) {
		c.answers.Add(1)
		if r.Class != pipeline.OK || r.Err != nil || !bytes.Equal(slices.Concat(b.Out.Bytes, b.Out.Packed), before) {
			c.failed.Add(1)
		}
		for _, p := range [][]byte{b.Out.Bytes, b.Out.Packed} {
			for i := range p {
				p[i] = '#'
			}
		}
	}))
}

func open(t *testing.T, s pipeline.Sink) {
	t.Helper()
	if err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
}

// finish calls Barrier and Close, and checks that n batches were answered.
func (c *client) finish(t *testing.T, n int64) {
	t.Helper()
	if err := c.sink.Barrier(ctx); err != nil {
		t.Errorf("Barrier: %v", err)
	}
	if got := c.answers.Load(); got != n {
		t.Errorf("after Barrier there are %d answers to %d batches", got, n)
	}
	if err := c.sink.Close(ctx); err != nil {
		t.Errorf("Close: %v", err)
	}
	if got := c.answers.Load(); got != n || c.failed.Load() > 0 {
		t.Errorf("%d answers to %d batches, %d of them not OK or of a batch that was changed", got, n, c.failed.Load())
	}
}

// inOrder: what is submitted in order is written in order, if the sink says so.
func inOrder(t *testing.T, sub subject) {
	s, written := sub.sink(t)
	open(t, s)
	c := newClient(t, s)
	var want strings.Builder
	for i := range 100 {
		text := fmt.Sprintf("record %d\n", i)
		want.WriteString(text)
		if err := c.submit(ctx, text); err != nil {
			t.Fatal(err)
		}
		if i == 50 {
			if err := s.Barrier(ctx); err != nil {
				t.Errorf("Barrier: %v", err)
			}
			if got := c.answers.Load(); got != 51 {
				t.Errorf("after Barrier there are %d answers to 51 batches", got)
			}
		}
	}
	c.finish(t, 100)
	if written != nil && s.Caps().Ordered {
		if got := written(); got != want.String() {
			t.Errorf("%d bytes of %d are written, or in another order", len(got), want.Len())
		}
	}
}

// atOnce: many workers submit at a time, and every record is written once.
func atOnce(t *testing.T, sub subject) {
	s, written := sub.sink(t)
	open(t, s)
	const workers, each = 8, 50
	var wg sync.WaitGroup
	total := newClient(t, s)
	var clients []*client
	for w := range workers {
		c := newClient(t, s)
		clients = append(clients, c)
		wg.Go(func() {
			for i := range each {
				if err := c.submit(ctx, fmt.Sprintf("record %d of %d\n", i, w)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := s.Barrier(ctx); err != nil { // a sink may answer long after Submit
		t.Errorf("Barrier: %v", err)
	}
	for _, c := range clients {
		total.answers.Add(c.answers.Load())
		total.failed.Add(c.failed.Load())
	}
	total.finish(t, workers*each)
	if written == nil {
		return
	}
	seen := map[string]int{}
	for line := range strings.Lines(written()) {
		seen[line]++
	}
	for w := range workers {
		for i := range each {
			if line := fmt.Sprintf("record %d of %d\n", i, w); seen[line] != 1 {
				t.Errorf("%q is written %d times", line, seen[line])
			}
		}
	}
}

// cancelled: Submit after a hard stop takes the batch or refuses it, and never
// both.
func cancelled(t *testing.T, sub subject) {
	s, _ := sub.sink(t)
	open(t, s)
	c := newClient(t, s)
	over, cancel := context.WithCancel(ctx)
	cancel()
	taken := int64(0)
	for range 10 {
		if err := c.submit(over, "record\n"); err == nil {
			taken++
		}
	}
	c.finish(t, taken)
}

// closed: Close is good without Open, twice, and after an Open that failed.
func closed(t *testing.T, sub subject) {
	s, _ := sub.sink(t)
	if err := s.Close(ctx); err != nil {
		t.Errorf("without Open: %v", err)
	}
	s, _ = sub.sink(t)
	open(t, s)
	for range 2 {
		if err := s.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if sub.broken == nil {
		return
	}
	s = sub.broken(t)
	if err := s.Open(ctx); err == nil {
		t.Error("Open of what cannot be opened succeeds")
	}
	if err := s.Close(ctx); err != nil {
		t.Errorf("after an Open that failed: %v", err)
	}
}

// A copier is a codec that copies its records.
type copier struct{}

func (copier) Process(b *pipeline.Batch) {
	b.Out.Recs = append(b.Out.Recs, pipeline.OutRec{Span: pipeline.Span{Len: uint32(len(b.In))}})
	b.Out.Bytes = append(b.Out.Bytes, b.In...)
	n := int64(bytes.Count(b.In, []byte("\n")))
	b.Stats.Records, b.Stats.Emitted = n, n
	b.Next = len(b.In)
}

func (copier) Reject(*pipeline.Batch) {}
func (copier) Refuse(*pipeline.Batch) {}

type lines struct{}

func (lines) Cut(block []byte) int { return bytes.LastIndexByte(block, '\n') + 1 }
func (lines) Head([]byte) int      { return 0 }

// TestPipeline runs files, one of them damaged, through a pipeline into a
// compressed file, in the order of the input.
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
	p, err := pipeline.New(pipeline.Options{
		Sources: []pipeline.Source{src}, Sinks: []pipeline.Sink{sink}, Ordering: pipeline.OrderInput, BatchBytes: 1000, Workers: 4,
		NewCodec: func() pipeline.Codec { return copier{} },
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
		t.Errorf("%d bytes of %d, or in another order", len(got), want.Len())
	}
	for i, r := range src.Reports() {
		if damaged := r.Verdict.Damage(); damaged != (i == 7) {
			t.Errorf("%s: %v", r.Path, r.Verdict)
		}
	}
}

// TestClosedPipe: a run whose reader goes away ends, and says why.
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
	p, err := pipeline.New(pipeline.Options{
		Sources: []pipeline.Source{src}, Sinks: []pipeline.Sink{sink}, BatchBytes: 1000, NewCodec: func() pipeline.Codec { return copier{} },
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

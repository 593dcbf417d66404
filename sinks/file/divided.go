package file

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A DividedConfig configures the sink of [NewDivided].
type DividedConfig struct {
	// Config is the configuration of each output, except for its Path. Objects, Writer and
	// NewEncoder are not supported.
	Config
	// PathOf returns the path of the output for records with the given Stream.To.
	PathOf func(to uint64) string
	// Most is the maximum number of outputs, besides Other.
	Most int
	// Other is the path of the output for the records that would need more than Most outputs.
	Other string
	// Logger receives a warning when Other is used for that reason.
	Logger *slog.Logger
}

const (
	// mostHeld is the size of the texts, in bytes, at which a dividedSink
	// writes them to its outputs. Many small writes would be slow, and small
	// members compress badly.
	mostHeld = 32 << 20
	// mostHeads is the maximum size of the headers and directives of all
	// inputs, in bytes.
	mostHeads = 1 << 20
)

// A dividedSink is a [Tree] whose outputs depend on the records, not on their lanes.
// Records that all outputs get, such as directives, are also written to the outputs that
// are created later.
type dividedSink struct {
	cfg    DividedConfig
	blocks blocks // blocks of all outputs

	mu     sync.Mutex
	outs   map[string]*division
	heads  []byte // the records that all outputs get
	held   int    // size of the texts that are not written yet
	warned bool
	err    error // first error; then nothing more is written
}

// A division is one output of a dividedSink.
type division struct {
	*sink
	text []byte // not written yet
	open bool   // the last record has no line end
}

// NewDivided returns a sink for a run that ends, which distributes the records over several
// outputs by their Stream.To. All outputs are published at the end, by PublishEmpty.
func NewDivided(cfg DividedConfig) (Tree, error) {
	if _, _, err := compress.ParseFormat(cfg.Compress, ""); err != nil {
		return nil, fmt.Errorf("file sink: %w", err)
	}
	return &dividedSink{cfg: cfg, blocks: newBlocks(), outs: map[string]*division{}}, nil
}

// Open implements [engine.Sink]. Submit opens each output when its first record arrives.
func (d *dividedSink) Open(context.Context) error { return nil }

// Caps implements [engine.Sink].
func (d *dividedSink) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

// Submit implements [engine.Sink]. It answers the ticket, then returns.
func (d *dividedSink) Submit(ctx context.Context, b *engine.Batch, t engine.Ticket) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = d.add(b, t.Stream())
	}
	if d.err != nil {
		t.Done(engine.Result{Err: d.err, Class: engine.Fatal})
	} else {
		t.Done(engine.Result{})
	}
	return nil
}

// add adds the records of a batch to the texts of their outputs. The caller holds mu.
func (d *dividedSink) add(b *engine.Batch, stream *engine.Stream) error {
	for i, r := range stream.Recs {
		one := engine.Stream{Bytes: stream.Bytes[r.Off:][:r.Len]}
		if stream.To[i] != math.MaxUint64 {
			o, err := d.output(d.cfg.PathOf(stream.To[i]))
			if err != nil {
				return err
			}
			d.put(o, b, &one)
			continue
		}
		if d.heads = append(d.heads, one.Bytes...); len(d.heads) > mostHeads {
			return errors.New("the headers and directives of the inputs are too long to be written to each output: use --to jsonl, tsv or urls")
		}
		for _, o := range d.outs {
			d.put(o, b, &one)
		}
	}
	if d.held > mostHeld || d.cfg.Unbuffered {
		return d.flush()
	}
	return nil
}

// put adds a record to the text of o.
func (d *dividedSink) put(o *division, b *engine.Batch, one *engine.Stream) {
	before := len(o.text)
	if o.open {
		o.text = append(o.text, '\n')
	}
	o.text = append(o.text, one.Bytes...)
	o.open = !endsRecord(b, one)
	d.held += len(o.text) - before
}

// output returns the output with the given path, or Other.
func (d *dividedSink) output(path string) (*division, error) {
	if o := d.outs[path]; o != nil {
		return o, nil
	}
	if len(d.outs) >= d.cfg.Most && path != d.cfg.Other {
		if !d.warned {
			d.warned = true
			d.cfg.Logger.Warn("too many outputs, writing the records of further hosts to one", "outputs", d.cfg.Most, "path", d.cfg.Other)
		}
		if path = d.cfg.Other; d.outs[path] != nil {
			return d.outs[path], nil
		}
	}
	if err := prepareFile(path); err != nil {
		return nil, err
	}
	c := d.cfg.Config
	c.Path, c.blocks = path, d.blocks
	format, level, err := c.formatOf()
	if err != nil {
		return nil, err
	}
	o := &division{sink: newSink(c, format, level), text: slices.Clone(d.heads)}
	o.open = len(d.heads) > 0 && d.heads[len(d.heads)-1] != '\n'
	d.held += len(o.text)
	d.outs[path] = o
	return o, o.Open(context.Background())
}

// paths returns the paths of the outputs, sorted.
func (d *dividedSink) paths() []string { return slices.Sorted(maps.Keys(d.outs)) }

// flush writes the texts. The outputs share their blocks, so each output
// returns its blocks before the next one starts.
func (d *dividedSink) flush() error {
	for _, path := range d.paths() {
		o := d.outs[path]
		for part := range slices.Chunk(o.text, compress.MemberSize(o.format)) {
			if err := o.write(nil, &engine.Stream{Bytes: part}); err != nil {
				return err
			}
		}
		o.text = nil
		o.mu.Lock()
		err := o.drain()
		o.mu.Unlock()
		if err != nil {
			return err
		}
	}
	d.held = 0
	return nil
}

// Barrier implements [engine.Sink]. It does not make anything durable, because Close
// does.
func (d *dividedSink) Barrier(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Close implements [engine.Sink]. It writes the texts unless the run was cut short.
func (d *dividedSink) Close(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	reported := d.err != nil // the answer to a batch contained the error
	if d.err = errors.Join(d.err, ctx.Err()); d.err == nil {
		d.err = d.flush()
	}
	for _, path := range d.paths() {
		d.err = errors.Join(d.err, d.outs[path].Close(ctx))
	}
	if reported {
		return nil
	}
	return d.err
}

// PublishEmpty implements [Tree]. It publishes all outputs, for any lanes.
func (d *dividedSink) PublishEmpty([]string) error {
	for _, path := range d.paths() {
		if d.err == nil {
			d.err = d.outs[path].Publish()
		}
	}
	return d.err
}

// Parts implements [Tree]. It aborts the outputs that are not published.
func (d *dividedSink) Parts() (parts []string) {
	for _, path := range d.paths() {
		name := d.outs[path].Part()
		_ = d.outs[path].Abort() // an earlier error is being reported
		if _, err := os.Lstat(name); name != "" && err == nil {
			parts = append(parts, name)
		}
	}
	return parts
}

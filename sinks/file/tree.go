package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/pipeline"
)

// A TreeConfig says where a [Tree] writes.
type TreeConfig struct {
	// Outputs are the paths of the outputs, by the name of the lane (the path of
	// the input) that each is of. Their folders are made as they are needed.
	Outputs map[string]string
	// Compress is gzip, zstd or none. Empty: each by the extension of its path.
	Compress string
	// Replace says that files that exist are replaced. Otherwise they are refused.
	Replace bool
	// Mode bounds the permissions of each file, together with those of its input:
	// see Config.
	Mode fs.FileMode
}

// publishers is how many outputs of a Tree are synced and named at a time: a sync
// waits for the disk, and many waits overlap.
const publishers = 8

// A Tree is a sink with an [Output] for each lane, for a run that ends. It needs
// pipeline.OrderInput: when a batch of another lane comes, the lane before is at
// its end, and its output is published while the next one is written.
//
//	lane in front      NAME.part, batches are appended
//	lane before        synced and renamed to NAME by one of the publishers
//
// An output whose lane did not come to its end stays NAME.part.
type Tree interface {
	pipeline.Sink
	pipeline.LanePacker

	// PublishEmpty makes an empty output for each of the lanes that has none: inputs
	// without a record. It is for after Close, and fails if anything did.
	PublishEmpty(lanes []string) error
	// Parts returns the paths of the outputs that are not whole. It is for after
	// Close.
	Parts() []string
}

// A treeSink is the Tree of [NewTree].
type treeSink struct {
	cfg TreeConfig

	mu   sync.Mutex
	lane *pipeline.Lane // in front
	out  Output         // of lane; nil: none was opened yet
	made map[string]bool

	slots   chan struct{}
	running sync.WaitGroup

	// Publishers hold this one alone: who holds mu may wait for them.
	failing sync.Mutex
	err     error    // of all that failed: nothing is published after the first
	parts   []string // outputs that are not whole
}

// NewTree returns the sink that cfg asks for. It looks at no file.
func NewTree(cfg TreeConfig) (Tree, error) {
	if _, err := compress.ParseFormat(cfg.Compress, ""); err != nil {
		return nil, fmt.Errorf("file sink: %w", err)
	}
	return &treeSink{cfg: cfg, made: map[string]bool{}, slots: make(chan struct{}, publishers)}, nil
}

// Open implements [pipeline.Sink]. Outputs are opened when their first batch
// comes.
func (t *treeSink) Open(context.Context) error { return nil }

// Caps implements [pipeline.Sink].
func (t *treeSink) Caps() pipeline.SinkCaps { return pipeline.SinkCaps{Ordered: true} }

// NewLanePack implements [pipeline.LanePacker].
func (t *treeSink) NewLanePack() (func(dst, src []byte, l *pipeline.Lane) []byte, error) {
	packs := map[compress.Format]compress.Pack{}
	for _, f := range []compress.Format{compress.Gzip, compress.Zstd} {
		pack, err := compress.NewPack(f, 0)
		if err != nil {
			return nil, err
		}
		packs[f] = pack
	}
	return func(dst, src []byte, l *pipeline.Lane) []byte {
		format, _ := compress.ParseFormat(t.cfg.Compress, t.cfg.Outputs[l.Name()]) // NewTree has checked it
		if pack := packs[format]; pack != nil {
			return pack(dst, src)
		}
		return dst
	}, nil
}

// NewPiecePack implements [pipeline.PiecePacker].
func (t *treeSink) NewPiecePack() (func(dst []byte, b *pipeline.Batch) []byte, error) {
	return pieces(0, func(b *pipeline.Batch) bool {
		format, _ := compress.ParseFormat(t.cfg.Compress, t.cfg.Outputs[b.Lane.Name()]) // NewTree has checked it
		return format == compress.Gzip
	})
}

// Submit implements [pipeline.Sink]. It answers before it returns. An error of a
// file is for good, as that of an [Output] is.
func (t *treeSink) Submit(ctx context.Context, b *pipeline.Batch, ticket pipeline.Ticket) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if b.Lane != t.lane {
		t.finishLane()
		t.lane = b.Lane
	}
	err := t.failed()
	if t.out == nil && err == nil && len(ticket.Stream().Bytes) > 0 {
		t.out, err = t.open(b.Lane.Name())
	}
	switch {
	case err != nil:
		ticket.Done(pipeline.Result{Err: err, Class: pipeline.Fatal})
	case t.out == nil:
		ticket.Done(pipeline.Result{}) // nothing to write, so far
	default:
		return t.out.Submit(ctx, b, ticket)
	}
	return nil
}

// open opens the output of a lane. The caller holds mu. An error is kept.
func (t *treeSink) open(lane string) (Output, error) {
	out, err := t.newOutput(lane)
	if err == nil {
		t.made[lane] = true
		err = out.Open(context.Background())
	}
	if err != nil {
		t.fail(err)
		return nil, err
	}
	return out, nil
}

func (t *treeSink) newOutput(lane string) (Output, error) {
	path, ok := t.cfg.Outputs[lane]
	if !ok {
		return nil, errors.New("file sink: a lane has no output")
	}
	if err := disk.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	if fi, err := os.Lstat(path); err == nil && !fi.Mode().IsRegular() { // nobody has named it, unlike the one of -o
		if err := disk.Check(path); err != nil {
			return nil, err
		}
	}
	return New(Config{Path: path, Compress: t.cfg.Compress, Replace: t.cfg.Replace, Inputs: []string{lane}, Mode: t.cfg.Mode})
}

// finishLane hands the output of the lane that was in front to a publisher, or
// leaves it as it is if the lane did not come to its end. The caller holds mu.
func (t *treeSink) finishLane() {
	lane, out := t.lane, t.out
	t.lane, t.out = nil, nil
	if lane == nil {
		return
	}
	whole := lane.Whole() && t.failed() == nil
	if out == nil && whole { // nothing came out of its records
		out, _ = t.open(lane.Name()) // which keeps its error
	}
	switch {
	case out == nil:
	case whole:
		t.slots <- struct{}{}
		t.running.Go(func() {
			t.publish(lane, out)
			<-t.slots
		})
	default:
		t.abandon(out)
	}
}

// publish makes out durable and gives it its name, without what its lane, if there is
// one, has withdrawn.
func (t *treeSink) publish(lane *pipeline.Lane, out Output) {
	err := out.Close(context.Background())
	if err == nil && lane != nil {
		err = out.Withdraw(lane)
	}
	if err == nil {
		err = out.Publish()
	}
	if err != nil {
		t.fail(err)
		t.abandon(out)
	}
}

// abandon gives an output up.
func (t *treeSink) abandon(out Output) {
	name := out.Part()
	_ = out.Abort() // it is not whole anyway
	if _, err := os.Lstat(name); name != "" && err == nil {
		t.failing.Lock()
		defer t.failing.Unlock()
		t.parts = append(t.parts, name)
	}
}

// fail keeps an error.
func (t *treeSink) fail(err error) {
	t.failing.Lock()
	defer t.failing.Unlock()
	t.err = errors.Join(t.err, err)
}

// failed returns all errors so far.
func (t *treeSink) failed() error {
	t.failing.Lock()
	defer t.failing.Unlock()
	return t.err
}

// Barrier implements [pipeline.Sink]. It says nothing about durability: a Tree
// syncs when it publishes.
func (t *treeSink) Barrier(context.Context) error {
	return t.failed()
}

// Close implements [pipeline.Sink]. It publishes the output of the last lane, if
// that came to its end, and waits for all publishers. It returns no error that
// Submit has given a batch.
func (t *treeSink) Close(context.Context) error {
	t.mu.Lock()
	told := t.failed() != nil
	t.finishLane()
	t.mu.Unlock()
	t.running.Wait()
	if told {
		return nil
	}
	return t.failed()
}

// PublishEmpty implements [Tree].
func (t *treeSink) PublishEmpty(lanes []string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, lane := range lanes {
		if t.made[lane] || t.failed() != nil {
			continue
		}
		if out, err := t.open(lane); err == nil {
			t.publish(nil, out)
		}
	}
	return t.failed()
}

// Parts implements [Tree].
func (t *treeSink) Parts() []string { return t.parts }

// refuseExisting returns ErrExists if something has that name, unless it is to be
// replaced.
func refuseExisting(path string, replace bool) error {
	if replace {
		return nil
	}
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !fi.Mode().IsRegular():
		return nil // a pipe or a device is written to as it is
	}
	return fmt.Errorf("%s: %w", path, ErrExists)
}

// Interface guards.
var (
	_ pipeline.Sink        = (*treeSink)(nil)
	_ pipeline.LanePacker  = (*treeSink)(nil)
	_ pipeline.PiecePacker = (*treeSink)(nil)
)

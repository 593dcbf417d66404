package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// A TreeConfig configures a [Tree].
type TreeConfig struct {
	// Outputs maps the name of a lane, which is the path of its input, to the
	// path of its output. The sink creates directories as needed.
	Outputs map[string]string
	// Objects is Config.Objects of each output.
	Objects *objects.Store
	// Compress is Config.Compress of each output.
	Compress string
	// NewEncoder, if not nil, is Config.NewEncoder of each output. It is also
	// given the name of the lane.
	NewEncoder func(lane string, w io.Writer) (Encoder, error)
	// Header is Config.Header of each output.
	Header []byte
	// BeforePublish, if not nil, is Config.BeforePublish of each output. It is also given
	// the name of the lane, and called from several goroutines.
	BeforePublish func(lane, part string) error
	// InPlace is Config.InPlace of each output.
	InPlace bool
	// Replace permits outputs to replace existing files. Otherwise the sink
	// fails if an output exists.
	Replace bool
	// Mode limits the permissions of each file, together with the permissions
	// of its input. See Config.
	Mode fs.FileMode
}

// publishers is the number of outputs that a Tree syncs and renames
// concurrently. Each sync waits for the disk, and several waits can overlap.
const publishers = 8

// A Tree is a sink with one [Output] per lane, for a run that ends. It requires
// engine.OrderInput. When the first batch of another lane arrives, the previous
// lane has ended, and its output is published while the next output is written.
//
//	lane in front      NAME.part, batches are appended
//	previous lane      a publisher syncs it and renames it to NAME
//
// The output of a lane whose input did not end remains NAME.part.
type Tree interface {
	engine.Sink

	// PublishEmpty publishes an empty output for each of the given lanes that
	// lacks one, because its input is without records. Call it after Close. It
	// fails if any output has failed.
	PublishEmpty(lanes []string) error
	// Parts returns the paths of the incomplete outputs. Call it after Close.
	Parts() []string
}

// A treeSink is the Tree that [NewTree] returns.
type treeSink struct {
	cfg    TreeConfig
	blocks blocks // blocks of all outputs

	mu   sync.Mutex
	lane *engine.Lane // lane in front
	out  Output       // output of lane; nil until it is opened
	made map[string]bool

	slots   chan struct{}
	running sync.WaitGroup

	// Publishers lock only this mutex, so the holder of mu may wait for them.
	failing sync.Mutex
	err     error    // all errors, joined; after the first one nothing is published
	parts   []string // incomplete outputs
}

// NewTree returns a sink with the given configuration. It does not access any
// file.
func NewTree(cfg TreeConfig) (Tree, error) {
	if _, _, err := compress.ParseFormat(cfg.Compress, ""); err != nil {
		return nil, fmt.Errorf("file sink: %w", err)
	}
	return &treeSink{cfg: cfg, blocks: newBlocks(), made: map[string]bool{}, slots: make(chan struct{}, publishers)}, nil
}

// Open implements [engine.Sink]. Submit opens each output when its first
// batch arrives.
func (t *treeSink) Open(context.Context) error { return nil }

// Caps implements [engine.Sink].
func (t *treeSink) Caps() engine.SinkCaps { return engine.SinkCaps{Ordered: true} }

// Submit implements [engine.Sink]. It answers the ticket, then returns. As with
// an [Output], an error of a file is fatal.
func (t *treeSink) Submit(ctx context.Context, b *engine.Batch, ticket engine.Ticket) error {
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
		ticket.Done(engine.Result{Err: err, Class: engine.Fatal})
	case t.out == nil:
		ticket.Done(engine.Result{}) // nothing to write yet
	default:
		return t.out.Submit(ctx, b, ticket)
	}
	return nil
}

// open opens the output of a lane and records an error in t.err. The caller
// holds mu.
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
		return nil, errors.New("file sink: no output configured for the lane")
	}
	if t.cfg.Objects == nil || !objects.Is(path) {
		if err := prepareFile(path); err != nil {
			return nil, err
		}
	}
	c := Config{
		Path: path, Objects: t.cfg.Objects, Compress: t.cfg.Compress, Replace: t.cfg.Replace, Inputs: []string{lane}, Mode: t.cfg.Mode, Header: t.cfg.Header,
		InPlace: t.cfg.InPlace, blocks: t.blocks,
	}
	if t.cfg.BeforePublish != nil {
		c.BeforePublish = func(part string) error { return t.cfg.BeforePublish(lane, part) }
	}
	if t.cfg.NewEncoder != nil {
		c.NewEncoder = func(w io.Writer) (Encoder, error) { return t.cfg.NewEncoder(lane, w) }
	}
	return New(c)
}

// prepareFile creates the folder of an output, and refuses a path that must not be
// written: unlike with -o, the user has not named it explicitly.
func prepareFile(path string) error {
	if err := disk.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	if fi, err := os.Lstat(path); err == nil && !fi.Mode().IsRegular() {
		return disk.Check(path)
	}
	return nil
}

// finishLane passes the output of the lane in front to a publisher, or abandons
// it if the lane was not read to the end. The caller holds mu.
func (t *treeSink) finishLane() {
	lane, out := t.lane, t.out
	t.lane, t.out = nil, nil
	if lane == nil {
		return
	}
	whole := lane.Whole() && t.failed() == nil
	if out == nil && whole { // no record of the lane had output
		out, _ = t.open(lane.Name()) // open records the error
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

// publish removes the records that lane, if not nil, has withdrawn from out,
// makes out durable and renames it to its final name.
func (t *treeSink) publish(lane *engine.Lane, out Output) {
	err := out.Close(context.Background())
	if err == nil && lane != nil {
		err = out.Withdraw(lane)
	}
	if err == nil {
		err = out.Publish()
	}
	if err != nil && !errors.Is(err, ErrKeep) {
		t.fail(err)
		t.abandon(out)
	}
}

// abandon gives up an output.
func (t *treeSink) abandon(out Output) {
	name := out.Part()
	_ = out.Abort() // it is incomplete anyway
	if _, err := os.Lstat(name); name != "" && err == nil {
		t.failing.Lock()
		defer t.failing.Unlock()
		t.parts = append(t.parts, name)
	}
}

// fail records an error.
func (t *treeSink) fail(err error) {
	t.failing.Lock()
	defer t.failing.Unlock()
	t.err = errors.Join(t.err, err)
}

// failed returns all errors, joined.
func (t *treeSink) failed() error {
	t.failing.Lock()
	defer t.failing.Unlock()
	return t.err
}

// Barrier implements [engine.Sink]. It does not make anything durable,
// because a Tree syncs when it publishes.
func (t *treeSink) Barrier(context.Context) error {
	return t.failed()
}

// Close implements [engine.Sink]. It publishes the output of the last lane, if
// the lane was read to the end, and waits for all publishers. It does not
// return errors that Submit has already reported.
func (t *treeSink) Close(context.Context) error {
	t.mu.Lock()
	failed := t.failed() != nil
	t.finishLane()
	t.mu.Unlock()
	t.running.Wait()
	if failed {
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

// refuseExisting returns ErrExists if path is an existing regular file, unless
// replace is set.
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
		return nil // a pipe or a device is written to directly
	}
	return fmt.Errorf("%s: %w", path, ErrExists)
}

package file

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/urlfold/urlfold/pipeline/engine"
)

// A framer is an Encoder that writes brackets around its batches.
type framer struct {
	w   io.Writer
	bad error // of the next Append
}

func (f *framer) Append(_ *engine.Batch, s *engine.Stream) error {
	if f.bad != nil {
		return f.bad
	}
	_, err := f.w.Write(append([]byte("["), s.Bytes...))
	return err
}

func (f *framer) Close() error {
	_, err := f.w.Write([]byte("]"))
	return err
}

// framed returns a configuration with a framer.
func framed(path string, bad error) Config {
	return Config{Path: path, NewEncoder: func(w io.Writer) (Encoder, error) { return &framer{w, bad}, nil }}
}

func TestEncoder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.gz") // the extension does not make it compressed
	out := open(t, framed(path, nil))
	submit(t, out, "a\n")
	submit(t, out, "b")
	must(t, out.Close(ctx))
	must(t, out.Publish())
	if got := content(t, path); got != "[a\n[b]" || ls(t, dir) != "out.gz" {
		t.Errorf("%q, %s", got, ls(t, dir))
	}
}

// TestEncoderEmpty checks that an output without batches has its end.
func TestEncoderEmpty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	out := open(t, framed(path, nil))
	must(t, out.Close(ctx))
	must(t, out.Publish())
	if got := content(t, path); got != "]" {
		t.Errorf("%q", got)
	}
}

// TestEncoderAborted checks that a run that fails or is interrupted leaves
// neither the output nor a part of it, whose end is missing.
func TestEncoderAborted(t *testing.T) {
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	for _, closing := range []context.Context{ctx, canceled} {
		dir := t.TempDir()
		out := open(t, framed(filepath.Join(dir, "out"), nil))
		submit(t, out, "a\n")
		must(t, out.Close(closing))
		must(t, out.Abort())
		if ls(t, dir) != "" {
			t.Errorf("left %s", ls(t, dir))
		}
	}
}

// TestEncoderError checks that an error of the encoder ends the run and that
// nothing is published.
func TestEncoderError(t *testing.T) {
	dir, bad := t.TempDir(), errors.New("malformed row")
	out := open(t, framed(filepath.Join(dir, "out"), bad))
	if r := submit(t, out, "a\n"); !errors.Is(r.Err, bad) || r.Class != engine.Fatal {
		t.Errorf("%+v", r)
	}
	if r := submit(t, out, "b\n"); !errors.Is(r.Err, bad) {
		t.Errorf("%+v", r)
	}
	must(t, out.Close(ctx)) // the answer to the batch had the error
	if err := out.Publish(); !errors.Is(err, bad) {
		t.Errorf("%v", err)
	}
	if ls(t, dir) != "" {
		t.Errorf("left %s", ls(t, dir))
	}
}

// TestTreeEncoder checks that each output of a tree has its own encoder.
func TestTreeEncoder(t *testing.T) {
	dir := t.TempDir()
	tree, err := NewTree(TreeConfig{
		Outputs:    map[string]string{"in": filepath.Join(dir, "out"), "none": filepath.Join(dir, "none")},
		NewEncoder: func(_ string, w io.Writer) (Encoder, error) { return &framer{w: w}, nil },
	})
	must(t, err)
	must(t, tree.Open(ctx))
	must(t, tree.PublishEmpty([]string{"none"}))
	if got := content(t, filepath.Join(dir, "none")); got != "]" {
		t.Errorf("%q", got)
	}
	must(t, tree.Close(ctx))
}

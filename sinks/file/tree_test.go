package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/pipeline/engine"
	source "github.com/urlfold/urlfold/sources/file"
)

// TestExists: an existing output is refused at Open, and also at Publish if it
// was created in the meantime, unless Replace is set.
func TestExists(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	out := open(t, Config{Path: path})
	submit(t, out, "a\n")
	must(t, out.Close(ctx))
	must(t, os.WriteFile(path, []byte("late"), 0o600))
	if err := out.Publish(); !errors.Is(err, ErrExists) || content(t, path) != "late" {
		t.Errorf("a file created during the run: %v, %q", err, content(t, path))
	}
	if got := content(t, path+".part"); got != "a\n" {
		t.Errorf("the part contains %q", got)
	}
	second, err := New(Config{Path: path})
	must(t, err)
	if err := second.Open(ctx); !errors.Is(err, ErrExists) {
		t.Errorf("Open: %v", err)
	}
}

// A treeRun is a run of a pipeline from files to a Tree.
type treeRun struct {
	in, out string
	outputs map[string]string // by input
}

func newTreeRun(t *testing.T) *treeRun {
	t.Helper()
	return &treeRun{in: t.TempDir(), out: t.TempDir(), outputs: map[string]string{}}
}

// input writes an input, whose output is name in the output directory.
func (r *treeRun) input(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(r.in, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	r.outputs[path] = filepath.Join(r.out, name)
}

// run moves all inputs into tree, and returns the error of the pipeline.
func (r *treeRun) run(t *testing.T, tree Tree) error {
	t.Helper()
	p, err := codec.Lookup("equiv")
	if err != nil {
		t.Fatal("no profile")
	}
	norm, err := codec.New(p)
	must(t, err)
	job, err := record.New(record.Config{Format: "lines", Normalizer: norm})
	must(t, err)
	src, err := source.New(source.Config{Paths: []string{r.in}, Framing: job.Framing(), Parallel: 4})
	must(t, err)
	pipe, err := engine.New(engine.Options{
		Sources: []engine.Source{src}, Sinks: []engine.Sink{tree},
		NewCodec: engine.NewRecordCodec(job), Workers: 4, Ordering: engine.OrderInput,
	})
	must(t, err)
	return pipe.Run(context.Background())
}

// read returns the decompressed text of an output.
func (r *treeRun) read(t *testing.T, name string) string {
	t.Helper()
	zr := compress.NewReader(strings.NewReader(content(t, filepath.Join(r.out, name))), compress.Options{Name: name})
	defer zr.Close()
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := zr.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			break
		}
	}
	if v := zr.Verdict(); v.Kind != compress.OK {
		t.Errorf("%s: %v", name, v)
	}
	return b.String()
}

// TestTree: every input, even an empty one, has a complete output, compressed
// according to its name.
func TestTree(t *testing.T) {
	r := newTreeRun(t)
	want := map[string]string{"empty.gz.txt": ""}
	r.input(t, "empty.gz.txt", "")
	for i := range 60 {
		name := fmt.Sprintf("d%d/%d.log", i%3, i)
		text := strings.Repeat(fmt.Sprintf("http://h/%d\n", i), 1+i*200)
		r.input(t, name, text)
		if i%3 > 0 {
			name = fmt.Sprintf("d%d/%d.log%s", i%3, i, []string{"", ".gz", ".zst"}[i%3])
			r.outputs[filepath.Join(r.in, strings.TrimSuffix(name, filepath.Ext(name)))] = filepath.Join(r.out, name)
		}
		want[name] = text
	}
	tree, err := NewTree(TreeConfig{Outputs: r.outputs})
	must(t, err)
	must(t, r.run(t, tree))
	must(t, tree.PublishEmpty([]string{filepath.Join(r.in, "empty.gz.txt")}))
	for name, text := range want {
		if got := r.read(t, name); got != text {
			t.Errorf("%s has %d bytes of %d", name, len(got), len(text))
		}
	}
	if len(tree.Parts()) > 0 {
		t.Errorf("left over: %q", tree.Parts())
	}
}

// TestTreeFails: an output that cannot be published ends the run. The outputs
// before it are complete, and no final name refers to an incomplete file. All
// publishers may fail concurrently.
func TestTreeFails(t *testing.T) {
	r := newTreeRun(t)
	for i := range 40 {
		r.input(t, fmt.Sprintf("%02d", i), strings.Repeat("http://h/\n", 30_000))
	}
	for i := 5; i < 40; i++ {
		must(t, os.WriteFile(filepath.Join(r.out, fmt.Sprintf("%02d", i)), []byte("mine"), 0o600))
	}
	tree, err := NewTree(TreeConfig{Outputs: r.outputs})
	must(t, err)
	if err := r.run(t, tree); !errors.Is(err, ErrExists) {
		t.Errorf("the run ends with %v", err)
	}
	for i := range 40 {
		name := fmt.Sprintf("%02d", i)
		if i >= 5 {
			if got := content(t, filepath.Join(r.out, name)); got != "mine" {
				t.Errorf("%s is replaced by %d bytes", name, len(got))
			}
		} else if got := len(r.read(t, name)); got != 300_000 {
			t.Errorf("%s has %d bytes", name, got)
		}
	}
	if err := tree.PublishEmpty([]string{"x"}); err == nil {
		t.Error("PublishEmpty after a failure succeeds")
	}
}

package file

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A modelFile is a file of the model with its text.
type modelFile struct {
	path string
	text []string
}

// A model predicts what must be emitted for files that are renamed, copied,
// compressed, appended to, rewritten and replaced between runs. The rules are
// those in "The identity of a file" in docs/design/files.md: each text is emitted
// once, whatever file holds it.
type model struct {
	t     *testing.T
	rnd   *rand.Rand
	dir   string
	files []*modelFile
	names int
	want  []string
}

func (m *model) path(ext string) string {
	m.names++
	return filepath.Join(m.dir, fmt.Sprintf("f%d%s", m.names, ext))
}

// fresh returns a new text that resembles all others, and adds it to the
// expected lines.
func (m *model) fresh() []string {
	m.names++
	text := alike(fmt.Sprintf("t%d", m.names))
	m.want = append(m.want, text...)
	return text
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// step performs one random operation on a file and returns its description.
func (m *model) step() string {
	if len(m.files) == 0 || m.rnd.IntN(4) == 0 {
		f := &modelFile{path: m.path(".log"), text: m.fresh()}
		put(m.t, f.path, strings.Join(f.text, ""))
		m.files = append(m.files, f)
		return "new " + f.path
	}
	f := m.files[m.rnd.IntN(len(m.files))]
	packed := strings.HasSuffix(f.path, ".gz")
	switch op := m.rnd.IntN(8); {
	case op == 0:
		to := m.path(filepath.Ext(f.path))
		m.must(os.Rename(f.path, to))
		f.path = to
		return "renamed to " + to
	case op == 1: // moved from another file system
		text, err := os.ReadFile(f.path)
		m.must(err)
		m.must(os.WriteFile(f.path+".tmp", text, 0o644))
		m.must(os.Rename(f.path+".tmp", f.path))
		return "copied " + f.path
	case op == 2 && !packed:
		to := f.path + ".gz"
		put(m.t, to, gz(m.t, strings.Join(f.text, "")))
		m.must(os.Remove(f.path))
		f.path = to
		return "compressed to " + to
	case op == 3 && !packed:
		m.names++
		more := numbered(fmt.Sprintf("more%d", m.names), 0, 3)
		put(m.t, f.path, strings.Join(more, ""))
		f.text, m.want = slices.Concat(f.text, more), append(m.want, more...)
		return "appended to " + f.path
	case op == 4 && !packed && len(f.text) == len(alike("")): // same size
		f.text = m.fresh()
		rewrite(m.t, f.path, strings.Join(f.text, ""))
		return "rewritten " + f.path
	case op == 5:
		f.text = m.fresh()
		content := strings.Join(f.text, "")
		if packed {
			content = gz(m.t, content)
		}
		m.must(os.WriteFile(f.path+".tmp", []byte(content), 0o644))
		m.must(os.Rename(f.path+".tmp", f.path))
		return "replaced " + f.path
	case op == 6 && !packed: // restarted, shorter than what was read
		m.names++
		f.text = numbered(fmt.Sprintf("short%d", m.names), 0, 5)
		m.want = append(m.want, f.text...)
		rewrite(m.t, f.path, strings.Join(f.text, ""))
		return "truncated " + f.path
	}
	m.must(os.Chtimes(f.path, time.Now(), time.Now()))
	return "touched " + f.path
}

// TestModel runs random sequences of operations by rotation and operators, with
// a run after each: every text is emitted once.
func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			m := &model{t: t, rnd: rand.New(rand.NewPCG(seed, 11)), dir: t.TempDir()}
			data, sink := t.TempDir(), &shelf{}
			var did []string
			for range 12 {
				did = append(did, m.step()) // one change between two runs, because a text that is replaced unread is lost
				set := batch(m.dir)
				set.Exclude = []string{"**/*.tmp"}
				start(t, data, set, sink, nil).wait()
				sink.checkCount(t, m.want)
				if t.Failed() {
					t.Fatalf("after:\n%s", strings.Join(did, "\n"))
				}
			}
		})
	}
}

package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// exactly is a batch with an output of every record exactly once.
const exactly = `version: 1
data_dir: state
admin: {listen: ""}
sources:
  - file: {from: lines, include: ["in/*.log"], mode: batch}
sinks:
  - file: {path: "out/{source.relpath}", exactly_once: true}
`

// TestStateLost: if the state is lost, the start ends with an error that
// says what was found, what would be doubled, and both ways out. With
// on_loss: reread, everything is read again.
func TestStateLost(t *testing.T) {
	damage := func() {
		names, _ := filepath.Glob("state/checkpoint*")
		for _, name := range names {
			put(t, name, strings.Repeat("damaged ", 40))
		}
	}
	elsewhere := strings.NewReplacer("in/*.log", "other/*.log").Replace(exactly)
	const ways = "set state.on_loss: reread"
	for _, c := range []struct {
		name, config string
		change       func()
		want         string // part of the error; empty: the run goes on
		doubled      bool
	}{
		{"intact", exactly, func() {}, "", false},
		{"all generations damaged", exactly, damage, "no stored version of the state is usable (cannot use checkpoint: ", false},
		{"all generations damaged, reread", exactly + "state: {on_loss: reread}\n", damage, "", true},
		{"one generation damaged", exactly, func() {
			put(t, "in/b.log", "http://h/2\n")
			if _, err := runText(t, exactly); err != nil {
				t.Fatal(err)
			}
			put(t, "state/checkpoint", "damaged")
		}, "", false},
		{"removed", exactly, func() { remove(t, "state") }, "data_dir DIR/state has no state: all inputs would be read from the beginning, and the records in 1 output with exactly_once, such as DIR/out/a.log, would be written again", false},
		{"removed, reread", exactly + "state: {on_loss: reread}\n", func() { remove(t, "state") }, "", true},
		{"removed with the outputs", exactly, func() { remove(t, "state"); remove(t, "out") }, "", false},
		{"removed, another delivery", strings.Replace(exactly, ", exactly_once: true", "", 1), func() { remove(t, "state") }, "", true},
		{"of another configuration", elsewhere, func() { put(t, "other/a.log", "http://h/2\n") }, "has positions of other files, such as DIR/in/a.log, and of no file of this configuration", false},
		{"restored from a backup", exactly, func() {
			remove(t, "state")
			if err := os.CopyFS("state", os.DirFS("backup")); err != nil {
				t.Fatal(err)
			}
		}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			want := strings.ReplaceAll(c.want, "DIR", dir)
			put(t, "in/a.log", "http://h/1\n")
			if _, err := runText(t, exactly); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS("backup", os.DirFS("state")); err != nil {
				t.Fatal(err)
			}
			c.change()
			before, _ := os.ReadDir("out")
			log, err := runText(t, c.config)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
			} else if !errors.As(err, new(*StateError)) || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), ways+" to read all inputs again") {
				t.Errorf("error %v", err)
			}
			after, _ := os.ReadDir("out")
			if doubled := len(before) > 0 && len(after) > len(before); doubled != c.doubled {
				t.Errorf("%d outputs, then %d\n%s", len(before), len(after), log)
			}
			if c.doubled && c.want == "" && strings.Contains(c.name, "damaged") && !strings.Contains(log, "level=ERROR msg=\"checkpoint damaged\"") {
				t.Errorf("logged:\n%s", log)
			}
		})
	}
}

// TestStateElsewhere: the working directory has no part in the state. A folder that is
// moved is another one, until it is moved back.
func TestStateElsewhere(t *testing.T) {
	dir := t.TempDir()
	conf := filepath.Join(dir, "conf")
	put(t, filepath.Join(conf, "in/a.log"), "http://h/1\n")
	put(t, filepath.Join(conf, "c.yaml"), exactly)
	run := func(name string) error {
		_, err := runFile(t, name)
		if list, _ := os.ReadDir(filepath.Join(filepath.Dir(name), "out")); len(list) != 1 {
			t.Errorf("%s: %d outputs", name, len(list))
		}
		return err
	}
	for _, start := range []struct{ dir, name string }{
		{conf, "c.yaml"}, {dir, "conf/c.yaml"}, {filepath.Join(conf, "in"), "../c.yaml"}, {conf, "c.yaml"}, {"/", filepath.Join(conf, "c.yaml")},
	} {
		t.Chdir(start.dir)
		if err := run(start.name); err != nil {
			t.Errorf("%s in %s: %v", start.name, start.dir, err)
		}
	}
	t.Chdir(dir)
	move := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move("conf", "moved")
	want := "such as " + filepath.Join(conf, "in/a.log") + ", and of no file of this configuration (if a folder was moved, move it back)"
	if err := run("moved/c.yaml"); !errors.As(err, new(*StateError)) || !strings.Contains(err.Error(), want) {
		t.Errorf("moved: %v", err)
	}
	move("moved", "conf")
	if err := run("conf/c.yaml"); err != nil {
		t.Errorf("moved back: %v", err)
	}
}

// TestStateShards: four shards that write to one folder, each with a state of its own,
// start in any order. One that has lost its state stops if its own files were written
// before, and starts if only the outputs of other shards exist.
func TestStateShards(t *testing.T) {
	for name, path := range map[string]string{"by path": "out/{source.relpath}", "by lane": "out/{source.name}/{lane}-{seq}.log"} {
		config := strings.Replace(exactly, "out/{source.relpath}", path, 1)
		t.Run(name, func(t *testing.T) {
			stateShards(t, config, func(key, text string) { put(t, key, text) }, "state1 has positions of other files")
		})
		t.Run("objects "+name, func(t *testing.T) {
			srv := s3test.New(t)
			config := strings.NewReplacer("- file: {from", "- s3: {from", "in/*.log", "s3://bucket/in/*.log").Replace(config)
			stateShards(t, config, func(key, text string) { srv.Put(key, []byte(text)) }, "")
		})
	}
}

// stateShards is TestStateShards with inputs that store stores. copied is the error of a
// shard that has the state of another one.
func stateShards(t *testing.T, config string, store func(key, text string), copied string) {
	t.Chdir(t.TempDir())
	for i := range 12 {
		store(fmt.Sprintf("in/%c.log", 'a'+i), fmt.Sprintf("http://h/%d\n", i))
	}
	run := func(i int, more string, outputs int, want string) {
		t.Helper()
		own := fmt.Sprint(i)
		_, err := runText(t, strings.NewReplacer("data_dir: state", "data_dir: state"+own, "mode: batch", "mode: batch, shard: "+own+"/4").Replace(config)+more)
		if want == "" && err != nil || want != "" && (!errors.As(err, new(*StateError)) || !strings.Contains(err.Error(), want)) {
			t.Errorf("shard %d: %v", i, err)
		}
		if list := outputsIn(t, "out"); outputs > 0 && len(list) != outputs {
			t.Errorf("shard %d: %d outputs: %q", i, len(list), list)
		}
	}
	run(2, "", 0, "")
	run(0, "", 0, "")
	run(3, "", 0, "")
	before := len(outputsIn(t, "out"))
	run(1, "", 12, "")
	own := 12 - before
	run(1, "", 12, "")
	if err := os.Rename("state1", "kept"); err != nil {
		t.Fatal(err)
	}
	run(1, "", 12, fmt.Sprintf("state1 has no state: all inputs would be read from the beginning, and the records in %d outputs with exactly_once", own))
	if remove(t, "state1"); copied != "" {
		if err := os.CopyFS("state1", os.DirFS("state0")); err != nil {
			t.Fatal(err)
		}
		run(1, "", 12, copied)
	}
	run(1, "state: {on_loss: reread}\n", 12+own, "")
}

// TestStateShared: shards whose outputs cannot be told apart do not start where an output
// exists that may be their own.
func TestStateShared(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "in/a.log", "http://h/1\n")
	put(t, "in/b.log", "http://h/2\n")
	put(t, "out/day-0001.log", "http://h/1\n")
	for _, i := range []string{"0", "1"} {
		text := strings.NewReplacer("{source.relpath}", "day-{seq}.log", "data_dir: state", "data_dir: state"+i, "mode: batch", "mode: batch, shard: "+i+"/2").Replace(exactly)
		if _, err := runText(t, text); !errors.As(err, new(*StateError)) {
			t.Errorf("shard %s: %v", i, err)
		}
	}
}

// outputsIn returns the files below dir.
func outputsIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	return list
}

// runText runs a configuration to the end of its input.
func runText(t *testing.T, text string) (log string, err error) {
	t.Helper()
	put(t, "c.yaml", text)
	return runFile(t, "c.yaml")
}

// runFile is runText for a configuration in a file.
func runFile(t *testing.T, name string) (log string, err error) {
	t.Helper()
	cat := testCatalog(t)
	f, err := cat.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	d, err := cat.New(f, Options{Log: &b, UntilEOF: true, Load: func() (*config.File, error) { return f, nil }})
	if err != nil {
		return b.String(), err
	}
	err = d.Run(t.Context())
	return b.String(), err
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
}

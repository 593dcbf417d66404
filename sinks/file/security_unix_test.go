//go:build unix

package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/internal/storage/fault"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// victim is the content of a file that no output may modify.
const victim = "somebody else's\n"

// traps are objects that an attacker puts in the place of an output. Each
// function returns the path of the victim.
var traps = map[string]func(t *testing.T, path string) (reason string){
	"symbolic link": func(t *testing.T, path string) string {
		must(t, os.Symlink(victimOf(t, path), path))
		return "symbolic link"
	},
	"link to nothing": func(t *testing.T, path string) string {
		must(t, os.Symlink(victimOf(t, path)+".none", path))
		return "symbolic link"
	},
	"hard link": func(t *testing.T, path string) string {
		must(t, os.Link(victimOf(t, path), path))
		return "2 hard links"
	},
	"pipe": func(t *testing.T, path string) string {
		victimOf(t, path)
		must(t, syscall.Mkfifo(path, 0o644))
		return "a pipe"
	},
	"directory": func(t *testing.T, path string) string {
		victimOf(t, path)
		must(t, os.Mkdir(path, 0o755))
		return "a directory"
	},
}

func victimOf(t *testing.T, path string) string {
	name := filepath.Join(filepath.Dir(path), "victim")
	must(t, os.WriteFile(name, []byte(victim), 0o644))
	return name
}

// refused checks that err names path and the reason, and that the victim is
// intact.
func refused(t *testing.T, err error, path, reason string) {
	t.Helper()
	if !errors.Is(err, disk.ErrRefused) || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v, want one that names %s and says: %s", err, path, reason)
	}
	if got := content(t, filepath.Join(filepath.Dir(path), "victim")); got != victim {
		t.Errorf("the victim holds %q", got)
	}
}

// TestTraps: the sink does not write through a link, or to a file that is not
// regular.
func TestTraps(t *testing.T) {
	for name, trap := range traps {
		t.Run(name, func(t *testing.T) {
			t.Run("one-shot", func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "out.part")
				reason := trap(t, path)
				out, err := New(Config{Path: strings.TrimSuffix(path, ".part")})
				must(t, err)
				refused(t, out.Open(ctx), path, reason)
			})
			t.Run("growing", func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "out")
				reason := trap(t, path)
				refused(t, openErr(t, path), path, reason)
			})
			t.Run("rotated", func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "out-0001.log.part")
				reason := trap(t, path)
				refused(t, openErr(t, filepath.Join(filepath.Dir(path), "out-{seq}.log")), path, reason)
			})
			t.Run("of a lane", func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.part")
				reason := trap(t, path)
				out := openLog(t, config(filepath.Join(filepath.Dir(path), "{source.relpath}")), "")
				refused(t, submitFatal(t, out, laneOfRel("a")), path, reason)
			})
			t.Run("connect", func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "out-0001.log.part")
				reason := trap(t, path)
				out, err := makeLog(config(filepath.Join(filepath.Dir(path), "out-{seq}.log")))
				must(t, err)
				if reason == "a directory" {
					return // the template produces no file of that name
				}
				refused(t, inner(out).CheckConnect(ctx), path, reason)
			})
		})
	}
}

func openErr(t *testing.T, path string) error {
	t.Helper()
	cfg := config(path)
	out, err := makeLog(cfg)
	must(t, err)
	if err := inner(out).CheckConnect(ctx); err == nil && !strings.Contains(path, "{") {
		t.Error("check --connect does not find the problem")
	}
	err = out.Open(ctx)
	_ = out.Close(ctx)
	return err
}

// submitFatal submits a batch that must end the run, and returns the error.
func submitFatal(t *testing.T, out openedLog, l *engine.Lane) error {
	t.Helper()
	b := &engine.Batch{Lane: l}
	b.Out.Bytes = []byte("x\n")
	answered := make(chan engine.Result, 1)
	must(t, out.Submit(ctx, b, engine.NewTicket(&b.Out, func(r engine.Result) { answered <- r })))
	select {
	case r := <-answered:
		if r.Class != engine.Fatal {
			t.Errorf("class %v", r.Class)
		}
		return r.Err
	case <-time.After(time.Minute):
		t.Fatal("no answer: the batch is retried")
	}
	return nil
}

// TestLastingErrors: a system error that no retry can fix ends the run,
// wherever it occurs.
func TestLastingErrors(t *testing.T) {
	for _, errno := range []error{syscall.EPIPE, syscall.ESPIPE, syscall.EINVAL} {
		for _, point := range []string{"file.before_create", "file.before_write", "file.before_sync"} {
			out, err := makeLog(config(filepath.Join(t.TempDir(), "out")))
			must(t, err)
			inner(out).files.at = func(p string) error {
				if p == point {
					return errno
				}
				return fault.At(p)
			}
			must(t, out.Open(ctx))
			if err := submitFatal(t, out, nil); !errors.Is(err, errno) {
				t.Errorf("%v at %s: %v", errno, point, err)
			}
			must(t, out.Close(ctx))
		}
	}
}

// TestForeign: in a directory where everybody may create files, the sink does
// not take over a file of another user, who could read everything written to
// it.
func TestForeign(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can create a file of another user")
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o1777))
	name := filepath.Join(dir, "out")
	must(t, os.WriteFile(name, []byte("bait\n"), 0o666))
	must(t, os.Chown(name, 12345, 12345))
	out, err := makeLog(config(name))
	must(t, err)
	if err := out.Open(ctx); !errors.Is(err, disk.ErrRefused) {
		t.Errorf("a file of another user: %v", err)
	}
	must(t, os.Chmod(dir, 0o755))
	out = openLog(t, config(name), "")
	w := newWriter(t, out)
	w.write(nil, "more\n")
	w.barrier()
	must(t, out.Close(ctx))
	wantTree(t, dir, `out="bait\nmore\n"`)
}

// TestFolderLinks: links among the directories of an output path are followed.
func TestFolderLinks(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o755))
	must(t, os.Symlink("real", filepath.Join(dir, "link")))
	out := openLog(t, config(filepath.Join(dir, "link", "out")), "")
	w := newWriter(t, out)
	w.write(nil, "x\n")
	w.barrier()
	must(t, out.Close(ctx))
	if got := content(t, filepath.Join(dir, "real", "out")); got != "x\n" {
		t.Errorf("%q", got)
	}
}

// TestMergeAside: a process that died while it set a damaged output aside has
// left the file with two names. The next process repeats the steps.
func TestMergeAside(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out-0001.log.gz.part")
	text := packedWith(t, 2, "a\n") + "\x1f\x8bnot a member, and no torn one either" + packedWith(t, 2, "b\n")
	must(t, os.WriteFile(name, []byte(text), 0o644))
	must(t, os.Link(name, filepath.Join(dir, "out-0001.log.gz.part.damaged")))
	out := openLog(t, config(filepath.Join(dir, "out-{seq}.log.gz")), "")
	must(t, out.Close(ctx))
	if _, err := os.Lstat(filepath.Join(dir, "out-0001.log.gz")); err != nil {
		t.Error(err)
	}
}

// withUmask sets the umask for a test.
func withUmask(t *testing.T, mask int) {
	before := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(before) })
}

// laneWithPerm returns a lane whose input has the given permissions.
func laneWithPerm(rel string, perm fs.FileMode) *engine.Lane {
	l := laneOfRel(rel)
	l.SetPerm(perm)
	return l
}

func wantPerm(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	fi, err := os.Stat(path)
	must(t, err)
	if got := fi.Mode().Perm(); got != want {
		t.Errorf("%s has the permissions %v, want %v", filepath.Base(path), got, want)
	}
}

// TestLogMode: an output of a log has the permissions that all of its inputs
// have and the configuration allows, less the umask.
func TestLogMode(t *testing.T) {
	for _, c := range []struct {
		name   string
		umask  int
		mode   Permissions
		inputs []fs.FileMode // 0: the input is not a file
		want   fs.FileMode
	}{
		{"of the input", 0, 0o644, []fs.FileMode{0o640}, 0o640},
		{"of the configuration", 0, 0o600, []fs.FileMode{0o644}, 0o600},
		{"of both", 0, 0o660, []fs.FileMode{0o644}, 0o640},
		{"of all inputs", 0, 0o666, []fs.FileMode{0o666, 0o646, 0o660}, 0o640},
		{"the strictest last", 0, 0o644, []fs.FileMode{0o644, 0o644, 0o600}, 0o600},
		{"of a broker", 0, 0o644, []fs.FileMode{0}, 0o640},
		{"of a broker and a file", 0, 0o644, []fs.FileMode{0, 0o604}, 0o600},
		{"less the umask", 0o027, 0o666, []fs.FileMode{0o666}, 0o640},
		{"a umask is never undone", 0o077, 0o666, []fs.FileMode{0o666, 0o664}, 0o600},
		{"the owner can always continue", 0, 0o644, []fs.FileMode{0o444}, 0o644},
		{"no execution", 0, 0o644, []fs.FileMode{0o755}, 0o644},
	} {
		t.Run(c.name, func(t *testing.T) {
			withUmask(t, c.umask)
			path := filepath.Join(t.TempDir(), "out")
			cfg := config(path)
			cfg.Mode = c.mode
			out := openLog(t, cfg, "")
			w := newWriter(t, out)
			for i, perm := range c.inputs {
				l := laneOfRel(string(rune('a' + i)))
				if perm != 0 {
					l.SetPerm(perm)
				}
				w.write(l, "x\n")
			}
			w.barrier()
			must(t, out.Close(ctx))
			wantPerm(t, path, c.want)
		})
	}
}

// TestAdoptedMode: the permissions of an output that another process has left
// are narrowed when it is continued, and never widened.
func TestAdoptedMode(t *testing.T) {
	withUmask(t, 0)
	for was, want := range map[fs.FileMode]fs.FileMode{0o666: 0o640, 0o600: 0o600} {
		dir := t.TempDir()
		path := filepath.Join(dir, "out")
		must(t, os.WriteFile(path, []byte("x\n"), was))
		w := newWriter(t, openLog(t, config(path), ""))
		w.write(laneWithPerm("a", 0o640), "y\n")
		w.barrier()
		wantPerm(t, path, want)
		must(t, os.WriteFile(path+".l.part", []byte("x\n"), was))
		out := openLog(t, config(path+".{source.relpath}"), "")
		l := laneWithPerm("l", 0o640)
		w = newWriter(t, out)
		w.write(l, "y\n")
		w.barrier()
		must(t, finish(ctx, out, l))
		must(t, out.Close(ctx))
		wantPerm(t, path+".l", want)
	}
}

// TestLaneMode: the output of each lane has the lane's permissions, even
// without records.
func TestLaneMode(t *testing.T) {
	withUmask(t, 0)
	dir := t.TempDir()
	out := openLog(t, config(filepath.Join(dir, "{source.relpath}")), "")
	w := newWriter(t, out)
	secret, public, empty := laneWithPerm("secret", 0o600), laneWithPerm("public", 0o644), laneWithPerm("empty", 0o640)
	w.write(secret, "s\n")
	w.write(public, "p\n")
	w.barrier()
	for _, l := range []*engine.Lane{secret, public, empty} {
		must(t, finish(ctx, out, l))
	}
	wantPerm(t, filepath.Join(dir, "secret"), 0o600)
	wantPerm(t, filepath.Join(dir, "public"), 0o644)
	wantPerm(t, filepath.Join(dir, "empty"), 0o640)
}

// TestReplacedMode: a copy that replaces a file after a failed sync has the
// permissions of that file, whatever the current configuration says.
func TestReplacedMode(t *testing.T) {
	withUmask(t, 0)
	path := filepath.Join(t.TempDir(), "out")
	out := openLog(t, config(path), "file.before_sync=eio@2")
	w := newWriter(t, out)
	for range 3 {
		w.write(laneWithPerm("a", 0o600), "x\n")
		w.barrier()
	}
	must(t, out.Close(ctx))
	if inner(out).Stats().Retries == 0 {
		t.Error("nothing was replaced")
	}
	wantPerm(t, path, 0o600)
}

// TestOneShotMode: the same for an Output, which also keeps the permissions of
// the file that it replaces, as far as its inputs allow them.
func TestOneShotMode(t *testing.T) {
	for _, c := range []struct {
		name   string
		umask  int
		inputs []fs.FileMode
		bound  fs.FileMode
		old    fs.FileMode // permissions of the file that is replaced; 0: none
		want   fs.FileMode
	}{
		{"of the input", 0o022, []fs.FileMode{0o600}, 0, 0, 0o600},
		{"of all inputs", 0, []fs.FileMode{0o664, 0o646}, 0, 0, 0o644},
		{"less the umask", 0o027, []fs.FileMode{0o666}, 0, 0, 0o640},
		{"of a pipe", 0o022, nil, 0o640, 0, 0o640},
		{"of the replaced file", 0o022, []fs.FileMode{0o644}, 0, 0o600, 0o600},
		{"the umask does not apply to a replaced file", 0o077, []fs.FileMode{0o664}, 0, 0o664, 0o664},
		{"no more than the input", 0o022, []fs.FileMode{0o640}, 0, 0o644, 0o640},
	} {
		t.Run(c.name, func(t *testing.T) {
			withUmask(t, 0)
			dir := t.TempDir()
			cfg := Config{Path: filepath.Join(dir, "out"), Mode: c.bound, Replace: true}
			for i, perm := range c.inputs {
				name := filepath.Join(dir, string(rune('a'+i)))
				must(t, os.WriteFile(name, nil, perm))
				cfg.Inputs = append(cfg.Inputs, name)
			}
			if c.old != 0 {
				must(t, os.WriteFile(cfg.Path, nil, c.old))
			}
			must(t, os.WriteFile(cfg.Path+".part", []byte("of a run that died"), 0o666))
			withUmask(t, c.umask)
			out := open(t, cfg)
			wantPerm(t, cfg.Path+".part", c.want)
			submit(t, out, "x\n")
			must(t, out.Close(ctx))
			must(t, out.Publish())
			wantPerm(t, cfg.Path, c.want)
		})
	}
}

// TestPipeWithoutReader: an Output that waits for a reader of its pipe stops
// when its context is done.
func TestPipeWithoutReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(path, 0o600))
	out, err := New(Config{Path: path})
	must(t, err)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if err := out.Open(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open: %v", err)
	}
	must(t, out.Close(ctx))
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // lets the goroutine end
	must(t, err)
	must(t, f.Close())
}

// TestTreeSecurity: each output of a Tree has the permissions of its input, and
// a link in the place of an output is neither followed nor replaced.
func TestTreeSecurity(t *testing.T) {
	withUmask(t, 0o022)
	r := newTreeRun(t)
	r.input(t, "secret", "http://h/\n")
	r.input(t, "public", "http://h/\n")
	must(t, os.Chmod(filepath.Join(r.in, "public"), 0o644))
	tree, err := NewTree(TreeConfig{Outputs: r.outputs})
	must(t, err)
	must(t, r.run(t, tree))
	wantPerm(t, filepath.Join(r.out, "secret"), 0o600)
	wantPerm(t, filepath.Join(r.out, "public"), 0o644)
	path := filepath.Join(r.out, "secret")
	must(t, os.Remove(path))
	reason := traps["symbolic link"](t, path)
	tree, err = NewTree(TreeConfig{Outputs: r.outputs, Replace: true})
	must(t, err)
	refused(t, r.run(t, tree), path, reason)
}

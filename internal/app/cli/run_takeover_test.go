//go:build unix

package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// lanesTo is a configuration with a separate output for each input.
func lanesTo(sinks string) string {
	return strings.Replace(tailing, "  - file: {name: out, path: out.log}\n", sinks, 1)
}

// TestRunTakeover: with exactly_once, an unfinished output is continued by a
// sink that has another name or place than the sink that began it, and an
// unfinished output of a removed sink is finished. This holds after a
// restart and after a reload.
func TestRunTakeover(t *testing.T) {
	for _, restart := range []bool{true, false} {
		d := newRun(t, lanesTo(`  - file: {path: "out/{source.relpath}", exactly_once: true}`+"\n"))
		d.feed("http://a/1\n")
		d.start()
		d.until("the first record", func() bool { return d.length("out/in.log.part") == 11 })
		change := func(sinks string) {
			if restart {
				d.signal(syscall.SIGTERM)
				if code := d.wait(); code != 0 {
					t.Fatalf("exit code %d", code)
				}
			}
			d.configure(lanesTo(sinks))
			if restart {
				d.start()
			} else {
				before := strings.Count(d.log.String(), "msg=starting")
				d.signal(syscall.SIGHUP)
				d.logs("msg=starting", before+1)
			}
		}
		change(`  - file: {path: "more/{source.relpath}", exactly_once: true}
  - file: {path: "out/{source.relpath}", exactly_once: true}` + "\n")
		d.feed("http://a/2\n")
		d.has("out/in.log.part", "http://a/1\nhttp://a/2\n")
		d.has("more/in.log.part", "http://a/2\n")
		change(`  - file: {name: web, path: "out/{source.relpath}", exactly_once: true}` + "\n")
		d.has("more/in.log", "http://a/2\n")
		d.feed("http://a/3\n")
		d.has("out/in.log.part", "http://a/1\nhttp://a/2\nhttp://a/3\n")
		d.signal(syscall.SIGTERM)
		if code := d.wait(); code != 0 || strings.Contains(d.log.String(), "level=WARN") {
			t.Errorf("exit code %d\n%s", code, d.log)
		}
	}
}

// TestRunOtherGuarantee: what was written without exactly_once is kept when
// exactly_once is set, and the other way round.
func TestRunOtherGuarantee(t *testing.T) {
	sink := `  - file: {path: "out/{source.relpath}"}` + "\n"
	exactly := strings.Replace(sink, `"}`, `", exactly_once: true}`, 1)
	d := newRun(t, "")
	var lines []string
	for i, config := range []string{sink, exactly, exactly, sink, sink, exactly} {
		d.configure(lanesTo(config))
		line := "http://a/" + string(rune('1'+i)) + "\n"
		lines = append(lines, line)
		d.feed(line)
		d.start()
		d.until(line, func() bool { return strings.Contains(d.outputs(), line) })
		d.signal([]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[i%2])
		d.wait()
		for _, line := range lines {
			if n := strings.Count(d.outputs(), line); n == 0 || n > 1 && i < 3 { // a kill without exactly_once may double
				t.Errorf("after run %d: %q is there %d times", i+1, line, n)
			}
		}
	}
}

// length returns the length of a file, or 0.
func (d *daemonRun) length(name string) int64 {
	fi, err := os.Stat(filepath.Join(d.dir, filepath.FromSlash(name)))
	if err != nil {
		return 0
	}
	return fi.Size()
}

// outputs returns the texts of all outputs below "out".
func (d *daemonRun) outputs() string {
	names, _ := filepath.Glob(filepath.Join(d.dir, "out", "*")) // the pattern is sound
	var b strings.Builder
	for _, name := range names {
		text, _ := os.ReadFile(name) // a file that is being renamed is read at the next call
		b.Write(text)
	}
	return b.String()
}

// TestRunLostState: with exactly_once and a checkpoint that cannot be used, an output
// that grows ends with a whole record. If nothing is left of the checkpoint, the output
// may be anybody's file, and stays as it is.
func TestRunLostState(t *testing.T) {
	each := func(change func(data []byte) []byte) func(t *testing.T) {
		return func(t *testing.T) {
			names, err := filepath.Glob("state/checkpoint*")
			if len(names) == 0 || err != nil {
				t.Fatal(names, err)
			}
			for _, name := range names {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				write(t, name, string(change(data)))
			}
		}
	}
	flipped := func(data []byte) []byte { data[len(data)/4] ^= 1; return data }
	const torn = "torn output of a lost checkpoint"
	for name, way := range map[string]struct {
		damage func(t *testing.T)
		left   string
		logs   string
	}{
		"missing": {func(t *testing.T) {
			if err := os.RemoveAll("state"); err != nil {
				t.Fatal(err)
			}
		}, "http://h/a\nhttp://h/ha", "output exists, continuing under another name"},
		"snapshot missing": {func(t *testing.T) {
			for _, name := range []string{"checkpoint", "checkpoint.1"} {
				if err := os.Remove("state/" + name); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			}
		}, "http://h/a\n", torn},
		"truncated":   {each(func(data []byte) []byte { return data[:len(data)/4] }), "http://h/a\n", torn},
		"empty":       {each(func([]byte) []byte { return nil }), "http://h/a\n", torn},
		"old version": {each(func([]byte) []byte { return []byte(`{"version":1,"files":{}}` + "\n") }), "http://h/a\n", torn},
		"flipped":     {each(flipped), "http://h/a\n", torn},
	} {
		t.Run(name, func(t *testing.T) {
			config := strings.Replace(tailing, "path: out.log", "path: out.log, exactly_once: true", 1)
			d := newRun(t, config)
			t.Chdir(d.dir)
			d.start()
			d.feed("http://h/a\n")
			d.has("out.log", "http://h/a\n")
			d.signal(syscall.SIGKILL)
			d.wait()
			write(t, "out.log", "http://h/a\nhttp://h/ha")
			way.damage(t)
			d.start()
			if code := d.wait(); code != command.ExitConfig || !strings.Contains(d.log.String(), "state.on_loss: reread") {
				t.Fatalf("exit code %d", code)
			}
			d.configure(config + "state: {on_loss: reread}\n")
			d.start()
			d.feed("http://h/b\n")
			d.has("out-2.log", "http://h/a\nhttp://h/b\n")
			d.has("out.log", way.left)
			d.logs(way.logs, 1)
			d.signal(syscall.SIGTERM)
			if code := d.wait(); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

// TestPodLife plays the life of a pod with a volume for its state: the probes answer,
// SIGTERM in the middle of its work ends it in good order, the next pod goes on without
// a loss or a double, and one without the volume writes nothing and says why.
func TestPodLife(t *testing.T) {
	d := newRun(t, strings.Replace(tailing, "path: out.log", "path: out.log, exactly_once: true", 1))
	var all strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&all, "http://h/%d\n", i)
	}
	d.feed(all.String())
	stop := func() {
		t.Helper()
		d.until("ready", func() bool {
			live, _ := d.page("/livez")
			ready, _ := d.page("/readyz")
			return live == http.StatusOK && ready == http.StatusOK
		})
		d.signal(syscall.SIGTERM)
		if code := d.wait(); code != 0 || !strings.Contains(d.log.String(), "abandoned=0 unresolved=0") {
			t.Fatalf("exit code %d", code)
		}
	}
	d.start()
	stop()
	d.start()
	d.has("out.log", all.String())
	stop()
	if err := os.RemoveAll(filepath.Join(d.dir, "state")); err != nil {
		t.Fatal(err)
	}
	d.start()
	want := "data_dir " + d.dir + "/state has no state: all inputs would be read from the beginning, and the records in 1 output with exactly_once, such as " + d.dir + "/out.log, would be written again; restore the folder from a backup or move the outputs away, or set state.on_loss: reread"
	if code := d.wait(); code != command.ExitConfig || !strings.Contains(d.log.String(), want) {
		t.Errorf("exit code %d", code)
	}
	d.has("out.log", all.String())
}

//go:build unix

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urlfold/urlfold/internal/app/cli/command"
)

// filtering is a configuration that reads stdin and writes stdout.
const filtering = `version: 1
data_dir: state
admin: {listen: ""}
sources: [stdin: {from: lines}]
codec: {profile: equiv}
sinks: [stdout: {}]
`

// A filterRun is a run of filtering with pipes.
type filterRun struct {
	*daemonRun
	in  *os.File // writes to the process
	out *os.File // reads from it
}

func startFilter(t *testing.T, config string) *filterRun {
	t.Helper()
	d := newRun(t, config)
	f := &filterRun{daemonRun: d}
	d.stdin, f.in = pipePair(t)
	f.out, d.stdout = pipePair(t)
	d.start()
	for _, end := range []*os.File{d.stdin, d.stdout} {
		if err := end.Close(); err != nil { // the process has its own
			t.Fatal(err)
		}
	}
	return f
}

func pipePair(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// A run from stdin to stdout ends with its input, and writes nothing but records to
// stdout.
func TestRunFilter(t *testing.T) {
	f := startFilter(t, filtering)
	var want strings.Builder
	go func() {
		for i := range 20000 {
			_, _ = fmt.Fprintf(f.in, "http://Example.COM:80/%%7e%d\n", i)
		}
		_, _ = io.WriteString(f.in, "http://EXAMPLE.com/last") // without a line end
		_ = f.in.Close()
	}()
	for i := range 20000 {
		fmt.Fprintf(&want, "http://example.com/~%d\n", i)
	}
	want.WriteString("http://example.com/last\n")
	got, err := io.ReadAll(f.out)
	if err != nil {
		t.Fatal(err)
	}
	if c := f.wait(); c != command.ExitDone {
		t.Errorf("exit code %d", c)
	}
	if lines := strings.Count(string(got), "\n"); lines != 20001 || len(got) != want.Len() {
		t.Errorf("%d lines and %d bytes, want 20001 and %d", lines, len(got), want.Len())
	}
	if strings.Contains(string(got), "msg=") || !strings.Contains(f.log.String(), "msg=stopped") {
		t.Error("the log is on stdout, or there is none")
	}
}

// A record comes out while the input stays open.
func TestRunFilterLive(t *testing.T) {
	f := startFilter(t, filtering)
	for i := range 3 {
		line := fmt.Sprintf("http://example.com/%d\n", i)
		if _, err := io.WriteString(f.in, line); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		n, err := f.out.Read(buf)
		if string(buf[:n]) != line || err != nil {
			t.Errorf("%q, %v", buf[:n], err)
		}
	}
}

// A reader that goes away ends the run with exit code 0, as for any filter.
func TestRunFilterHead(t *testing.T) {
	f := startFilter(t, filtering)
	go func() {
		for {
			if _, err := io.WriteString(f.in, strings.Repeat("http://example.com/\n", 1000)); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 100)
	if _, err := io.ReadFull(f.out, buf); err != nil {
		t.Fatal(err)
	}
	if err := f.out.Close(); err != nil {
		t.Fatal(err)
	}
	if c := f.wait(); c != command.ExitDone {
		t.Errorf("exit code %d", c)
	}
	if !strings.Contains(f.log.String(), `msg="stdout closed by reader, stopping"`) || strings.Contains(f.log.String(), "level=ERROR") {
		t.Error("the log does not say why")
	}
}

// SIGTERM ends a run that waits for its input at once.
func TestRunFilterSignal(t *testing.T) {
	f := startFilter(t, filtering+"shutdown_timeout: 10m\n")
	if _, err := io.WriteString(f.in, "http://example.com/\nhttp://exam"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	if _, err := f.out.Read(buf); err != nil {
		t.Fatal(err)
	}
	f.signal(syscall.SIGTERM)
	if c := f.wait(); c != command.ExitDone {
		t.Errorf("exit code %d", c)
	}
	if !strings.Contains(f.log.String(), `msg="input not read to the end"`) {
		t.Error("the log does not say that the input is not at its end")
	}
}

// SIGTERM ends a run whose reader is stuck: at the shutdown timeout, which the
// tests of package pipeline measure.
func TestRunFilterStuck(t *testing.T) {
	f := startFilter(t, filtering+"shutdown_timeout: 1s\n")
	text := strings.Repeat("http://example.com/a/long/enough/path\n", 100000)
	go func() { _, _ = io.WriteString(f.in, text) }()
	buf := make([]byte, 100)
	if _, err := f.out.Read(buf); err != nil {
		t.Fatal(err)
	}
	f.signal(syscall.SIGTERM)
	if c := f.wait(); c != command.ExitCut {
		t.Errorf("exit code %d", c)
	}
}

// Invalid uses of standard streams are errors with positions.
func TestRunFilterMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"sources: [stdin: {from: lines}]\nsinks: [file: {path: o, exactly_once: true}]":                          "c.yaml:2:18: incompatible with exactly_once of a sink: stdin cannot be read again",
		"sources: [file: {from: lines, include: [a]}]\nsinks: [file: {path: o, exactly_once: true}, stdout: {}]": "c.yaml:3:54: incompatible with exactly_once of another sink: stdout cannot be truncated",
		"sources: [stdin: {from: lines, name: a}, stdin: {from: lines, name: b}]\nsinks: [discard: {}]":          "c.yaml:2:49: another source already reads stdin",
		"sources: [stdin: {from: lines}]\nsinks: [stdout: {}]\ndead_letter: {stdout: {}}":                        "another sink already writes to stdout",
		"sources: [stdin: {from: lines}]\nsinks: [stdout: {compress: zip}]":                                      "must be none, gzip or zstd",
		"sources: [stdin: {from: lines}]\nsinks: [file: {path: /dev/stdout}]":                                    "use the stdout sink",
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "c.yaml"), "version: 1\n"+text+"\n")
		cmd, stderr := program(t, "check", "-c", "c.yaml")
		cmd.Dir = dir
		_, err := cmd.Output()
		if c := code(t, err); c != command.ExitUsage || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s\nexit code %d: %s", text, c, stderr)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "c.yaml"), filtering)
	cmd, stderr := program(t, "run", "-c", "c.yaml", "--dry-run")
	cmd.Dir = dir
	_, err := cmd.Output()
	if c := code(t, err); c != command.ExitConfig || !strings.Contains(stderr.String(), "data read from stdin would be lost") {
		t.Errorf("dry run: exit code %d: %s", c, stderr)
	}
}

// A reload that needs a new pipeline is refused: what the last one has read ahead from
// stdin would be lost. One of rules is taken.
func TestRunFilterReload(t *testing.T) {
	f := startFilter(t, filtering)
	echo := func(line, want string) {
		t.Helper()
		if _, err := io.WriteString(f.in, line); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 100)
		if n, err := f.out.Read(buf); err != nil || string(buf[:n]) != want {
			t.Errorf("%q, %v, want %q", buf[:n], err, want)
		}
	}
	echo("http://a.b/#f\n", "http://a.b/#f\n")
	f.configure(strings.Replace(filtering, "stdout: {}", "discard: {}", 1))
	f.signal(syscall.SIGHUP)
	f.logs("take over data that the current one has read from stdin", 1)
	f.configure(strings.Replace(filtering, "equiv", noFragment, 1))
	f.signal(syscall.SIGHUP)
	f.logs("effect=rules", 1)
	echo("http://a.b/#f\n", "http://a.b/\n")
}

// A pipe in the place of an output file ends the run, and is found by validate
// --connect: it is not retried for ever.
func TestRunPipeAsFile(t *testing.T) {
	for _, out := range []string{"pipe", "link", "lanes/in.log.part"} {
		d := newRun(t, strings.Replace(tailing, "out.log", out, 1))
		path := filepath.Join(d.dir, out)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		fifo := path
		if out == "link" {
			fifo = filepath.Join(d.dir, "behind")
			if err := os.Symlink("behind", path); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(out, "lanes") {
			d.configure(strings.Replace(tailing, "out.log", "\"lanes/{source.relpath}\"", 1))
		}
		cmd, stderr := program(t, "check", "-c", "c.yaml", "--connect")
		cmd.Dir = d.dir
		_, err := cmd.Output()
		if c := code(t, err); c == command.ExitDone || !strings.Contains(stderr.String(), "cannot write") {
			t.Errorf("%s: validate --connect: exit code %d: %s", out, c, stderr)
		}
		d.start()
		d.feed("http://example.com/\n")
		if c := d.wait(); c != command.ExitFatal || !strings.Contains(d.log.String(), "cannot write") {
			t.Errorf("%s: exit code %d", out, c)
		}
	}
}

// The one-shot writes to the streams that /dev/stdout and /dev/stderr name as they are.
func TestDevStdout(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in"), strings.Repeat("http://Example.com/\n", 100000))
	cmd, _ := program(t, "in", "-o", "/dev/stdout", "--quiet")
	cmd.Dir = dir
	r, w := pipePair(t)
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if _, err := r.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	if c := code(t, cmd.Wait()); c != command.ExitDone {
		t.Errorf("-o /dev/stdout | head: exit code %d", c)
	}
	f, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := io.WriteString(f, "before\n"); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "one"), "http://Example.com/\n")
	cmd, _ = program(t, "one", "-o", "/dev/stdout", "--quiet")
	cmd.Dir, cmd.Stdout = dir, f
	if c := code(t, cmd.Run()); c != command.ExitDone {
		t.Errorf("exit code %d", c)
	}
	if got, _ := os.ReadFile(f.Name()); string(got) != "before\nhttp://example.com/\n" {
		t.Errorf("what the shell has opened holds %q", got)
	}
}

// An output of the daemon has the permissions of the file that it is made of, and so has
// all that the one-shot writes.
func TestModes(t *testing.T) {
	perm := func(name string) os.FileMode {
		t.Helper()
		fi, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return fi.Mode().Perm()
	}
	for _, want := range []os.FileMode{0o600, 0o640, 0o644} {
		d := newRun(t, tailing)
		in := filepath.Join(d.dir, "in.log")
		write(t, in, "http://example.com/\nnone\nhttp://[/\n")
		if err := os.Chmod(in, want); err != nil {
			t.Fatal(err)
		}
		d.start("--until-eof")
		if c := d.wait(); c != command.ExitDone {
			t.Errorf("exit code %d", c)
		}
		cmd, stderr := program(t, "in.log", "-o", "o", "--dead-letter", "r", "--summary", "report", "--quiet")
		cmd.Dir = d.dir
		if c := code(t, cmd.Run()); c != command.ExitDone {
			t.Errorf("exit code %d: %s", c, stderr)
		}
		for _, name := range []string{"out.log", "o", "r", "report"} {
			if got := perm(filepath.Join(d.dir, name)); got != want {
				t.Errorf("%s has the permissions %v, its input %v", name, got, want)
			}
		}
	}
}

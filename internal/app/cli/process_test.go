//go:build unix

package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/ground/terminal"
)

// The tests of this file run the program as a separate process, and check
// the effects of signals, closed pipes and hostile inputs.

// patience is how long a test waits for an expected event. It is long,
// because no test is about durations.
const patience = time.Minute

// program returns a command that does not outlive the test by much.
func program(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "urlfold", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// code returns the exit code that err stands for.
func code(t *testing.T, err error) int {
	t.Helper()
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode()
	}
	t.Fatal(err)
	return -1
}

// startWriting starts a run that waits for more input after some of its output
// is in out.part.
func startWriting(t *testing.T, out string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd, stderr := program(t, "-f", "lines", "-o", out)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, strings.Repeat("http://h/%7e\n", 100)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if fi, err := os.Stat(out + ".part"); err == nil && fi.Size() > 0 {
			return cmd, stderr
		}
		if time.Now().After(end) {
			t.Fatalf("nothing was written: %s", stderr)
		}
	}
}

// wantPartOnly fails if anything but out.part is there.
func wantPartOnly(t *testing.T, out string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(out))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Name() != filepath.Base(out)+".part" {
		t.Errorf("found %v, want only %s.part", files, filepath.Base(out))
	}
}

func TestKilled(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.log")
	cmd, _ := startWriting(t, out)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	wantPartOnly(t, out)
}

func TestInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		out := filepath.Join(t.TempDir(), "out.log")
		cmd, stderr := startWriting(t, out)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if got := code(t, cmd.Wait()); got != command.ExitCut {
			t.Errorf("%v: exit code %d, want %d: %s", sig, got, command.ExitCut, stderr)
		}
		wantPartOnly(t, out)
		text, err := os.ReadFile(out + ".part")
		if err != nil || string(text) != strings.Repeat("http://h/~\n", 100) {
			t.Errorf("%v: what was read is not in the part: %q, %v", sig, text, err)
		}
		for _, want := range []string{"urlfold: interrupted", "out.log.part", "stdin: not read to the end"} {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%v: stderr lacks %q: %s", sig, want, stderr)
			}
		}
	}
}

// A reader that has seen enough is no error.
func TestClosedPipe(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, bytes.Repeat([]byte("http://h/\n"), 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := program(t, in)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if got := code(t, cmd.Wait()); got != command.ExitDone || stderr.Len() > 0 {
		t.Errorf("exit code %d, stderr %q; want 0 and nothing", got, stderr)
	}
}

// maxMemory is more than a run needs, and less than the inputs here would take.
const maxMemory = 200 << 20

func init() { programs["metered"] = metered }

// metered is a program that runs another one, given as FILE PROGRAM ARGUMENTS…, and writes to
// FILE the most memory that it took, in bytes. The peak that the kernel reports of a process
// is at least that of its parent, which here is small; the process of all tests is not.
func metered() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	_ = cmd.Run() // the exit code is read below
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS != "darwin" {
		peak <<= 10
	}
	if err := os.WriteFile(os.Args[1], strconv.AppendInt(nil, int64(peak), 10), 0o666); err != nil {
		panic(err)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}

// meter lets cmd run below the program metered, and returns a function that returns the
// most memory that it took, in bytes.
func meter(t *testing.T, cmd *exec.Cmd) func() int64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "peak")
	path, err := exec.LookPath("metered")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Path, cmd.Args = path, append([]string{"metered", file}, cmd.Args...)
	return func() int64 {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		peak, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil || peak == 0 {
			t.Fatalf("peak %q: %v", text, err)
		}
		return peak
	}
}

// A line of 400 MB passes through, and takes no memory.
func TestLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: a line of 400 MB; run without -short")
	}
	const size = 400e6
	cmd, stderr := program(t, "-f", "lines")
	memory := meter(t, cmd)
	line := io.LimitReader(repeater("http://h/%7e"), size)
	cmd.Stdin = io.MultiReader(strings.NewReader("http://h/%7e\n"), line, strings.NewReader("\nhttp://h/%7e\n"))
	var n counter
	cmd.Stdout = &n
	if got := code(t, cmd.Run()); got != command.ExitDone {
		t.Fatalf("exit code %d: %s", got, stderr)
	}
	if want := int64(size + 1 + 2*len("http://h/~\n")); n.bytes != want {
		t.Errorf("%d bytes came out, want %d", n.bytes, want)
	}
	if !strings.Contains(stderr.String(), "oversize") {
		t.Errorf("the summary says nothing about it: %s", stderr)
	}
	if got := memory(); got > maxMemory {
		t.Errorf("it took %s", terminal.FormatSize(got))
	}
}

// A gzip file of 10 GiB of zeros in 10 MB is found out at either limit, in
// bounded memory.
func TestGzipBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: a gzip bomb of 10 GiB; run without -short")
	}
	const member = 256 << 20
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.CopyN(w, repeater("\x00"), member); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := filepath.Join(t.TempDir(), "bomb.gz")
	if err := os.WriteFile(bomb, bytes.Repeat(packed.Bytes(), 10<<30/member), 0o666); err != nil {
		t.Fatal(err)
	}
	f := func(want string, args ...string) {
		t.Helper()
		cmd, stderr := program(t, append(args, "-f", "lines", bomb)...)
		memory := meter(t, cmd)
		if got := code(t, cmd.Run()); got != command.ExitFailOn {
			t.Errorf("%v: exit code %d, want %d: %s", args, got, command.ExitFailOn, stderr)
		}
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%v: stderr lacks %q: %s", args, want, stderr)
		}
		if got := memory(); got > maxMemory {
			t.Errorf("%v: it took %s", args, terminal.FormatSize(got))
		}
	}
	f("bomb.gz: limit at byte", "--max-ratio", "100")
	f("bomb.gz: limit at byte", "--max-ratio", "-1", "--max-decompressed", "1GiB")
}

// A gzip file that is cut anywhere gives a beginning of what the whole file
// gives, made of whole records, and the offset of the cut.
func TestCutAnywhere(t *testing.T) {
	sample := filepath.Join("..", "..", "..", "testdata", "sample", "access.log.gz")
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	cmd, stderr := program(t, "-f", "combined", sample)
	whole, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	for at := 1; at < len(text); at += 101 {
		cut := filepath.Join(t.TempDir(), "cut.gz")
		if err := os.WriteFile(cut, text[:at], 0o666); err != nil {
			t.Fatal(err)
		}
		cmd, stderr := program(t, "-f", "combined", cut)
		out, err := cmd.Output()
		if got := code(t, err); got != command.ExitFailOn {
			t.Errorf("cut at %d: exit code %d, want %d", at, got, command.ExitFailOn)
		}
		if !bytes.HasPrefix(whole, out) || len(out) > 0 && out[len(out)-1] != '\n' {
			t.Errorf("cut at %d: the output is no beginning of whole records", at)
		}
		if want := fmt.Sprintf("truncated at byte %d:", at); !strings.Contains(stderr.String(), want) {
			t.Errorf("cut at %d: stderr lacks %q: %s", at, want, stderr)
		}
	}
}

// Real access logs: as many lines come out as went in, every record is accounted
// for, and a second run changes nothing.
func TestRealLogs(t *testing.T) {
	for _, format := range []string{"combined", "common"} {
		root := corpora(t, "logs", format)
		files, err := os.ReadDir(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			checkLog(t, filepath.Join(root, f.Name()), map[string]string{"combined": "combined", "common": "clf"}[format])
		}
	}
}

func checkLog(t *testing.T, path, format string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	once, twice, rep := filepath.Join(dir, "1"), filepath.Join(dir, "2"), filepath.Join(dir, "report")
	for _, args := range [][]string{{path, "-o", once, "--summary", rep}, {once, "-o", twice}} {
		cmd, stderr := program(t, append(args, "-f", format)...)
		if err := cmd.Run(); err != nil {
			t.Fatalf("%s: %v: %s", path, err, stderr)
		}
	}
	a, errA := os.ReadFile(once)
	b, errB := os.ReadFile(twice)
	r, errR := os.ReadFile(rep)
	if err := errors.Join(errA, errB, errR); err != nil {
		t.Fatal(err)
	}
	if got, want := bytes.Count(a, []byte("\n")), bytes.Count(text, []byte("\n")); got != want {
		t.Errorf("%s: %d lines came out, %d went in", path, got, want)
	}
	if !bytes.Equal(a, b) {
		t.Errorf("%s: a second run changes something", path)
	}
	var got report
	if err := json.Unmarshal(r, &got); err != nil {
		t.Fatal(err)
	}
	records := int64(bytes.Count(text, []byte("\n")))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		records++
	}
	if n := got.Totals; n.Records != records || n.Emitted != records || n.Bytes != int64(len(text)) {
		t.Errorf("%s: %d records and %d bytes; the report says %d, %d emitted, %d bytes", path, records, len(text), n.Records, n.Emitted, n.Bytes)
	}
}

// A repeater is a reader of a text, again and again.
type repeater string

func (r repeater) Read(p []byte) (int, error) {
	n := 0
	for len(p)-n >= len(r) {
		n += copy(p[n:], r)
	}
	if n == 0 {
		n = copy(p, r)
	}
	return n, nil
}

// A counter counts what is written to it.
type counter struct{ bytes int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += int64(len(p))
	return len(p), nil
}

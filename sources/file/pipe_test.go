package file

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/compress"
	"github.com/urlfold/urlfold/internal/testkit"
)

// TestTrickle: records of a slow pipe come out before the pipe ends, and half a
// record waits for its other half.
func TestTrickle(t *testing.T) {
	pr, pw := io.Pipe()
	got := make(chan string, 10)
	rt := testkit.NewRuntime(4, small)
	rt.OnEmit = func(n int) { got <- string(rt.Emitted()[n-1].Bytes) }
	s, err := New(Config{Stdin: pr, Framing: lines{}, Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- s.Run(context.Background()) }()
	send := func(text string) {
		if _, err := io.WriteString(pw, text); err != nil {
			t.Error(err)
		}
	}
	send("one\n")
	if text := <-got; text != "one\n" {
		t.Errorf("%q", text)
	}
	send("two\nthr")
	if text := <-got; text != "two\n" {
		t.Errorf("%q", text)
	}
	send("ee\n")
	if text := <-got; text != "three\n" {
		t.Errorf("%q", text)
	}
	send("end")
	if err := pw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "end" {
		t.Errorf("%q", text)
	}
	for _, w := range rt.Broken() {
		t.Error(w)
	}
}

// TestStopWaiting: a soft stop does not wait for a pipe that says nothing.
func TestStopWaiting(t *testing.T) {
	pr, pw := io.Pipe()
	defer func() { _ = pw.Close() }()
	rt := testkit.NewRuntime(4, small)
	ctx, cancel := context.WithCancel(context.Background())
	rt.OnEmit = func(int) { cancel() }
	s, err := New(Config{Stdin: pr, Framing: lines{}, Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(ctx, rt); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(pw, "one\nhalf") }()
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if r := s.Reports()[0]; !r.Stopped || r.Verdict.Damage() || string(rt.Text("-")) != "one\n" {
		t.Errorf("%+v, %q", r, rt.Text("-"))
	}
	for _, w := range rt.Broken() {
		t.Error(w)
	}
}

func TestPeek(t *testing.T) {
	text := logText(100)
	dir := write(t, map[string]string{"1": "", "2.gz": gz(t, ""), "3": "\xff\xfe", "4.gz": gz(t, text), "5": "last\n"})
	f := func(n int, cfg Config, want string, lanes map[string]string) {
		t.Helper()
		cfg.Framing = lines{}
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		for range 2 { // the second look sees the same
			head, err := s.Peek(ctx, n)
			if err != nil || string(head) != want {
				t.Errorf("Peek(%d) = %d bytes, %v, want %d", n, len(head), err, len(want))
			}
		}
		rt := testkit.NewRuntime(4, small)
		if err := s.Open(ctx, rt); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(ctx); err != nil {
			t.Fatal(err)
		}
		for name, want := range lanes {
			if got := string(rt.Text(name)); got != want {
				t.Errorf("after Peek(%d), %s gives %d bytes of %d", n, filepath.Base(name), len(got), len(want))
			}
		}
		for _, w := range rt.Broken() {
			t.Error(w)
		}
	}
	all := map[string]string{filepath.Join(dir, "4.gz"): text, filepath.Join(dir, "5"): "last\n"}
	for _, n := range []int{1, small - 1, small, 1000, len(text)} {
		f(n, Config{Paths: []string{dir}}, text[:n], all)
		f(n, Config{Stdin: strings.NewReader(text)}, text[:n], map[string]string{"-": text})
		f(n, Config{Stdin: strings.NewReader(gz(t, text))}, text[:n], map[string]string{"-": text})
	}
	f(len(text)+1, Config{Paths: []string{dir}}, text, all)
	f(10, Config{Stdin: strings.NewReader("")}, "", map[string]string{"-": ""})
	stdin, err := os.Open(filepath.Join(dir, "5"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	f(3, Config{Stdin: stdin}, "las", map[string]string{"-": "last\n"})
}

// TestPeekPipe: one line of a slow pipe is enough, and none is not.
func TestPeekPipe(t *testing.T) {
	pr, pw := io.Pipe()
	defer func() { _ = pw.Close() }()
	s, err := New(Config{Stdin: pr, Framing: lines{}, Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(pw, "one\nhalf") }()
	head, err := s.Peek(context.Background(), 1000)
	if err != nil || string(head) != "one\nhalf" {
		t.Errorf("%q, %v", head, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Peek(ctx, 1000); err != context.Canceled {
		t.Errorf("Peek on a pipe that says nothing, stopped: %v", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestBombBeside: a bomb stops at its limit, and the file beside it is read.
func TestBombBeside(t *testing.T) {
	bomb := strings.Repeat(gz(t, strings.Repeat("\x00", 16<<20)), 5)
	dir := write(t, map[string]string{"a.gz": bomb, "b": "fine\n"})
	rt := &pieces{Runtime: testkit.NewRuntime(4, 128<<10)}
	s, err := New(Config{Paths: []string{dir}, Framing: lines{}, Parallel: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(context.Background(), rt); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if v := s.Reports()[0].Verdict; v.Kind != compress.Limit || !strings.Contains(v.Detail, "--max-ratio") {
		t.Errorf("%v", v)
	}
	if rt.whole != "fine\n" {
		t.Errorf("the file beside it gives %q", rt.whole)
	}
}

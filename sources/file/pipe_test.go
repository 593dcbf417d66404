package file

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/testkit"
)

// TestTrickle checks that records of a slow pipe are emitted before the pipe
// ends, and that half a record waits for its other half.
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

// TestStopWaiting checks that a soft stop does not wait for a silent pipe.
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

// TestInspect checks that Inspect visits all inputs and reports damage within
// their beginning, and that Run still emits everything afterwards.
func TestInspect(t *testing.T) {
	text := logText(100)
	whole := gz(t, text)
	dir := write(t, map[string]string{
		"1": "", "2.gz": gz(t, ""), "3": "\xff\xfe", "4.gz": whole, "5": "last\n", "6.gz": whole[:len(whole)-3], "7.zip": "PK\x03\x04",
	})
	type seen struct {
		head string
		kind compress.Kind
	}
	f := func(n int, cfg Config, want map[string]seen, lanes map[string]string) {
		t.Helper()
		cfg.Framing = lines{}
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		for range 2 { // the second call must return the same
			got := map[string]seen{}
			err := s.Inspect(ctx, n, n, func(path string, head []byte, v compress.Verdict) {
				got[filepath.Base(path)] = seen{string(head), v.Kind}
			})
			if err != nil {
				t.Errorf("Inspect(%d): %v", n, err)
			}
			for name, w := range want {
				if got[name] != w {
					t.Errorf("Inspect(%d) of %s: %d bytes, %v, want %d, %v", n, name, len(got[name].head), got[name].kind, len(w.head), w.kind)
				}
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
				t.Errorf("after Inspect(%d): read %s with %d bytes, want %d", n, filepath.Base(name), len(got), len(want))
			}
		}
		for _, w := range rt.Broken() {
			t.Error(w)
		}
	}
	all := map[string]string{filepath.Join(dir, "4.gz"): text, filepath.Join(dir, "5"): "last\n"}
	for _, n := range []int{1, small - 1, small, 1000, len(text)} {
		want := map[string]seen{"1": {}, "2.gz": {}, "4.gz": {head: text[:n]}, "5": {head: "last\n"[:min(n, 5)]}, "7.zip": {kind: compress.UnsupportedFormat}}
		f(n, Config{Paths: []string{dir}}, want, all)
		stdin := map[string]seen{"-": {head: text[:n]}}
		f(n, Config{Stdin: strings.NewReader(text)}, stdin, map[string]string{"-": text})
		f(n, Config{Stdin: strings.NewReader(whole)}, stdin, map[string]string{"-": text})
	}
	f(len(text)+1, Config{Paths: []string{dir}}, map[string]seen{
		"3": {kind: compress.UnsupportedEncoding}, "4.gz": {head: text}, "6.gz": {text, compress.Truncated},
	}, all)
	f(len(text)+1, Config{Stdin: strings.NewReader(whole[:len(whole)-3])}, map[string]seen{"-": {text, compress.Truncated}}, map[string]string{"-": text})
	f(10, Config{Stdin: strings.NewReader("")}, map[string]seen{"-": {}}, map[string]string{"-": ""})
	stdin, err := os.Open(filepath.Join(dir, "5"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	f(3, Config{Stdin: stdin}, map[string]seen{"-": {head: "las"}}, map[string]string{"-": "last\n"})
}

// TestFramingOf checks that each input is cut by its own framing.
func TestFramingOf(t *testing.T) {
	dir := write(t, map[string]string{"a": "x\n1\n", "b": "y\n2\n"})
	_, rt := run(t, Config{Paths: []string{dir}, FramingOf: func(path string) Framing {
		return lines{head: filepath.Base(path) == "b"}
	}})
	for name, want := range map[string]string{"a": "", "b": "y\n"} {
		if got := string(rt.Head(filepath.Join(dir, name))); got != want {
			t.Errorf("%s has the header %q, want %q", name, got, want)
		}
	}
}

// TestInspectPipe checks that one line of a slow pipe is enough for Inspect.
func TestInspectPipe(t *testing.T) {
	pr, pw := io.Pipe()
	defer func() { _ = pw.Close() }()
	s, err := New(Config{Stdin: pr, Framing: lines{}, Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(pw, "one\nhalf") }()
	var head string
	look := func(_ string, h []byte, _ compress.Verdict) { head = string(h) }
	if err := s.Inspect(context.Background(), 1000, 1000, look); err != nil || head != "one\nhalf" {
		t.Errorf("%q, %v", head, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Inspect(ctx, 1000, 1000, look); err != context.Canceled {
		t.Errorf("Inspect of a silent pipe, stopped: %v", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestBombBeside checks that a decompression bomb stops at its limit, and that
// the next file is read.
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
		t.Errorf("read %q from the next file", rt.whole)
	}
}

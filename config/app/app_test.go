package app_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/urlfold/urlfold/config/app"
	"github.com/urlfold/urlfold/pipeline"
	"github.com/urlfold/urlfold/sinks"
)

func options() app.Options {
	return app.Options{Version: "v9.8.7-test"}
}

// run returns what a command line writes, and its exit code.
func run(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = app.Run(context.Background(), options(), args, app.IO{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs})
	return code, out.String(), errs.String()
}

// TestRunOneShot runs filters at the same time, each with its own streams.
func TestRunOneShot(t *testing.T) {
	var wg sync.WaitGroup
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		wg.Go(func() {
			code, out, errs := run("HTTP://"+host+":80/x/../y\n", "--quiet", "-r", "urls")
			if want := "http://" + host + "/y\n"; code != 0 || out != want || errs != "" {
				t.Errorf("exit code %d, %q, want %q; stderr: %s", code, out, want, errs)
			}
		})
	}
	wg.Wait()
}

// TestRunErrors: a usage error, a version, and streams that are not there.
func TestRunErrors(t *testing.T) {
	code, out, errs := run("", "--no-such-option")
	if code != 2 || out != "" || !strings.Contains(errs, "no-such-option") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if code, out, errs := run("", "--version"); code != 0 || !strings.Contains(out, "v9.8.7-test") {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if code, out, _ := run("", "version"); code != 0 || !strings.HasPrefix(out, "urlfold v9.8.7-test\n") {
		t.Errorf("exit code %d, %q", code, out)
	}
	if code := app.Run(t.Context(), options(), nil, app.IO{}); code != 0 {
		t.Errorf("no arguments and no streams: exit code %d", code)
	}
	twice := options()
	twice.Sinks = []sinks.Type{sinks.Define("stdout", func() *struct{} { return new(struct{}) }, func(struct{}, *sinks.Env) (pipeline.Sink, error) {
		return nil, errors.New("no sink")
	})}
	var text bytes.Buffer
	if code := app.Run(t.Context(), twice, nil, app.IO{Stderr: &text}); code != 1 || !strings.Contains(text.String(), "duplicate sink name") {
		t.Errorf("two sinks of one name: exit code %d, %q", code, text.String())
	}
}

// A signal is a writer that closes seen with the first text that contains what.
type signal struct {
	mu   sync.Mutex
	text bytes.Buffer
	what string
	seen chan struct{}
	once sync.Once
}

func (s *signal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	if strings.Contains(s.text.String(), s.what) {
		s.once.Do(func() { close(s.seen) })
	}
	return len(b), nil
}

func (s *signal) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestRunDaemon: two daemons in one process write what they read until their context
// ends, and then return 0.
func TestRunDaemon(t *testing.T) {
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		wg.Go(func() {
			dir := t.TempDir()
			in, conf := filepath.Join(dir, "in.txt"), filepath.Join(dir, "urlfold.yaml")
			text := "version: 1\ndata_dir: " + filepath.Join(dir, "state") + "\nsources: [{file: {from: lines, include: [" + in + "], mode: tail}}]\nsinks: [stdout: {}]\ncodec: {to: urls}\nadmin: {listen: \"\"}\n"
			if os.WriteFile(in, []byte("HTTP://"+name+".example:80/x\n"), 0o600) != nil || os.WriteFile(conf, []byte(text), 0o600) != nil {
				t.Error("the files of the test cannot be written")
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := &signal{what: "http://" + name + ".example/x\n", seen: make(chan struct{})}
			errs := &signal{seen: make(chan struct{})}
			done := make(chan int, 1)
			go func() {
				done <- app.Run(ctx, options(), []string{"run", "-c", conf}, app.IO{Stdout: out, Stderr: errs})
			}()
			select {
			case <-out.seen:
				cancel()
			case code := <-done:
				t.Errorf("exit code %d before the end of the context: %s", code, errs)
				return
			}
			if code := <-done; code != 0 || out.String() != out.what {
				t.Errorf("exit code %d, %q, %s", code, out, errs)
			}
		})
	}
	wg.Wait()
}

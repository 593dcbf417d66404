package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMethods(t *testing.T) {
	s := newServer(green)
	for _, path := range []string{"/", "/healthz", "/readyz", "/status.json", "/nothing"} {
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodConnect, "BREW"} {
			w := httptest.NewRecorder()
			s.http.Handler.ServeHTTP(w, newRequest(method, path, strings.NewReader("x")))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
		w := get(t, s, path)
		if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; style-src 'unsafe-inline'") {
			t.Errorf("%s: Content-Security-Policy %q", path, csp)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
	}
}

// Profiles and metrics are there only if they are asked for.
func TestOptional(t *testing.T) {
	f := func(o Options, path string, want int) {
		t.Helper()
		o.View = green
		if w := get(t, New(o), path); w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
	f(Options{}, "/debug/pprof/", http.StatusNotFound)
	f(Options{}, "/debug/pprof/cmdline", http.StatusNotFound)
	f(Options{Pprof: true}, "/debug/pprof/", http.StatusOK)
	f(Options{Pprof: true}, "/debug/pprof/goroutine?debug=1", http.StatusOK)
	f(Options{}, "/metrics", http.StatusNotFound)
	f(Options{Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}, "/metrics", http.StatusOK)
	f(Options{}, "/nothing", http.StatusNotFound)
	f(Options{}, "/status.json/", http.StatusNotFound)
}

// started returns a server that listens until the end of the test.
func started(t *testing.T, o Options) *Server {
	t.Helper()
	if o.View == nil {
		o.View = green
	}
	s := New(o)
	s.now = func() time.Time { return now }
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// body reads an answer to its end.
func body(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTCP(t *testing.T) {
	s := started(t, Options{Listen: "127.0.0.1:0"})
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if got := body(t, c, "http://"+s.Addr()+"/healthz"); got != "ok\n" {
		t.Errorf("/healthz: %q", got)
	}
	// A header that never ends is cut off.
	req, err := http.NewRequest(http.MethodGet, "http://"+s.Addr()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X", strings.Repeat("x", 64<<10))
	if resp, err := c.Do(req); err == nil {
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("64 KiB of header: %d", resp.StatusCode)
		}
	}
	if err := New(Options{Listen: s.Addr(), View: green}).Start(); err == nil {
		t.Error("two servers on one address")
	}
}

func TestOff(t *testing.T) {
	s := started(t, Options{})
	if s.Addr() != "" {
		t.Errorf("listens on %s without an address", s.Addr())
	}
}

// shortDir returns a folder with a short name: that of a socket may have some 100
// bytes.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "web")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "admin")
	// What a process that was killed has left behind.
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	s := started(t, Options{Listen: "unix:" + path})
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket %v, %v", info, err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
	c := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	if got := body(t, c, "http://admin/healthz"); got != "ok\n" {
		t.Errorf("/healthz: %q", got)
	}
	if err := New(Options{Listen: "unix:" + path, View: green}).Start(); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a second server on the socket: %v", err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// What is no socket is not replaced by one.
func TestUnixNotASocket(t *testing.T) {
	path := filepath.Join(shortDir(t), "file")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := New(Options{Listen: "unix:" + path, View: green}).Start(); err == nil {
		t.Error("a file was taken for a socket")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "precious" {
		t.Errorf("the file is now %q, %v", text, err)
	}
}

// Close waits for a request in progress, and aborts it when the time is
// over.
func TestClose(t *testing.T) {
	for _, patient := range []bool{true, false} {
		inside, release := make(chan struct{}), make(chan struct{})
		slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(inside)
			select {
			case <-release:
			case <-r.Context().Done():
			}
			_, _ = io.WriteString(w, "whole")
		})
		s := New(Options{Listen: "127.0.0.1:0", View: green, Metrics: slow})
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		got := make(chan string, 1)
		go func() {
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			resp, err := c.Get("http://" + s.Addr() + "/metrics")
			if err != nil {
				got <- ""
				return
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			got <- string(text)
		}()
		<-inside
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		if patient {
			ctx = context.Background()
			close(release)
		}
		if err := s.Close(ctx); (err == nil) != patient {
			t.Errorf("patient %v: Close: %v", patient, err)
		}
		cancel()
		if text := <-got; (text == "whole") != patient {
			t.Errorf("patient %v: got %q", patient, text)
		}
	}
}

package registry

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/connect"
)

// A stub is a schema registry with a few schemas, which counts requests.
type stub struct {
	mu       sync.Mutex
	requests map[string]int
	down     bool
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests == nil {
		s.requests = map[string]int{}
	}
	s.requests[r.URL.EscapedPath()]++
	if s.down {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.schemaregistry.v1+json")
	switch r.URL.EscapedPath() {
	case "/api/schemas/ids/1":
		fmt.Fprint(w, `{"schema":"\"string\""}`)
	case "/api/schemas/ids/2":
		fmt.Fprint(w, `{"schema":"two","schemaType":"AVRO","references":[{"name":"a","subject":"a/b","version":3},{"name":"c","subject":"c","version":1}]}`)
	case "/api/subjects/a%2Fb/versions/3":
		fmt.Fprint(w, `{"subject":"a/b","version":3,"id":9,"schema":"ab","references":[{"name":"c","subject":"c","version":1}]}`)
	case "/api/subjects/c/versions/1":
		fmt.Fprint(w, `{"subject":"c","version":1,"id":8,"schema":"c"}`)
	case "/api/schemas/ids/3":
		fmt.Fprint(w, `{"schema":"syntax = \"proto3\";","schemaType":"PROTOBUF"}`)
	case "/api/schemas/ids/4":
		user, password, ok := r.BasicAuth()
		if !ok && r.Header.Get("Authorization") != "Bearer s3cret" || ok && user+password != "us3cret" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error_code":40101,"message":"Unauthorized"}`)
			return
		}
		fmt.Fprint(w, `{"schema":"four"}`)
	case "/api/schemas/ids/5":
		fmt.Fprint(w, `<html>`)
	case "/api/schemas/ids/6":
		fmt.Fprint(w, `{"schema":"`+strings.Repeat("x", maxAnswer)+`"}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		if strings.HasPrefix(r.URL.Path, "/api/schemas/ids/") {
			fmt.Fprint(w, `{"error_code":40403,"message":"Schema not found"}`)
		}
	}
}

func (s *stub) setDown(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// count returns the number of requests for a path, or of all.
func (s *stub) count(path string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, k := range s.requests {
		if path == "" || p == path {
			n += k
		}
	}
	return n
}

func start(t *testing.T, change func(*connect.Registry)) (*Client, *stub) {
	t.Helper()
	s := &stub{}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	cfg := connect.Registry{URL: srv.URL + "/api/"}
	if change != nil {
		change(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	c := New(cfg)
	t.Cleanup(c.Close)
	return c, s
}

func TestSchema(t *testing.T) {
	c, s := start(t, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for id, want := range map[uint32][]string{1: {`"string"`}, 2: {"c", "ab", "two"}} {
				if got, err := c.Schema(id); err != nil || !slices.Equal(got, want) {
					t.Errorf("schema %d: got %q, %v, want %q", id, got, err, want)
				}
			}
			for _, id := range []uint32{3, 7, 1<<32 - 1} {
				if got, err := c.Schema(id); got != nil || !errors.Is(err, ErrUnknown) {
					t.Errorf("schema %d: got %q, %v", id, got, err)
				}
			}
		})
	}
	wg.Wait()
	if n := s.count(""); n != 7 {
		t.Errorf("%d requests, want one for each of 5 ids and 2 references: %v", n, s.requests)
	}
}

func TestCredentials(t *testing.T) {
	for name, change := range map[string]func(*connect.Registry){
		"basic":  func(c *connect.Registry) { c.Username, c.Password = "u", "s3cret" },
		"bearer": func(c *connect.Registry) { c.Token = "s3cret" },
	} {
		c, _ := start(t, change)
		if got, err := c.Schema(4); err != nil || !slices.Equal(got, []string{"four"}) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

// TestErrors checks the errors of requests that are repeated. None contains a
// secret.
func TestErrors(t *testing.T) {
	for id, want := range map[string]string{
		"4": "rejects the credentials (401 Unauthorized)", "5": "the answer has no schema; check the URL", "6": "the answer is longer than",
	} {
		c, _ := start(t, func(c *connect.Registry) { c.Username, c.Password = "u", "wr0ng" })
		_, err := c.get("schemas", "ids", id)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("schema %s: got %v, want %s", id, err, want)
		}
	}
	c, _ := start(t, func(c *connect.Registry) { c.URL += "wrong" })
	if _, err := c.get("x"); err == nil || !strings.Contains(err.Error(), "404 Not Found; check the URL") {
		t.Errorf("with another path: %v", err)
	}
	c = New(connect.Registry{URL: "http://127.0.0.1:1/", CAFile: filepath.Join(t.TempDir(), "none.pem")})
	if _, err := c.get("x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the file of the authority: %v", err)
	}
}

// TestOutage checks that Schema waits until the registry is back, logs the
// outage, and ends when the client is closed.
func TestOutage(t *testing.T) {
	c, s := start(t, nil)
	var text safeBuffer
	c.SetLog(slog.New(slog.NewTextHandler(&text, nil)))
	s.setDown(true)
	got := make(chan error, 1)
	go func() {
		_, err := c.Schema(1)
		got <- err
	}()
	for s.count("") < 3 {
		time.Sleep(time.Millisecond)
	}
	s.setDown(false)
	if err := <-got; err != nil {
		t.Error(err)
	}
	if log := text.String(); !strings.Contains(log, "schema registry failed, retrying") || !strings.Contains(log, "503") || !strings.Contains(log, "schema registry recovered") {
		t.Errorf("the log is\n%s", log)
	}
	s.setDown(true)
	go func() {
		_, err := c.Schema(2)
		got <- err
	}()
	for s.count("/api/schemas/ids/2") < 1 {
		time.Sleep(time.Millisecond)
	}
	c.Close()
	if err := <-got; !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestTimeout checks that a registry that does not answer counts as an outage.
func TestTimeout(t *testing.T) {
	over := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over }))
	defer srv.Close()
	defer close(over)
	c := New(connect.Registry{URL: srv.URL, RequestTimeout: 20 * time.Millisecond})
	if _, err := c.get("schemas", "ids", "1"); err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("got %v", err)
	}
}

func TestTLS(t *testing.T) {
	srv := httptest.NewTLSServer(&stub{})
	defer srv.Close()
	srv.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	name := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	c := New(connect.Registry{URL: srv.URL + "/api", CAFile: name})
	if got, err := c.Schema(1); err != nil || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
	c = New(connect.Registry{URL: srv.URL + "/api"})
	if _, err := c.get("schemas", "ids", "1"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without the authority: %v", err)
	}
}

// TestRedirect checks which redirects are followed: none to another host, and
// with credentials none to another port or scheme either. The other server must
// not even get a request.
func TestRedirect(t *testing.T) {
	var strays int
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		strays++
		fmt.Fprint(w, `{"schema":"another"}`)
	}))
	defer other.Close()
	target := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			fmt.Fprint(w, `{"schema":"moved"}`)
			return
		}
		http.Redirect(w, r, target, http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	port := strings.TrimPrefix(other.URL, "http://127.0.0.1")
	for _, c := range []struct {
		to     string
		cfg    connect.Registry
		strays int
		want   string
	}{
		{to: "/moved"},
		{to: srv.URL + "/moved", cfg: connect.Registry{Token: "s3cret"}},
		{to: other.URL, strays: 1},
		{to: other.URL, cfg: connect.Registry{Token: "s3cret"}, want: "redirects to another server, 127.0.0.1" + port + ";"},
		{to: other.URL, cfg: connect.Registry{Username: "u", Password: "s3cret"}, want: "redirects to another server"},
		{to: "https" + strings.TrimPrefix(srv.URL, "http") + "/moved", cfg: connect.Registry{Token: "s3cret"}, want: "redirects to another server"},
		{to: "http://localhost" + port, want: "redirects to another server, localhost" + port + ";"},
		{to: "/again", want: "redirects too often"},
	} {
		target, strays = c.to, 0
		c.cfg.URL, c.cfg.RequestTimeout = srv.URL, time.Minute
		_, err := New(c.cfg).get("schemas", "ids", "1")
		if strays != c.strays || (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("to %s: %d requests to another server, %v; want %q", c.to, strays, err, c.want)
		}
	}
}

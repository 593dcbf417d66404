package web

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/observe/tap"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// tapped starts a server, and returns it with a codec whose records it samples.
func tapped(t *testing.T) (*Server, engine.Codec) {
	t.Helper()
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	c := record.Config{Format: "lines", Normalizer: n}
	main, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	job, err := tap.Job(c)
	if err != nil {
		t.Fatal(err)
	}
	tp := new(tap.Tap)
	s := New(Options{Listen: "127.0.0.1:0", View: func() View { return View{} }, Tap: tp})
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s, tp.Wrap(engine.NewRecordCodec(main), []*record.Job{job}, nil, new(logging.Masker).Mask)()
}

func closeServer(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

func feed(c engine.Codec, text string) {
	c.Process(&engine.Batch{Lane: new(engine.Lane), In: []byte(text)})
}

// TestTap reads a stream until the server closes, which ends it.
func TestTap(t *testing.T) {
	s, c := tapped(t)
	answer, err := http.Get("http://" + s.Addr() + "/tap?rate=1000")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("type %s", got)
	}
	in := bufio.NewScanner(answer.Body)
	seen := map[string]bool{}
	for in.Scan() {
		if strings.HasPrefix(in.Text(), "event: ") {
			seen[in.Text()] = true
		}
		if strings.Contains(in.Text(), `"url":"http://u:***@h/"`) {
			go closeServer(t, s)
		}
		if !seen["event: sample"] {
			feed(c, "http://u:p@h/\n")
		}
	}
	if !seen["event: sample"] || !seen["event: progress"] {
		t.Errorf("%v: %v", seen, in.Err())
	}
}

// TestTapStalled checks that a client that reads nothing delays neither the
// codec nor the end of the server.
func TestTapStalled(t *testing.T) {
	s, c := tapped(t)
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "GET /tap?rate=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	text := strings.Repeat("http://h/"+strings.Repeat("a", 30_000)+"\n", 100)
	for range 30 {
		feed(c, text)
	}
	closeServer(t, s)
}

func TestTapRefused(t *testing.T) {
	s, _ := tapped(t)
	defer closeServer(t, s)
	f := func(query, header, value string, want int) {
		t.Helper()
		req, err := http.NewRequest(http.MethodGet, "http://"+s.Addr()+"/tap"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(header, value)
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s with %s: %d, want %d", query, header, answer.StatusCode, want)
		}
	}
	f("?flag=nonsense", "A", "b", http.StatusBadRequest)
	f("", "Origin", "http://evil.example", http.StatusForbidden)
	f("", "Sec-Fetch-Site", "cross-site", http.StatusForbidden)
	r, _ := http.NewRequest(http.MethodGet, "/tap", nil)
	r.RemoteAddr = "192.0.2.1:1000"
	if s.isLocal(r) {
		t.Error("another host is local")
	}
	if code := get(t, newServer(green), "/tap").Code; code != http.StatusNotFound {
		t.Errorf("without a tap: %d", code)
	}
}

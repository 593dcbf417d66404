package web

import (
	"net"
	"net/http"
	"testing"
)

// TestCrowd checks that a server keeps a limited number of idle connections, and
// answers requests on new ones meanwhile.
func TestCrowd(t *testing.T) {
	s := newServer(green)
	s.o.Listen = "127.0.0.1:0"
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.http.Close() }()
	closed := make(chan struct{}, 10*maxConns)
	for range 3 * maxConns {
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		go func() {
			_, _ = conn.Read(make([]byte, 1)) // until the server closes it
			closed <- struct{}{}
		}()
	}
	for range 2 * maxConns {
		<-closed
	}
	for range 3 {
		r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + s.Addr() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Error(r.Status)
		}
	}
}

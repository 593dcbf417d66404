package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAllowedHost: an IP address and localhost pass in every form that a Host header
// has; a name passes only if it is configured.
func TestAllowedHost(t *testing.T) {
	names := []string{"urlfold.example.com", "*.mon.svc", "short"}
	for host, want := range map[string]bool{
		"":                              true,
		"127.0.0.1":                     true,
		"127.0.0.1:8686":                true,
		"10.1.2.3:1":                    true,
		"[::1]:8686":                    true,
		"[::1]":                         true,
		"::1":                           true,
		"[fe80::1%25eth0]:8686":         true,
		"localhost":                     true,
		"LocalHost:8686":                true,
		"localhost.":                    true,
		"urlfold.example.com":           true,
		"URLFOLD.Example.com.:9":        true,
		"a.mon.svc:80":                  true,
		"a.b.mon.svc":                   true,
		"short:1":                       true,
		"mon.svc":                       false,
		".mon.svc":                      false,
		"xmon.svc":                      false,
		"evil.example":                  false,
		"evil.example:8686":             false,
		"urlfold.example.com.evil.test": false,
		"localhost.evil.test":           false,
		"127.0.0.1.evil.test":           false,
		"127.0.0.1.evil.test:8686":      false,
		"short.evil.test":               false,
		"[evil.example]":                false,
		"2130706433":                    false, // browsers send 127.0.0.1 instead
	} {
		if got := allowedHost(host, names); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
}

// TestRebinding: a request with a name that is not allowed gets no part of
// any page, and does not learn which names are allowed.
func TestRebinding(t *testing.T) {
	s := New(Options{Hosts: []string{"secret-name.example"}, View: green})
	for _, path := range []string{"/", "/status.json", "/healthz", "/readyz", "/metrics", "/debug/pprof/", "/none"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Host = "rebound.evil.test:8686"
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		body := w.Body.String()
		if w.Code != http.StatusForbidden || strings.Contains(body, "evil") || strings.Contains(body, "secret") || len(body) > 100 {
			t.Errorf("%s: %d %q", path, w.Code, body)
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("Content-Security-Policy") == "" {
			t.Errorf("%s: headers %v", path, w.Header())
		}
	}
	for _, host := range []string{"127.0.0.1:8686", "secret-name.example"} {
		r := httptest.NewRequest(http.MethodGet, "/status.json", nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", host, w.Code)
		}
	}
	unix := New(Options{Listen: "unix:/x", View: green})
	r := httptest.NewRequest(http.MethodGet, "/status.json", nil)
	r.Host = "any.name"
	w := httptest.NewRecorder()
	if unix.http.Handler.ServeHTTP(w, r); w.Code != http.StatusOK {
		t.Errorf("on a socket: %d", w.Code)
	}
}

// On an address of all interfaces, only the health checks and the metrics are open to
// all names.
func TestOpenToAll(t *testing.T) {
	s := New(Options{Listen: "0.0.0.0:0", Hosts: []string{"urlfold.example.com"}, View: func() View { return View{} }})
	for _, c := range []struct {
		host, path string
		want       int
	}{
		{"10.1.2.3:8686", "/livez", 200}, {"pod.cluster.local", "/healthz", 200}, {"pod.cluster.local", "/readyz", 503},
		{"10.1.2.3:8686", "/status.json", 403}, {"pod.cluster.local", "/", 403}, {"", "/status.json", 403}, {"[2001:db8::1]:1", "/live", 403},
		{"urlfold.example.com", "/status.json", 200}, {"localhost:8686", "/status.json", 200}, {"127.0.0.1:8686", "/status.json", 200},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, c.path, nil)
		r.Host = c.host
		if s.http.Handler.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%s of %s: %d, want %d", c.path, c.host, w.Code, c.want)
		}
	}
	if openToAll("127.0.0.1:1") || openToAll("unix:a") || !openToAll(":1") || !openToAll("[::]:1") {
		t.Error("openToAll is wrong")
	}
}

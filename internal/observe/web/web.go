// Package web is the admin server of the daemon: metrics, health, readiness and a
// status page, over HTTP.
//
//	/             a page for people, which needs no script and loads nothing
//	/status.json  the same for programs
//	/metrics      for Prometheus
//	/healthz      200 while a new start would help nothing, 503 when it would
//	/readyz       200 while records get through, 503 with the reasons when not
//	/debug/pprof/ profiles of the process, if they are switched on
//
// It only shows, and only to GET and HEAD. Names that come from outside are escaped,
// and what looks like a password is masked.
package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/observe/logging"
)

// Options say what a [Server] shows, and where. View must be set.
type Options struct {
	Listen  string          // HOST:PORT, or "unix:" and the path of a socket; empty: Start does nothing
	Hosts   []string        // names that a request may ask for, besides localhost and IP addresses; *.NAME stands for all below NAME
	Pprof   bool            // serve /debug/pprof/
	Version string          // of the program
	View    func() View     // called for each request, by many goroutines
	Metrics http.Handler    // of /metrics; nil: not found
	Masker  *logging.Masker // hides secrets; nil: only the passwords of URLs
	Logger  *slog.Logger    // default: discard
}

// A Server is the admin server. It outlives the pipelines that it shows.
type Server struct {
	o       Options
	started time.Time
	now     func() time.Time
	http    *http.Server
	ln      net.Listener
	probe   chan struct{} // holds one token: one question for life at a time
}

// New returns a server that does not listen yet.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Masker == nil {
		o.Masker = new(logging.Masker)
	}
	s := &Server{o: o, started: time.Now(), now: time.Now, probe: make(chan struct{}, 1)}
	s.http = &http.Server{
		Handler:           guard(s.checkHost(s.routes())),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// routes is the table of the pages.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.servePage)
	mux.HandleFunc("/status.json", s.serveStatus)
	mux.HandleFunc("/healthz", s.serveHealth)
	mux.HandleFunc("/readyz", s.serveReady)
	if s.o.Metrics != nil {
		mux.Handle("/metrics", s.o.Metrics)
	}
	if s.o.Pprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return mux
}

// guard lets only reading through, and sets the headers that keep a browser from
// doing anything but show the page.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Start listens and serves in the background. It does nothing if there is no
// address.
func (s *Server) Start() error {
	if s.o.Listen == "" {
		return nil
	}
	ln, err := listen(s.o.Listen)
	if err != nil {
		return fmt.Errorf("admin server: %w", err)
	}
	s.ln = ln
	go func() {
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.o.Logger.Error("the admin server has stopped", "error", err)
		}
	}()
	return nil
}

// Addr returns the address that the server listens on, HOST:PORT or the path of a
// socket; empty if it does not.
func (s *Server) Addr() string {
	if s.ln == nil {
		return ""
	}
	return s.ln.Addr().String()
}

// Close stops listening and waits until the requests under way are answered, or
// ctx is done; then they are cut.
func (s *Server) Close(ctx context.Context) error {
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

// listen opens the listener. A socket that was left by a process that was killed is
// replaced; one that somebody answers on is not, nor anything that is no socket. Only
// the own user may connect to a new one.
func listen(address string) (net.Listener, error) {
	path, ok := strings.CutPrefix(address, "unix:")
	if !ok {
		return net.Listen("tcp", address)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = c.Close()
			return nil, errors.New("another process answers on the socket")
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	return ln, nil
}

// aliveTimeout is how long the pipeline may take to say what it does.
const aliveTimeout = 5 * time.Second

// Alive returns nil, or why the process should be killed and started again: the
// pipeline does not answer, or its committer hangs. It returns after 5 s at the
// latest. It is what /healthz says, and what a watchdog asks.
func (s *Server) Alive() error {
	errSilent := errors.New("the pipeline does not answer")
	timeout := time.NewTimer(aliveTimeout)
	defer timeout.Stop()
	select {
	case s.probe <- struct{}{}:
	case <-timeout.C: // somebody asked before, and waits still
		return errSilent
	}
	answer := make(chan error, 1)
	go func() {
		defer func() { <-s.probe }()
		v := s.o.View()
		answer <- v.deadErr(s.now())
	}()
	select {
	case err := <-answer:
		return err
	case <-timeout.C:
		return errSilent
	}
}

// Ready returns whether records get through, and each condition of it.
func (s *Server) Ready() (ok bool, checks []Check) {
	v := s.o.View()
	checks = maskChecks(v.checks(s.now()), s.o.Masker.Mask)
	return ready(checks), checks
}

// Metrics emits urlfold_ready, for package metrics.
func (s *Server) Metrics(emit func(name, help, kind string, value float64, labels ...string)) {
	value := 0.0
	if ok, _ := s.Ready(); ok {
		value = 1
	}
	emit("ready", "Whether /readyz is green.", "gauge", value)
}

func (s *Server) serveHealth(w http.ResponseWriter, _ *http.Request) {
	if err := s.Alive(); err != nil {
		http.Error(w, s.o.Masker.Mask(err.Error()), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

func (s *Server) serveReady(w http.ResponseWriter, _ *http.Request) {
	v := s.o.View()
	checks := maskChecks(v.checks(s.now()), s.o.Masker.Mask)
	answer := struct {
		Ready  bool    `json:"ready"`
		State  string  `json:"state"`
		Checks []Check `json:"checks"`
	}{ready(checks), v.Snapshot.State.String(), checks}
	code := http.StatusOK
	if !answer.Ready {
		code = http.StatusServiceUnavailable
	}
	writeJSON(w, code, answer)
}

func (s *Server) serveStatus(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.status())
}

// status returns what there is to show now.
func (s *Server) status() *Status {
	v := s.o.View()
	now := s.now()
	st := v.status(now, s.o.Masker.Mask)
	st.Version = s.o.Version
	st.Uptime = now.Sub(s.started).Seconds()
	return st
}

// writeJSON writes v, indented for people.
func writeJSON(w http.ResponseWriter, code int, v any) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, "the status has no JSON form", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n'))
}

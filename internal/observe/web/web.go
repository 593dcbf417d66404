// Package web implements the admin server of the daemon, which serves metrics,
// health, readiness and a status page over HTTP:
//
//	/             the status page, without scripts and external resources
//	/live         the same page, which reloads itself every 10 s
//	/status.json  the same data as JSON
//	/metrics      metrics for Prometheus
//	/healthz      200, or 503 if the process should be restarted
//	/livez        the same as /healthz
//	/readyz       200, or 503 with the reasons if records do not get through
//	/tap          samples of the records as server-sent events, if enabled
//	/debug/pprof/ profiles of the process, if enabled
//
// The server is read-only and accepts only GET and HEAD. It escapes external
// names and masks passwords.
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
	"sync"
	"syscall"
	"time"

	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/metric"
	"github.com/urlfold/urlfold/internal/observe/tap"
)

// Options configures a [Server]. View must be set.
type Options struct {
	Listen  string          // HOST:PORT, or "unix:" and the path of a socket; empty: Start does nothing
	Hosts   []string        // allowed host names in addition to localhost and IP addresses; *.NAME allows all names below NAME
	Pprof   bool            // serve /debug/pprof/
	Version string          // version of the program
	View    func() View     // called for each request; must be safe for concurrent use
	Metrics http.Handler    // serves /metrics; nil: not found
	Tap     *tap.Tap        // serves /tap; nil: not found
	Masker  *logging.Masker // masks secrets; nil: masks only the passwords in URLs
	Logger  *slog.Logger    // default: discard
}

// A Server is the admin server. It exists for the lifetime of the process,
// across pipelines.
type Server struct {
	o       Options
	started time.Time
	now     func() time.Time
	http    *http.Server
	ln      net.Listener
	probe   chan struct{} // semaphore: one liveness probe at a time
	closing chan struct{} // closed by Close: ends the streams of samples
	once    sync.Once     // for closing
	history history
}

// New returns a server. Call Start to make it listen.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Masker == nil {
		o.Masker = new(logging.Masker)
	}
	s := &Server{o: o, started: time.Now(), now: time.Now, probe: make(chan struct{}, 1), closing: make(chan struct{})}
	s.http = &http.Server{
		Handler:           guard(s.checkHost(s.routes())),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ConnState:         new(crowd).change,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	return s
}

// routes returns the routing table.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", s.servePage)
	mux.HandleFunc("/live", s.servePage)
	mux.HandleFunc("/status.json", s.serveStatus)
	mux.HandleFunc("/healthz", s.serveHealth)
	mux.HandleFunc("/livez", s.serveHealth) // the name that Kubernetes prefers
	mux.HandleFunc("/readyz", s.serveReady)
	if s.o.Metrics != nil {
		mux.Handle("/metrics", s.o.Metrics)
	}
	if s.o.Tap != nil {
		mux.HandleFunc("/tap", s.serveTap)
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

// guard rejects all methods except GET and HEAD, and sets security headers that
// keep a browser from doing anything but display the page.
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

// Start starts to listen and serves requests in the background. It does nothing
// if Options.Listen is empty.
func (s *Server) Start() error {
	if s.o.Listen == "" {
		return nil
	}
	ln, err := listen(s.o.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("admin server: %w; set admin.listen to another address, or to \"\" for no admin server", err)
	}
	if err != nil {
		return fmt.Errorf("admin server: %w", err)
	}
	s.ln = ln
	go s.watch()
	go func() {
		if err := s.http.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.o.Logger.Error("admin server failed", "error", err)
		}
	}()
	return nil
}

// Addr returns the address on which the server listens: HOST:PORT or the path
// of a socket, or "" if it does not listen.
func (s *Server) Addr() string {
	if s.ln == nil {
		return ""
	}
	return s.ln.Addr().String()
}

// Close stops listening and waits for active requests. When ctx is done, it
// aborts them.
func (s *Server) Close(ctx context.Context) error {
	s.once.Do(func() { close(s.closing) })
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

// listen opens the listener. It replaces a socket that a killed process has
// left, but neither a socket in use nor a file of another type. Only the user
// of the process may connect to the new socket.
func listen(address string) (net.Listener, error) {
	path, ok := strings.CutPrefix(address, "unix:")
	if !ok {
		return net.Listen("tcp", address)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if c, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = c.Close()
			return nil, errors.New("socket is in use by another process")
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

// aliveTimeout is how long Alive waits for a snapshot of the pipeline.
const aliveTimeout = 5 * time.Second

// Alive returns nil, or an error if the process should be restarted, because
// the pipeline does not respond or its committer hangs. It returns within 5 s.
// It is the result of /healthz and the check of the watchdog.
func (s *Server) Alive() error {
	errSilent := fmt.Errorf("pipeline does not respond within %v", aliveTimeout)
	timeout := time.NewTimer(aliveTimeout)
	defer timeout.Stop()
	select {
	case s.probe <- struct{}{}:
	case <-timeout.C: // an earlier probe is still waiting
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

// Ready reports whether records get through, and returns all readiness checks.
func (s *Server) Ready() (ok bool, checks []Check) {
	v := s.o.View()
	checks = maskChecks(v.checks(s.now()), s.o.Masker.Mask)
	return ready(checks), checks
}

// Metrics emits urlfold_ready, for package metrics.
func (s *Server) Metrics(emit metric.Emit) {
	value := 0.0
	if ok, _ := s.Ready(); ok {
		value = 1
	}
	emit("ready", "1 if /readyz reports ready, else 0.", metric.Gauge, value)
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

// status returns the current Status.
func (s *Server) status() *Status {
	v := s.o.View()
	now := s.now()
	st := v.status(now, s.o.Masker.Mask)
	st.Version = s.o.Version
	st.Uptime = now.Sub(s.started).Seconds()
	if from, ok := s.history.before(now); ok {
		st.Rates = rates(from, &v.Snapshot, now)
	}
	st.History = s.history.status()
	return st
}

// writeJSON writes v as indented JSON.
func writeJSON(w http.ResponseWriter, code int, v any) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, "cannot encode the status as JSON", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n'))
}

package web

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/urlfold/urlfold/internal/observe/tap"
)

// Times of a stream of samples.
const (
	tapBeat  = 5 * time.Second  // time between two events that report the progress
	tapStall = 10 * time.Second // a listener that reads nothing for this long is disconnected
)

// serveTap sends samples as server-sent events until the listener disconnects
// or the server closes: "sample", whose data is a [tap.Sample], and "progress".
// It serves only clients on this host, whatever address the server listens on.
func (s *Server) serveTap(w http.ResponseWriter, r *http.Request) {
	if !s.isLocal(r) {
		http.Error(w, "samples are served only to this host", http.StatusForbidden)
		return
	}
	if r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") == "cross-site" {
		http.Error(w, "samples are not served to web pages", http.StatusForbidden)
		return
	}
	f, err := tap.ParseFilter(r.URL.Query())
	if err != nil {
		http.Error(w, s.o.Masker.Mask(err.Error()), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	l, err := s.o.Tap.Listen(f)
	if err != nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer l.Close()
	s.o.Logger.Info("tap opened", "query", s.o.Masker.Mask(r.URL.RawQuery))
	s.stream(w, r, l)
	s.o.Logger.Info("tap closed", "examined", l.Examined(), "dropped", l.Dropped())
}

// stream writes the events.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, l *tap.Listener) {
	out := http.NewResponseController(w)
	beat := time.NewTicker(tapBeat)
	defer beat.Stop()
	sent := int64(0)
	event := func(name string, data []byte) bool {
		_ = out.SetWriteDeadline(time.Now().Add(tapStall)) // supported by net/http
		_, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
		return err == nil && out.Flush() == nil
	}
	progress := func() bool {
		data, err := json.Marshal(tapProgress{l.Examined(), sent, l.Dropped()})
		return err == nil && event("progress", data)
	}
	for ok := progress(); ok; {
		select {
		case text := <-l.C:
			sent++
			ok = event("sample", text)
		case <-beat.C:
			ok = progress()
		case <-r.Context().Done():
			return
		case <-s.closing:
			progress()
			return
		}
	}
}

// A tapProgress reports what happened to the samples of a listener.
type tapProgress struct {
	Examined int64 `json:"examined"` // number of examined records
	Sent     int64 `json:"sent"`
	Dropped  int64 `json:"dropped"` // number of samples dropped because the listener was too slow
}

// isLocal reports whether a request comes from this host.
func (s *Server) isLocal(r *http.Request) bool {
	if strings.HasPrefix(s.o.Listen, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

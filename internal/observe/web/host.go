package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// checkHost answers a request only if its Host names this server: an IP address,
// localhost, or one of Options.Hosts. A web page can have a browser send requests to
// a loopback address under a name that its author controls (DNS rebinding) and read
// the answers as its own; the Host of such a request is that name. A request without a
// Host is of HTTP/1.0, which browsers do not speak. Who connects to a Unix socket is no
// web page.
//
// The status is 403, not 421 (RFC 9110 §15.5.20): 421 asks the client to try again
// on another connection, which would be of no use.
func (s *Server) checkHost(next http.Handler) http.Handler {
	if strings.HasPrefix(s.o.Listen, "unix:") {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowedHost(r.Host, s.o.Hosts) {
			s.o.Logger.Warn("admin request refused", "reason", "host not in admin.allowed_hosts", "host", r.Host)
			http.Error(w, "the host name is not allowed: see admin.allowed_hosts", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allowedHost reports whether host, the value of a Host header, is an IP address,
// localhost, or covered by one of names. Names are compared without case, port and
// the dot of the root.
func allowedHost(host string, names []string) bool {
	if host == "" {
		return true
	}
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.TrimSuffix(host, ".")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	for _, name := range names {
		if parent, ok := strings.CutPrefix(name, "*."); ok {
			if n := len(host) - len(parent); n > 1 && host[n-1] == '.' && strings.EqualFold(host[n:], parent) {
				return true
			}
		} else if strings.EqualFold(host, strings.TrimSuffix(name, ".")) {
			return true
		}
	}
	return false
}

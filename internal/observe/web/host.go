package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// checkHost rejects requests whose Host is not an IP address, localhost, or one
// of Options.Hosts. It protects against DNS rebinding, by which a web page
// makes a browser send requests to a loopback address under a name that the
// page's author controls, and reads the answers; the Host of the request is
// then that name. Requests without a Host are HTTP/1.0, which browsers do not
// use, and web pages cannot connect to Unix sockets, so both are accepted.
//
// The status is 403 rather than 421 (RFC 9110 §15.5.20), because 421 invites
// the client to retry on another connection, which would not help.
func (s *Server) checkHost(next http.Handler) http.Handler {
	if strings.HasPrefix(s.o.Listen, "unix:") {
		return next
	}
	open := openToAll(s.o.Listen)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if open && probed[r.URL.Path] {
			next.ServeHTTP(w, r)
			return
		}
		if !allowedHost(r.Host, s.o.Hosts) || open && foreign(r.Host) {
			s.o.Logger.Warn("admin request refused", "error", "host not in admin.allowed_hosts", "host", r.Host)
			http.Error(w, "host name not allowed: add it to admin.allowed_hosts", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// probed are the paths that show nothing about the records but counts. If the
// server listens on all interfaces, a request for one of these paths may name
// any host, as probes and scrapers do. A request for another path must name
// this host or one of Options.Hosts.
var probed = map[string]bool{"/healthz": true, "/livez": true, "/readyz": true, "/metrics": true}

// openToAll reports whether listen is an address of all interfaces.
func openToAll(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip, _ := netip.ParseAddr(host)
	return err == nil && (host == "" || ip.IsUnspecified())
}

// foreign reports whether the value of a Host header is missing, or the IP
// address of an interface.
func foreign(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "" || err == nil && !ip.IsLoopback() && !ip.IsUnspecified()
}

// allowedHost reports whether host, the value of a Host header, is an IP
// address, localhost, or matched by one of names. The comparison ignores case,
// port and a trailing dot.
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

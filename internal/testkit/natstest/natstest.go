// Package natstest runs a NATS server with JetStream in the process of a test,
// on a free loopback port and with its files in a temporary folder. Only tests
// import it.
package natstest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/urlfold/urlfold/internal/testkit"
	"github.com/urlfold/urlfold/internal/testkit/proxy"
)

// A Server is an embedded nats-server. It is stopped at the end of its test.
type Server struct {
	t    testing.TB
	opts server.Options
	srv  *server.Server
	gone func() // releases the address of a stopped server; nil: the server is running
}

// Start starts a server. change, if not nil, changes its options first.
func Start(t testing.TB, change func(*server.Options)) *Server {
	t.Helper()
	s := &Server{t: t, opts: server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(),
		NoLog: true, NoSigs: true,
	}}
	if change != nil {
		change(&s.opts)
	}
	s.Up()
	t.Cleanup(s.end)
	return s
}

// Cluster starts a cluster of n servers. They are stopped at the end of the
// test.
func Cluster(t testing.TB, n int) []*Server {
	t.Helper()
	var routes []*url.URL
	for range n {
		routes = append(routes, &url.URL{Scheme: "nats-route", Host: freeAddr(t)})
	}
	all := make([]*Server, n)
	for i, own := range routes {
		all[i] = &Server{t: t, opts: server.Options{
			ServerName: fmt.Sprint("server-", i), Host: "127.0.0.1", Port: server.RANDOM_PORT,
			JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true, Routes: routes,
		}}
		port, err := strconv.Atoi(own.Port())
		if err != nil {
			t.Fatal(err)
		}
		all[i].opts.Cluster = server.ClusterOpts{Name: "test", Host: own.Hostname(), Port: port}
		all[i].Up()
		t.Cleanup(all[i].end)
	}
	return all
}

// freeAddr returns a loopback address that is not in use.
func freeAddr(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

// Up restarts the server after Down, at the same address and with its stored
// data.
func (s *Server) Up() {
	s.t.Helper()
	if s.gone != nil {
		s.gone()
		s.gone = nil
	}
	opts := s.opts
	srv, err := server.NewServer(&opts)
	if err != nil {
		s.t.Fatal(err)
	}
	srv.Start()
	if !srv.ReadyForConnections(60 * time.Second) {
		s.t.Fatal("the NATS server is not ready after 60 seconds")
	}
	s.srv, s.opts.Port = srv, opts.Port
}

// Down stops the server and reserves its address.
func (s *Server) Down() {
	s.t.Helper()
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
	if s.gone == nil {
		s.gone = testkit.Hold(s.t, s.Addr())
	}
}

// end stops the server and releases its address.
func (s *Server) end() {
	s.srv.Shutdown()
	s.srv.WaitForShutdown()
	if s.gone != nil {
		s.gone()
	}
}

// Addr returns the address of the server as host:port.
func (s *Server) Addr() string { return fmt.Sprintf("%s:%d", s.opts.Host, s.opts.Port) }

// Store returns the folder with the data of JetStream.
func (s *Server) Store() string { return s.opts.StoreDir }

// URL returns the URL of the server.
func (s *Server) URL() string { return "nats://" + s.Addr() }

// Drop returns a filter of the NATS protocol, for either direction, that drops
// the messages for whose subject drop returns true.
func Drop(drop func(subject string) bool) proxy.Filter {
	return func(w io.Writer, r io.Reader) error {
		in, out := bufio.NewReaderSize(r, 64<<10), bufio.NewWriterSize(w, 64<<10)
		for {
			frame, subject, err := readFrame(in)
			if err != nil {
				return errors.Join(err, out.Flush())
			}
			if subject == "" || !drop(subject) {
				if _, err := out.Write(frame); err != nil {
					return err
				}
			}
			if in.Buffered() == 0 {
				if err := out.Flush(); err != nil {
					return err
				}
			}
		}
	}
}

// readFrame reads one operation with its payload. If the operation is a
// message, it also returns the subject.
func readFrame(in *bufio.Reader) (frame []byte, subject string, err error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, "", err
	}
	words := bytes.Fields(line)
	if len(words) < 3 {
		return line, "", nil
	}
	switch string(bytes.ToUpper(words[0])) {
	case "PUB", "HPUB", "MSG", "HMSG":
	default:
		return line, "", nil
	}
	size, err := strconv.Atoi(string(words[len(words)-1]))
	if err != nil {
		return nil, "", err
	}
	frame = append(line, make([]byte, size+2)...)
	_, err = io.ReadFull(in, frame[len(line):])
	return frame, string(words[1]), err
}

// Listeners returns the number of client subscriptions that match a subject.
func (s *Server) Listeners(subject string) int {
	subs, err := s.srv.Subsz(&server.SubszOptions{Subscriptions: true, Test: subject, Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	return len(subs.Subs)
}

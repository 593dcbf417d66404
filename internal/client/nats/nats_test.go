package nats

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

func TestParseReply(t *testing.T) {
	f := func(reply string, want Meta, ok bool) {
		t.Helper()
		got, err := ParseReply(reply)
		if got != want || (err == nil) != ok {
			t.Errorf("%q: %+v, %v; want %+v", reply, got, err, want)
		}
	}
	m := Meta{Stream: 42, Consumer: 40, Delivered: 3, Pending: 7, Time: 1700000000000000000}
	f("$JS.ACK.S.C.3.42.40.1700000000000000000.7", m, true)
	f("$JS.ACK._.hash.S.C.3.42.40.1700000000000000000.7", m, true)
	f("$JS.ACK.hub.hash.S.C.3.42.40.1700000000000000000.7.random", m, true)
	f("", Meta{}, false)
	f("_INBOX.x", Meta{}, false)
	f("$JS.ACK.S.C.3.42.40.1700000000000000000", Meta{}, false)
	f("$JS.ACK.S.C.3.42.40.1700000000000000000.7.8", Meta{}, false)
	f("$JS.ACK.S.C.x.42.40.1700000000000000000.7", Meta{}, false)
	f("$JS.ACK.S.C..42.40.1700000000000000000.7", Meta{}, false)
}

// TestConnectCanceled: the end of the context ends Connect although a server
// accepts connections and never answers.
func TestConnectCanceled(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // close errors do not matter
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if conn, err := l.Accept(); err == nil {
			cancel()
			<-t.Context().Done()
			_ = conn.Close() // close errors do not matter
		}
	}()
	cfg := connect.DefaultNATS()
	cfg.Servers, cfg.ConnectTimeout = []string{"nats://" + l.Addr().String()}, time.Hour
	if _, err := Connect(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("Connect: %v, want canceled", err)
	}
}

func TestSubjects(t *testing.T) {
	f := func(s string, subject, filter bool) {
		t.Helper()
		if IsSubject(s) != subject || IsFilter(s) != filter {
			t.Errorf("%q: subject %v, filter %v", s, IsSubject(s), IsFilter(s))
		}
	}
	f("a", true, true)
	f("a.b.c", true, true)
	f("a.*.c", false, true)
	f("a.>", false, true)
	f(">", false, true)
	f("", false, false)
	f("a.", false, false)
	f(".a", false, false)
	f("a..b", false, false)
	f("a.>.b", false, false)
	f("a.b*", false, false)
	f("a b", false, false)
	f("a\r\nPUB x 0", false, false)

	covers := func(filter, sub string, want bool) {
		t.Helper()
		if Covers(filter, sub) != want {
			t.Errorf("Covers(%q, %q) is %v", filter, sub, !want)
		}
	}
	covers("a.b", "a.b", true)
	covers("a.*", "a.b", true)
	covers("a.*", "a.*", true)
	covers("a.b", "a.*", false)
	covers("a.>", "a.b.*", true)
	covers("a.>", "a", false)
	covers(">", "a.>", true)
	covers("a.*", "a.>", false)
	covers("a.*", "a.b.c", false)
	covers("a.b.c", "a.b", false)

	overlap := func(a, b string, want bool) {
		t.Helper()
		if Overlap(a, b) != want || Overlap(b, a) != want {
			t.Errorf("Overlap(%q, %q) is %v", a, b, !want)
		}
	}
	overlap("a.b", "a.b", true)
	overlap("a.*", "*.b", true)
	overlap("a.*", "*.b.>", false)
	overlap("a.>", "*.b.c", true)
	overlap("a.>", "b.>", false)
	overlap("a", "a.>", false)
	overlap(">", "a.b", true)
	overlap("a.b", "a.b.c", false)
}

func TestReadAck(t *testing.T) {
	f := func(data, status string, duplicate bool, want error) {
		t.Helper()
		m := &client.Msg{Data: []byte(data), Header: client.Header{}}
		if status != "" {
			m.Header.Set("Status", status)
		}
		got, err := readAck(m)
		if got.duplicate != duplicate || !errors.Is(err, want) {
			t.Errorf("%q: %+v, %v; want %v", data, got, err, want)
		}
	}
	f(`{"stream":"S", "seq":12}`, "", false, nil)
	f(`{"stream":"S","domain":"hub", "seq":12,"duplicate": true}`, "", true, nil)
	f(`{"seq":12,"stream":"S","duplicate":true}`, "", true, nil)
	f(`{"stream":"error","seq":1}`, "", false, nil)
	f(`{"stream":"S"}`, "", false, errAnswer)
	f(`{"stream":"","seq":1}`, "", false, errAnswer)
	f(`{"stream":"S","seq":0}`, "", false, errAnswer)
	f(`{"stream":"S","seq":-1}`, "", false, errAnswer)
	f(`{"stream":"S","seq":9223372036854775808}`, "", false, errAnswer)
	f(`{"stream":"S","seq":12`, "", false, errAnswer)
	f("", "503", false, errNobody)
	f("", "", false, errAnswer)
	f("hello", "", false, errAnswer)
	f(`{"seq":12}`, "", false, errAnswer)
	f(`{"error":{"code":400,"err_code":10054,"description":"message size exceeds maximum allowed"},"stream":"S","seq":0}`, "", false, ErrRefused)
	f(`{"stream":"S","error":{"code":400,"err_code":10097,"description":"header"}}`, "", false, ErrRefused)
	f(`{"stream":"S","error":{"code":503,"err_code":10077,"description":"maximum messages exceeded"}}`, "", false, errStream)
	f(`{"stream":"S","error":{"code":503,"err_code":10077,"description":"maximum messages per subject exceeded"}}`, "", false, errTaken)
}

func TestNakDelay(t *testing.T) {
	if got := string(NakDelay(5 * time.Second)); got != `-NAK {"delay": 5000000000}` {
		t.Error(got)
	}
	if got := string(NakDelay(0)); got != "-NAK" {
		t.Error(got)
	}
}

// TestConnectBadURL checks that the error does not contain an invalid URL,
// which may hold a password.
func TestConnectBadURL(t *testing.T) {
	c := connect.DefaultNATS()
	c.Servers = []string{"nats://user:hunter2@[n1"}
	_, err := Connect(context.Background(), c)
	if !errors.Is(err, errServerURL) || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

// connect connects to a server with additional requirements.
func reach(t *testing.T, s *natstest.Server, change func(*connect.NATS)) error {
	t.Helper()
	c := connect.DefaultNATS()
	c.Servers, c.ConnectTimeout = []string{s.URL()}, 5*time.Second
	change(&c)
	conn, err := Connect(context.Background(), c)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.Flush(context.Background()); err != nil {
		t.Error(err)
	}
	if err := conn.Health(); err != nil || !conn.Up() {
		t.Errorf("connected but not healthy: %v", err)
	}
	return nil
}

// TestSignIn checks each way to sign in, with right and wrong credentials. No
// error contains a secret.
func TestSignIn(t *testing.T) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ := pair.PublicKey()
	seed, _ := pair.Seed()
	file := filepath.Join(t.TempDir(), "seed")
	if err := os.WriteFile(file, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(name string, need func(*server.Options), right, wrong func(*connect.NATS)) {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t, need)
			if err := reach(t, s, right); err != nil {
				t.Errorf("right: %v", err)
			}
			err := reach(t, s, wrong)
			if err == nil || strings.Contains(err.Error(), "hunter") {
				t.Errorf("wrong: %v", err)
			}
		})
	}
	f("token", func(o *server.Options) { o.Authorization = "hunter2" },
		func(c *connect.NATS) { c.Token = "hunter2" }, func(c *connect.NATS) { c.Token = "hunter3" })
	f("user", func(o *server.Options) { o.Username, o.Password = "me", "hunter2" },
		func(c *connect.NATS) { c.User, c.Password = "me", "hunter2" }, func(c *connect.NATS) { c.User, c.Password = "me", "hunter3" })
	f("url", func(o *server.Options) { o.Username, o.Password = "me", "hunter2" },
		func(c *connect.NATS) { c.Servers[0] = strings.Replace(c.Servers[0], "//", "//me:hunter2@", 1) },
		func(c *connect.NATS) { c.Servers[0] = strings.Replace(c.Servers[0], "//", "//me:hunter3@", 1) })
	f("nkey", func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: public}} },
		func(c *connect.NATS) { c.NkeyFile = file }, func(c *connect.NATS) { c.NkeyFile = file + ".none" })
	f("creds", func(*server.Options) {}, func(*connect.NATS) {}, func(c *connect.NATS) { c.CredsFile = file + ".none" })
}

// TestTLS checks mutual TLS, with complete and incomplete settings.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert := selfSigned(t, dir)
	pool := x509.NewCertPool()
	pool.AddCert(cert.Leaf)
	s := natstest.Start(t, func(o *server.Options) {
		o.TLSConfig = &tls.Config{
			Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
		}
		o.TLSTimeout = 5
	})
	ca, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	f := func(tls connect.TLS, ok bool) {
		t.Helper()
		err := reach(t, s, func(c *connect.NATS) { c.TLS, c.ConnectTimeout = tls, time.Second })
		if (err == nil) != ok {
			t.Errorf("%+v: %v", tls, err)
		}
	}
	f(connect.TLS{CAFile: ca, CertFile: ca, KeyFile: key}, true)
	f(connect.TLS{CAFile: ca, CertFile: ca, KeyFile: key, ServerName: "another.example"}, false)
	f(connect.TLS{CertFile: ca, KeyFile: key}, false)
	f(connect.TLS{CAFile: key}, false)
	f(connect.TLS{CAFile: ca + ".none"}, false)
	f(connect.TLS{CAFile: ca, CertFile: ca, KeyFile: ca}, false)
}

// selfSigned writes cert.pem and key.pem for 127.0.0.1 to dir.
func selfSigned(t *testing.T, dir string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cert, err := tls.LoadX509KeyPair(write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", private))
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// TestPrefetch checks that messages requested but not taken stay within both
// limits, and that all messages arrive.
func TestPrefetch(t *testing.T) {
	f := func(name string, messages, size int) {
		t.Run(name, func(t *testing.T) {
			s := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 4096 })
			cfg := connect.DefaultNATS()
			cfg.Servers = []string{s.URL()}
			conn, err := Connect(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			prefetch(t, conn, messages, size)
		})
	}
	f("by messages", 40, 10)
	f("by bytes", 4000, 3000)
}

func prefetch(t *testing.T, conn *Conn, messages, size int) {
	const n, bytes = 500, 4 * (4096 + 4096)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if _, err := conn.js.CreateStream(ctx, streamConfig("S", "s.>")); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		m := &Msg{Subject: "s.x", Data: fmt.Appendf(nil, "%0*d", size, i)}
		if err := conn.Store(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	info, err := conn.Consumer(ctx, Consumer{Stream: "S", Durable: "c"}, true)
	if err != nil {
		t.Fatal(err)
	}
	p, err := conn.NewPull(PullConfig{
		Stream: "S", Durable: "c", Messages: messages, Bytes: bytes, Info: info, Expires: 10 * time.Second, Heartbeat: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Tick(time.Now())
	taken := 0
	for most := 0; taken < n; {
		if taken%50 == 0 { // let messages arrive
			if err := conn.Flush(ctx); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
			if most = max(most, len(p.C)); most > messages+2*pulls || (most-2*pulls)*size > bytes {
				t.Fatalf("%d messages have arrived", most)
			}
		}
		select {
		case m := <-p.C:
			if p.Handle(m) {
				taken++
				_ = conn.Publish(m.Reply, Ack)
			} else {
				p.Tick(time.Now())
			}
		case now := <-time.After(100 * time.Millisecond):
			p.Tick(now)
		case <-ctx.Done():
			t.Fatalf("%d of %d messages received", taken, n)
		}
	}
	if err := p.Stop(time.Second); err != nil || p.Health() != nil {
		t.Errorf("%v, %v", err, p.Health())
	}
}

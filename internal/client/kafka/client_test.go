package kafka_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// authority issues certificates and writes them as PEM files.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.key, a.cert = a.issue("ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue writes NAME.pem and NAME.key.
func (a *authority) issue(name string, c *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	a.t.Helper()
	check := func(err error) {
		if err != nil {
			a.t.Fatal(err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	check(err)
	cert, err := x509.ParseCertificate(der)
	check(err)
	secret, err := x509.MarshalECPrivateKey(key)
	check(err)
	check(os.WriteFile(a.path(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	check(os.WriteFile(a.path(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	return key, cert
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// server returns the TLS configuration of a broker that requires client
// certificates.
func (a *authority) server() *tls.Config {
	a.t.Helper()
	a.issue("broker", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.issue("client", &x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	pair, err := tls.LoadX509KeyPair(a.path("broker.pem"), a.path("broker.key"))
	if err != nil {
		a.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
}

// reach requests a topic and joins a group, which use different connections.
func reach(t *testing.T, c connect.Kafka) error {
	t.Helper()
	client := kafkatest.Client(t, c, "in")
	ctx := kafkatest.Context(t)
	topics, err := client.Topics(ctx, []string{"in"}, false)
	if err != nil {
		return err
	}
	if topics[0].Err != nil {
		return topics[0].Err
	}
	g, err := client.Join(kafka.GroupConfig{
		Group: "g", Topics: []string{"in"}, Session: 30 * time.Second, Rebalance: 30 * time.Second,
		Heartbeat: 100 * time.Millisecond, RequestTimeout: 30 * time.Second, PartitionRefresh: time.Second,
	})
	if err != nil {
		return err
	}
	defer g.Close(ctx)
	gen, err := g.Next(ctx)
	if err != nil {
		return err
	}
	gen.Start(func(ctx context.Context) { <-ctx.Done() })
	return nil
}

func TestTLS(t *testing.T) {
	a := newAuthority(t)
	_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"), kfake.TLS(a.server()))
	conn.TLS = &connect.TLS{CAFile: a.path("ca.pem"), CertFile: a.path("client.pem"), KeyFile: a.path("client.key")}
	if err := reach(t, conn); err != nil {
		t.Errorf("mutual TLS: %v", err)
	}
	conn.TLS = &connect.TLS{CAFile: a.path("ca.pem"), CertFile: a.path("client.pem"), KeyFile: a.path("client.key"), ServerName: "other.example"}
	if err := reach(t, conn); err == nil {
		t.Error("certificate for another name accepted")
	}
	conn.TLS = &connect.TLS{CAFile: a.path("ca.pem")}
	if err := reach(t, conn); err == nil {
		t.Error("client without a certificate accepted")
	}
	conn.TLS = &connect.TLS{CertFile: a.path("client.pem"), KeyFile: a.path("client.key")}
	if err := reach(t, conn); err == nil {
		t.Error("unknown authority accepted")
	}
	conn.TLS = &connect.TLS{CAFile: a.path("nosuch.pem")}
	if _, err := kafka.New(conn); err == nil {
		t.Error("missing file accepted")
	}
}

func TestSASL(t *testing.T) {
	const password = "hunter2"
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		_, conn := kafkatest.Fake(t, kfake.SeedTopics(1, "in"), kfake.EnableSASL(), kfake.Superuser(mechanism, "u", password))
		conn.SASL = &connect.SASL{Mechanism: mechanism, Username: "u", Password: password}
		if err := reach(t, conn); err != nil {
			t.Errorf("%s: %v", mechanism, err)
		}
		conn.SASL = &connect.SASL{Mechanism: mechanism, Username: "u", Password: "wrong-secret"}
		err := reach(t, conn)
		if err == nil || strings.Contains(err.Error(), "wrong-secret") {
			t.Errorf("%s: wrong password: %v", mechanism, err)
		}
	}
}

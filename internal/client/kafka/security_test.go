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
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// certificate returns a certificate for a name, and the path of the CA file
// that verifies it.
func certificate(t *testing.T, name string) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if ip := net.ParseIP(name); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

const secret = "hidden-s3cret"

// TestSecurityMistakes checks that every TLS and SASL mistake is detected at
// once, and that the error names the broker and the configuration key but not
// the password.
func TestSecurityMistakes(t *testing.T) {
	cert, ca := certificate(t, "127.0.0.1")
	named, namedCA := certificate(t, "kafka.example")
	_, otherCA := certificate(t, "127.0.0.1")
	secure := func(c tls.Certificate) kfake.Opt {
		return kfake.TLS(&tls.Config{Certificates: []tls.Certificate{c}})
	}
	asks := kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert})
	login := []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", secret), kfake.Superuser("SCRAM-SHA-256", "u", secret)}
	sasl := func(mechanism, password string) *connect.SASL {
		return &connect.SASL{Mechanism: mechanism, Username: "u", Password: field.Secret(password)}
	}
	f := func(name string, opts []kfake.Opt, tls *connect.TLS, login *connect.SASL, key, want string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, c := kafkatest.Fake(t, opts...)
			c.TLS, c.SASL = tls, login
			client := kafkatest.Client(t, c)
			began := time.Now()
			err := client.Check(kafkatest.Context(t))
			t.Logf("%v: %v", time.Since(began), err)
			if want == "" {
				if _, topics := client.Topics(kafkatest.Context(t), nil, false); err != nil || topics != nil {
					t.Errorf("%v, %v", err, topics)
				}
				return
			}
			var at *field.Error
			if !kafka.Misconfigured(err) || !errors.As(err, &at) || at.Field != key {
				t.Fatalf("%v; want an error about %s", err, key)
			}
			if text := err.Error(); !strings.Contains(text, want) || !strings.Contains(text, "broker "+c.Brokers[0]) || strings.Contains(text, secret) {
				t.Errorf("%s\nwant %q and the address", text, want)
			}
			if kafka.ClassOf(err) != kafka.ClassBlocked || !kafka.Blocked(err) {
				t.Errorf("class %s", kafka.ClassOf(err))
			}
			// During operation, failed requests return the same error.
			kafkatest.Until(t, "a request to return the mistake", func() bool {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				defer cancel()
				_, err := client.Topics(ctx, []string{"t"}, false)
				return kafka.Misconfigured(err)
			})
		})
	}
	f("plain", nil, nil, nil, "", "")
	f("tls", []kfake.Opt{secure(cert)}, &connect.TLS{CAFile: ca}, nil, "", "")
	f("tls with a name", []kfake.Opt{secure(named)}, &connect.TLS{CAFile: namedCA, ServerName: "kafka.example"}, nil, "", "")
	f("login", login, nil, sasl("PLAIN", secret), "", "")
	f("login by scram, tls", append(login, secure(cert)), &connect.TLS{CAFile: ca}, sasl("SCRAM-SHA-256", secret), "", "")

	f("tls to a plaintext port", nil, &connect.TLS{CAFile: ca}, nil, "tls", "does not use TLS on this port")
	f("plaintext to a tls port", []kfake.Opt{secure(cert)}, nil, nil, "tls", "expects TLS on this port: set tls")
	f("plaintext login to a tls port", append(login, secure(cert)), nil, sasl("PLAIN", secret), "tls", "expects TLS on this port: set tls")
	f("unknown authority", []kfake.Opt{secure(cert)}, &connect.TLS{CAFile: otherCA}, nil, "tls.ca_file", "unknown authority")
	f("another name", []kfake.Opt{secure(named)}, &connect.TLS{CAFile: namedCA}, nil, "tls.server_name", `not valid for the name "127.0.0.1"`)
	f("no client certificate", []kfake.Opt{asks}, &connect.TLS{CAFile: ca}, nil, "tls", "client certificate")
	f("wrong password", login, nil, sasl("PLAIN", secret+"x"), "sasl", `rejects the user name or password (PLAIN, user "u")`)
	f("wrong password by scram", login, nil, sasl("SCRAM-SHA-256", secret+"x"), "sasl", "rejects the user name or password (SCRAM-SHA-256")
	f("no login", login, nil, nil, "sasl", "requires a SASL login on this port")
}

// TestAwayIsNoMistake checks that a broker that is absent, hangs up, is silent
// or speaks another protocol is not reported as a configuration mistake.
func TestAwayIsNoMistake(t *testing.T) {
	_, ca := certificate(t, "127.0.0.1")
	ways := map[string]func(net.Conn){
		"hangs up":   func(c net.Conn) { _ = c.Close() },
		"is silent":  func(net.Conn) {},
		"is another": func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")); _ = c.Close() },
	}
	for name, serve := range ways {
		for _, secure := range []*connect.TLS{nil, {CAFile: ca}} {
			if name == "is another" && secure != nil {
				continue // the handshake shows that it is not a broker
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ln, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = ln.Close() }()
				go func() {
					for {
						c, err := ln.Accept()
						if err != nil {
							return
						}
						serve(c)
					}
				}()
				c := kafkatest.Connection("127.0.0.1:1", ln.Addr().String()) // nothing listens at the first address
				c.TLS, c.SASL = secure, &connect.SASL{Mechanism: "PLAIN", Username: "u", Password: secret}
				if err := kafkatest.Client(t, c).Check(kafkatest.Context(t)); err != nil {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// TestCutIsNoMistake: a broker that ends the connection during its first answer is not
// reported as one that requires a login.
func TestCutIsNoMistake(t *testing.T) {
	c, conn := kafkatest.Fake(t)
	cut := 0
	c.ControlKey(int16(kmsg.Metadata), func(kmsg.Request) (kmsg.Response, error, bool) {
		cut++
		return nil, errors.New("cut"), true
	})
	if err := kafkatest.Client(t, conn).Check(kafkatest.Context(t)); err != nil || cut != 1 {
		t.Errorf("%v after %d cuts", err, cut)
	}
}

// TestSecurityReal checks a real broker that accepts plaintext and no login.
func TestSecurityReal(t *testing.T) {
	c := kafkatest.Real(t)
	f := func(tls *connect.TLS, login *connect.SASL, want string) {
		t.Helper()
		c.TLS, c.SASL = tls, login
		err := kafkatest.Client(t, c).Check(kafkatest.Context(t))
		t.Log(err)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f(nil, nil, "")
	f(&connect.TLS{}, nil, "does not use TLS on this port")
	f(nil, &connect.SASL{Mechanism: "PLAIN", Username: "u", Password: secret}, "does not accept a SASL login on this port")
}

package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// A Connection says where the brokers are and how to log in. It is part of the
// configuration of the source and of the sink.
type Connection struct {
	// Addresses of one or more brokers, HOST:PORT, from which all others are found.
	Brokers []string `yaml:"brokers,required" min:"1"`
	// Name under which brokers log and limit this client.
	ClientID string `yaml:"client_id"`
	// Encryption. Without it connections are plain.
	TLS *TLS `yaml:"tls"`
	// Login. Without it there is none, but that of a client certificate.
	SASL *SASL `yaml:"sasl"`
	// How long one connection attempt, or one answer of a broker, may take.
	RequestTimeout time.Duration `yaml:"request_timeout" min:"1s" max:"5m"`
}

// DefaultConnection returns the values of what is not configured.
func DefaultConnection() Connection {
	return Connection{ClientID: "urlfold", RequestTimeout: 30 * time.Second}
}

// TLS says how connections are encrypted. The certificate of the broker is always
// verified.
type TLS struct {
	// PEM file with the certificates of the authorities to trust. Without it: those
	// of the system.
	CAFile string `yaml:"ca_file"`
	// PEM file with the certificate of this client, for brokers that ask for one.
	CertFile string `yaml:"cert_file"`
	// PEM file with the key of that certificate.
	KeyFile string `yaml:"key_file"`
	// Name in the certificate of the brokers, if it is not their address.
	ServerName string `yaml:"server_name"`
}

// SASL is a login by name and password.
type SASL struct {
	// How the password is shown to the broker. PLAIN sends it as it is: use it over TLS.
	Mechanism string `yaml:"mechanism,required" enum:"PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"`
	// Name of the user.
	Username string `yaml:"username,required"`
	// Password of the user.
	Password field.Secret `yaml:"password,required"`
}

// Check returns all that is wrong with c, joined. It looks at no file.
func (c *Connection) Check() error {
	var errs []error
	fail := func(key, text string) {
		errs = append(errs, &field.Error{Field: key, Err: errors.New(text)})
	}
	if len(c.Brokers) == 0 {
		fail("brokers", "none is given")
	}
	for i, b := range c.Brokers {
		if host, port, err := net.SplitHostPort(b); err != nil || host == "" || port == "" {
			fail(fmt.Sprintf("brokers[%d]", i), "is not HOST:PORT")
		}
	}
	if c.RequestTimeout <= 0 {
		fail("request_timeout", "is not positive")
	}
	if t := c.TLS; t != nil && (t.CertFile == "") != (t.KeyFile == "") {
		fail("tls", "cert_file and key_file go together")
	}
	if s := c.SASL; s != nil {
		switch s.Mechanism {
		case "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512":
		default:
			fail("sasl.mechanism", `must be "PLAIN", "SCRAM-SHA-256" or "SCRAM-SHA-512"`)
		}
	}
	return errors.Join(errs...)
}

// config reads the files of t. A nil t means no encryption: nil.
func (t *TLS) config() (*tls.Config, error) {
	if t == nil {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, misplaced("tls.ca_file", &fileError{err})
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, misplaced("tls.ca_file", &fileError{fmt.Errorf("%s holds no certificate in PEM form", t.CAFile)})
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, misplaced("tls.cert_file", &fileError{fmt.Errorf("with tls.key_file: %w", err)})
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

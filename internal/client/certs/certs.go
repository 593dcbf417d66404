// Package certs reads the certificates of encrypted connections.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
)

// Roots returns the certificate authorities in a PEM file.
func Roots(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s contains no PEM certificate", file)
	}
	return roots, nil
}

// Config converts t to settings of crypto/tls. wrong names the key of the file
// that cannot be used, if there is one.
func Config(t *connect.TLS) (c *tls.Config, wrong *field.Error) {
	c = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		var err error
		if c.RootCAs, err = Roots(t.CAFile); err != nil {
			return nil, &field.Error{Field: "tls.ca_file", Err: err}
		}
	}
	if t.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, &field.Error{Field: "tls.cert_file", Err: fmt.Errorf("cannot load the certificate with its key (tls.key_file): %w", err)}
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

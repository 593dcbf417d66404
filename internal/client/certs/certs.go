// Package certs reads the certificates of encrypted connections.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

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

// Config returns the settings of TLS with files in PEM, each of which may be "". wrong
// names the key of the file that cannot be used, if there is one.
func Config(serverName, caFile, certFile, keyFile string) (c *tls.Config, wrong *field.Error) {
	c = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: serverName}
	if caFile != "" {
		var err error
		if c.RootCAs, err = Roots(caFile); err != nil {
			return nil, &field.Error{Field: "tls.ca_file", Err: err}
		}
	}
	if certFile != "" {
		pair, err := tls.LoadX509KeyPair(certFile, keyFile)
		if err != nil {
			return nil, &field.Error{Field: "tls.cert_file", Err: fmt.Errorf("with tls.key_file: %w", err)}
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

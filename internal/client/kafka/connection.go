package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/urlfold/urlfold/config/connect"
)

// tlsConfig reads the files of t. It returns nil for a nil t: no encryption.
func tlsConfig(t *connect.KafkaTLS) (*tls.Config, error) {
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
			return nil, misplaced("tls.ca_file", &fileError{fmt.Errorf("%s contains no PEM certificate", t.CAFile)})
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

package connect

import "github.com/urlfold/urlfold/config/field"

// TLS configures the encryption of connections. The certificate of the server is
// always verified.
type TLS struct {
	// PEM file with the trusted certificate authorities. Default: the
	// authorities of the system.
	CAFile string `yaml:"ca_file" path:"file"`
	// PEM file with the client certificate, for servers that require one.
	CertFile string `yaml:"cert_file" path:"file"`
	// PEM file with the private key of the client certificate.
	KeyFile string `yaml:"key_file" path:"file"`
	// The expected name in the certificate of the server. Default: the host of its
	// address.
	ServerName string `yaml:"server_name"`
}

// Validate returns the error in t, a [field.Error].
func (t *TLS) Validate() error {
	if (t.CertFile == "") != (t.KeyFile == "") {
		return field.Wrong("cert_file", "must be set together with key_file", "key_file")
	}
	return nil
}

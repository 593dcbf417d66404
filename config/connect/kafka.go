package connect

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// Kafka says where the brokers are and how to log in. The Kafka source and the
// Kafka sink embed it in their configurations.
type Kafka struct {
	// Addresses of one or more brokers, HOST:PORT, from which all others are found.
	Brokers []string `yaml:"brokers,required" min:"1"`
	// Name under which brokers log and limit this client.
	ClientID string `yaml:"client_id"`
	// Encryption. Without it connections are plain.
	TLS *KafkaTLS `yaml:"tls"`
	// Login. Without it there is none, but that of a client certificate.
	SASL *SASL `yaml:"sasl"`
	// How long one connection attempt, or one answer of a broker, may take.
	RequestTimeout time.Duration `yaml:"request_timeout" min:"1s" max:"5m"`
}

// DefaultKafka returns the default connection, which has no brokers.
func DefaultKafka() Kafka {
	return Kafka{ClientID: "urlfold", RequestTimeout: 30 * time.Second}
}

// KafkaTLS says how connections to brokers are encrypted. The certificate of the
// broker is always verified.
type KafkaTLS struct {
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

// Validate returns all that is wrong with c, joined, each a [field.Error]. It reads
// no file.
func (c *Kafka) Validate() error {
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

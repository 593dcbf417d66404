package connect

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// Kafka holds the addresses of the brokers and the credentials. The Kafka
// source and the Kafka sink embed it in their configurations.
type Kafka struct {
	// Addresses of one or more brokers as HOST:PORT. The other brokers are
	// discovered. An element may be several addresses, separated by commas.
	Brokers []string `yaml:"brokers,required" min:"1" commas:"yes"`
	// The client id, which brokers use for logs and quotas.
	ClientID string `yaml:"client_id"`
	// The settings of TLS. Default: unencrypted connections.
	TLS *TLS `yaml:"tls"`
	// The settings of SASL authentication. Default: none, except by a client
	// certificate.
	SASL *SASL `yaml:"sasl"`
	// The timeout of a connection attempt, and of each response of a broker.
	RequestTimeout time.Duration `yaml:"request_timeout" min:"1s" max:"5m"`
}

// DefaultKafka returns the default connection, without brokers.
func DefaultKafka() Kafka {
	return Kafka{ClientID: "urlfold", RequestTimeout: 30 * time.Second}
}

// SASL holds a user name and password.
type SASL struct {
	// The SASL mechanism. PLAIN sends the password in clear text: use it only with
	// TLS.
	Mechanism string `yaml:"mechanism,required" enum:"PLAIN,SCRAM-SHA-256,SCRAM-SHA-512"`
	// The user name.
	Username string `yaml:"username,required"`
	// The password.
	Password field.Secret `yaml:"password,required"`
}

// Validate returns the joined errors in c, each a [field.Error]. The tags of the fields
// hold the bounds of single values. It reads no files.
func (c *Kafka) Validate() error {
	var errs field.Errors
	if len(c.Brokers) == 0 { // an element may hold only commas
		errs.Wrong("brokers", "must have at least 1 element")
	}
	for i, b := range c.Brokers {
		host, port, err := net.SplitHostPort(b)
		key := fmt.Sprintf("brokers[%d]", i)
		if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || host == "" {
			errs.Wrong(key, "must be HOST:PORT")
		} else if portErr != nil || n == 0 {
			errs.Wrong(key, "port must be between 1 and 65535")
		}
	}
	return errors.Join(errs...)
}

// Doubts returns a [field.Error] that says why c is probably a mistake, or nil.
func (c *Kafka) Doubts() error {
	if c.SASL == nil || c.SASL.Mechanism != "PLAIN" || c.TLS != nil {
		return nil
	}
	return field.Wrong("sasl.mechanism", "PLAIN without tls sends the password in clear text (add tls: {}, or use SCRAM-SHA-512)")
}

// maxTopic is the maximum length of the name of a topic.
const maxTopic = 249

// CheckTopic returns an error if no broker accepts name as the name of a topic.
func CheckTopic(name string) error {
	foreign := func(r rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", r)
	}
	switch {
	case name == "":
		return errors.New("topic name must not be empty")
	case len(name) > maxTopic, name == ".", name == "..", strings.ContainsFunc(name, foreign):
		return fmt.Errorf("invalid topic name: must have at most %d letters, digits, dots, underscores and hyphens", maxTopic)
	}
	return nil
}

package connect

import (
	"errors"
	"net/url"
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// Registry holds the address of a schema registry, as specified by Confluent,
// and the credentials.
type Registry struct {
	// The address of the registry, such as https://registry.example:8081.
	URL string `yaml:"url,required" min:"1"`
	// The user name for HTTP basic authentication.
	Username string `yaml:"username"`
	// The password for HTTP basic authentication.
	Password field.Secret `yaml:"password"`
	// The token for HTTP bearer authentication. Cannot be combined with username.
	Token field.Secret `yaml:"token"`
	// PEM file with the trusted certificate authorities. Default: the
	// authorities of the system.
	CAFile string `yaml:"ca_file" path:"file"`
	// The timeout of a request. urlfold repeats failed requests without limit.
	// Default: 10s.
	RequestTimeout time.Duration `yaml:"request_timeout" min:"0s" max:"5m"`
}

// Validate returns the joined errors in c, each a [field.Error]. It does not
// repeat the URL, which may contain a password.
func (c *Registry) Validate() error {
	var errs field.Errors
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		errs.Wrong("url", "must be an http or https URL, such as https://registry.example:8081")
	case u.User != nil:
		errs.Wrong("url", "must not contain credentials: set username and password")
	case u.RawQuery != "" || u.Fragment != "":
		errs.Wrong("url", "must not have a query or a fragment")
	}
	if c.Password != "" && c.Username == "" {
		errs.Wrong("password", "requires username", "username")
	}
	if c.Token != "" && c.Username != "" {
		errs.Wrong("token", "cannot be combined with username", "username")
	}
	return errors.Join(errs...)
}

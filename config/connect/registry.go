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
	// The token for HTTP bearer authentication. Excludes username.
	Token field.Secret `yaml:"token"`
	// PEM file with the trusted certificate authorities. Default: the system's.
	CAFile string `yaml:"ca_file" path:"file"`
	// The timeout of a request. urlfold repeats failed requests without limit.
	// Default: 10s.
	RequestTimeout time.Duration `yaml:"request_timeout" min:"0s" max:"5m"`
}

// Validate returns the joined errors in c, each a [field.Error]. It does not
// repeat the URL, which may contain a password.
func (c *Registry) Validate() error {
	var errs []error
	wrong := func(key, what string, with ...string) {
		errs = append(errs, &field.Error{Field: key, With: with, Err: errors.New(what)})
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		wrong("url", "must be an http or https URL, such as https://registry.example:8081")
	case u.User != nil:
		wrong("url", "must not contain credentials: set username and password")
	case u.RawQuery != "" || u.Fragment != "":
		wrong("url", "must not have a query or a fragment")
	}
	if c.Password != "" && c.Username == "" {
		wrong("password", "requires username", "username")
	}
	if c.Token != "" && c.Username != "" {
		wrong("token", "cannot be combined with username", "username")
	}
	if c.RequestTimeout < 0 {
		wrong("request_timeout", "must not be negative")
	}
	return errors.Join(errs...)
}

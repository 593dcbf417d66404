package connect

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// NATS says how to connect to NATS servers. Every source and sink that talks to
// NATS embeds it in its configuration; each has a connection of its own.
type NATS struct {
	// Servers are the URLs of servers of one cluster, such as nats://n1:4222 or
	// tls://n1:4222. The others of the cluster are learned from them.
	Servers []string `yaml:"servers,required" min:"1"`
	// CredsFile is the path of a .creds file: a user JWT and its seed.
	CredsFile string `yaml:"creds_file"`
	// NkeyFile is the path of a file with the seed of a user nkey.
	NkeyFile string `yaml:"nkey_file"`
	// Token is the token of a server that asks for one.
	Token field.Secret `yaml:"token"`
	// User is a user name; it goes with password.
	User string `yaml:"user"`
	// Password is the password of user.
	Password field.Secret `yaml:"password"`
	// TLS says how to encrypt. A server whose URL begins with tls://, or that asks
	// for TLS, needs it only for certificates of one's own.
	TLS NATSTLS `yaml:"tls"`
	// Domain is the JetStream domain. Default: the one of the server.
	Domain string `yaml:"domain"`
	// InboxPrefix begins the subjects of replies, for users who may not subscribe
	// to all of "_INBOX.>".
	InboxPrefix string `yaml:"inbox_prefix"`
	// ConnectTimeout is how long one attempt to connect may take, and how long a
	// start waits for the first server that answers.
	ConnectTimeout time.Duration `yaml:"connect_timeout" min:"100ms"`
	// ReconnectWait is the pause before the same server is tried again after a
	// connection is lost. There is no last attempt.
	ReconnectWait time.Duration `yaml:"reconnect_wait" min:"1ms"`
	// PingInterval is how often a silent connection is tested. Two answers missing,
	// and it is given up.
	PingInterval time.Duration `yaml:"ping_interval" min:"100ms"`

	// Buffer is how many messages a Subscription can hold. 0: 65536.
	Buffer int `yaml:"-"`
	// Logger is told what is found at the start, and when the connection is lost and
	// found again. Default: nobody.
	Logger *slog.Logger `yaml:"-"`
}

// NATSTLS says how a connection is encrypted. All of its fields are optional; any of
// them asks for TLS.
type NATSTLS struct {
	// Enabled asks for TLS although the URLs do not.
	Enabled bool `yaml:"enabled"`
	// CAFile is the path of PEM certificates that are trusted instead of those of
	// the system.
	CAFile string `yaml:"ca_file"`
	// CertFile is the path of the PEM certificate that is shown to the server.
	CertFile string `yaml:"cert_file"`
	// KeyFile is the path of the PEM key of cert_file.
	KeyFile string `yaml:"key_file"`
	// ServerName is the name that the certificate of the server is checked against.
	// Default: the host of its URL.
	ServerName string `yaml:"server_name"`
}

// DefaultNATS returns the default connection, which has no servers.
func DefaultNATS() NATS {
	return NATS{ConnectTimeout: 10 * time.Second, ReconnectWait: time.Second, PingInterval: 10 * time.Second}
}

// Validate returns all that is wrong with c, joined, each a [field.Error].
func (c *NATS) Validate() error {
	var errs []error
	wrong := func(key, what string) {
		errs = append(errs, &field.Error{Field: key, Err: errors.New(what)})
	}
	if len(c.Servers) == 0 {
		wrong("servers", "there is none")
	}
	for i, server := range c.Servers {
		if what := serverMistake(server); what != "" {
			wrong(fmt.Sprintf("servers[%d]", i), what)
		}
	}
	ways := 0
	for _, used := range []bool{c.CredsFile != "", c.NkeyFile != "", c.Token != "", c.User != ""} {
		if used {
			ways++
		}
	}
	if ways > 1 {
		wrong("servers", "creds_file, nkey_file, token and user are four ways to sign in: give one")
	}
	if c.Password != "" && c.User == "" {
		errs = append(errs, &field.Error{Field: "password", With: []string{"user"}, Err: errors.New("goes with a user")})
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		wrong("tls", "cert_file and key_file go together")
	}
	if c.InboxPrefix != "" && !isSubject(c.InboxPrefix) {
		wrong("inbox_prefix", "is not a subject without wildcards")
	}
	if c.ConnectTimeout <= 0 || c.ReconnectWait <= 0 || c.PingInterval <= 0 {
		wrong("connect_timeout", "connect_timeout, reconnect_wait and ping_interval are positive")
	}
	return errors.Join(errs...)
}

// serverMistake returns what is wrong with the URL of a server, or nothing. It
// repeats no part of it: there may be a password in it.
func serverMistake(server string) string {
	if !strings.Contains(server, "://") {
		server = "nats://" + server // as the client reads it
	}
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Hostname() == "":
		return "is no URL of a server: nats, tls, ws or wss, then HOST or HOST:PORT; in a name or a password, escape what is no letter and no digit (%40 is @)"
	case u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss":
		return "the scheme of a server is nats, tls, ws or wss"
	case u.Port() != "":
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
			return "a port is a number from 1 to 65535"
		}
	}
	return ""
}

// isSubject reports whether s is a subject without wildcards: tokens between dots,
// none of them empty, without white space and control characters.
func isSubject(s string) bool {
	for token := range strings.SplitSeq(s, ".") {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '*' || r == '>' }) {
			return false
		}
	}
	return true
}

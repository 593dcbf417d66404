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

// NATS holds the addresses of NATS servers and the credentials. The sources and
// sinks for NATS embed it in their configurations; each opens its own
// connection.
type NATS struct {
	// URLs of one or more servers of a cluster, such as nats://n1:4222 or
	// tls://n1:4222. The other servers are discovered. An element may be
	// several URLs, separated by commas.
	Servers []string `yaml:"servers,required" min:"1" commas:"yes"`
	// A .creds file with a user JWT and its seed.
	CredsFile string `yaml:"creds_file" path:"file"`
	// A file with the seed of a user nkey.
	NkeyFile string `yaml:"nkey_file" path:"file"`
	// The authentication token.
	Token field.Secret `yaml:"token"`
	// The user name. Used with password.
	User string `yaml:"username"`
	// The password of username.
	Password field.Secret `yaml:"password"`
	// The settings of TLS. Servers with a tls:// URL and servers that require TLS
	// need them only for private certificates. Setting any of them enables TLS.
	TLS TLS `yaml:"tls"`
	// Domain is the JetStream domain. Default: the server's.
	Domain string `yaml:"-"`
	// The prefix of reply subjects, for users who may not subscribe to "_INBOX.>".
	InboxPrefix string `yaml:"inbox_prefix"`
	// The timeout of a connection attempt, and the time to wait at the start for
	// the first server that answers.
	ConnectTimeout time.Duration `yaml:"connect_timeout" min:"100ms"`
	// ReconnectWait is the pause before reconnecting to the same server after a
	// connection is lost. The number of attempts is not limited.
	ReconnectWait time.Duration `yaml:"-"`
	// PingInterval is the interval between pings on an idle connection. The connection is
	// closed after two missing answers.
	PingInterval time.Duration `yaml:"-"`

	// Buffer is the number of messages that a Subscription can hold. 0 means
	// 65536.
	Buffer int `yaml:"-"`
	// Logger receives messages about the servers found at the start and about lost
	// and restored connections. If nil, they are discarded.
	Logger *slog.Logger `yaml:"-"`
}

// DefaultNATS returns the default connection, without servers.
func DefaultNATS() NATS {
	return NATS{ConnectTimeout: 10 * time.Second, ReconnectWait: time.Second, PingInterval: 10 * time.Second}
}

// Validate returns the joined errors in c, each a [field.Error]. The tags of the fields
// hold the bounds of single values.
func (c *NATS) Validate() error {
	var errs field.Errors
	if len(c.Servers) == 0 { // an element may hold only commas
		errs.Wrong("servers", "must have at least 1 element")
	}
	for i, server := range c.Servers {
		if what := serverMistake(server); what != "" {
			errs.Wrong(fmt.Sprintf("servers[%d]", i), what)
		}
	}
	ways := 0
	for _, used := range []bool{c.CredsFile != "", c.NkeyFile != "", c.Token != "", c.User != ""} {
		if used {
			ways++
		}
	}
	if ways > 1 {
		errs.Wrong("servers", "multiple credentials: set only one of creds_file, nkey_file, token and username")
	}
	if c.Password != "" && c.User == "" {
		errs.Wrong("password", "requires username", "username")
	}
	if c.InboxPrefix != "" && !isSubject(c.InboxPrefix) {
		errs.Wrong("inbox_prefix", "must be a subject without wildcards")
	}
	return errors.Join(errs...)
}

// serverMistake returns what is wrong with the URL of a server, or "". It does
// not repeat any part of the URL, which may contain a password.
func serverMistake(server string) string {
	if !strings.Contains(server, "://") {
		server = "nats://" + server // as the client does
	}
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Hostname() == "":
		return "invalid server URL: must be HOST, HOST:PORT or a nats or tls URL; percent-encode special characters in user names and passwords (%40 for @)"
	case u.Scheme == "ws" || u.Scheme == "wss":
		return "invalid server URL: WebSocket is not supported, because what a server sends through it cannot be checked; use the port for clients, with nats or tls"
	case u.Scheme != "nats" && u.Scheme != "tls":
		return "invalid server URL: scheme must be nats or tls"
	case u.Port() != "":
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
			return "invalid server URL: port must be between 1 and 65535"
		}
	}
	return ""
}

// isSubject reports whether s is a subject without wildcards: dot-separated,
// non-empty tokens without white space and control characters.
func isSubject(s string) bool {
	for token := range strings.SplitSeq(s, ".") {
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '*' || r == '>' }) {
			return false
		}
	}
	return true
}

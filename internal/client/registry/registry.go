// Package registry reads Avro schemas from a schema registry with the HTTP API
// of Confluent:
// https://docs.confluent.io/platform/current/schema-registry/develop/api.html.
package registry

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/certs"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/ground/pause"
)

// ErrUnknown reports that the registry has no Avro schema with an id.
var ErrUnknown = errors.New("the registry has no Avro schema with this id")

// errClosed reports that the client was closed while it waited for the
// registry.
var errClosed = errors.New("stopped while the schema registry could not be reached")

// A Client reads schemas and keeps them: the schema of an id never changes. It
// is safe for concurrent use.
type Client struct {
	cfg   connect.Registry
	ctx   context.Context
	close context.CancelFunc

	mu      sync.Mutex
	http    *http.Client // nil before the first request
	outage  *logging.Outage
	schemas map[uint32]*schema
}

// schema is the answer for one id.
type schema struct {
	mu     sync.Mutex // held during requests, so that each id is requested once
	texts  []string
	missed time.Time // when the registry did not have it; zero: never
}

const (
	defaultTimeout = 10 * time.Second
	maxPause       = 30 * time.Second
	// again is the time after which an unknown id is requested again.
	again = 10 * time.Second
	// maxSchemas limits the ids to remember. A registry with fewer schemas
	// reaches it only because of the unknown ids in damaged messages.
	maxSchemas = 10_000
	// maxAnswer limits the length of an answer in bytes.
	maxAnswer = 8 << 20
	// maxReferences limits the number of schemas that a schema refers to.
	maxReferences = 100
)

// New returns a client for cfg, which must be valid. It makes no request.
func New(cfg connect.Registry) *Client {
	if cfg.RequestTimeout == 0 {
		cfg.RequestTimeout = defaultTimeout
	}
	c := &Client{cfg: cfg, schemas: map[uint32]*schema{}}
	c.ctx, c.close = context.WithCancel(context.Background())
	c.SetLog(nil)
	return c
}

// SetLog makes the client log outages of the registry. A nil log discards them.
func (c *Client) SetLog(log *slog.Logger) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outage = logging.NewOutage(log, "schema registry failed, retrying", "schema registry recovered")
}

// Close ends all waiting calls of Schema.
func (c *Client) Close() { c.close() }

// Schema returns the text of the schema with an id, after the texts of the
// schemas that it refers to. While the registry cannot be reached or does not
// answer as specified, Schema repeats the request. Close ends these attempts
// with another error. If the registry has no Avro schema with this id, the
// error is or wraps ErrUnknown.
func (c *Client) Schema(id uint32) ([]string, error) {
	s := c.entry(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts != nil {
		return s.texts, nil
	}
	if !s.missed.IsZero() && time.Since(s.missed) < again {
		return nil, ErrUnknown
	}
	for try := 0; ; try++ {
		texts, err := c.fetch(id)
		if err == nil || errors.Is(err, ErrUnknown) {
			c.outages().Clear()
			s.texts = texts
			if err != nil {
				s.missed = time.Now()
			}
			return texts, err
		}
		if c.ctx.Err() == nil {
			c.outages().Set(err)
		}
		if !c.pause(try) {
			return nil, fmt.Errorf("%w: %w", errClosed, err)
		}
	}
}

func (c *Client) outages() *logging.Outage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outage
}

// entry returns the entry for an id.
func (c *Client) entry(id uint32) *schema {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.schemas[id]
	if s == nil {
		if len(c.schemas) >= maxSchemas {
			clear(c.schemas)
		}
		s = &schema{}
		c.schemas[id] = s
	}
	return s
}

// pause waits before the next try. It returns false if the client is closed.
func (c *Client) pause(try int) bool {
	d := min(100*time.Millisecond<<min(try, 20), maxPause)
	return pause.For(c.ctx, d/2+rand.N(d)) == nil
}

// answer is a schema in an answer of the registry.
type answer struct {
	Schema     string `json:"schema"`
	SchemaType string `json:"schemaType"` // absent: AVRO
	References []struct {
		Subject string `json:"subject"`
		Version int    `json:"version"`
	} `json:"references"`
}

// fetch requests a schema and the schemas that it refers to.
func (c *Client) fetch(id uint32) ([]string, error) {
	a, err := c.get("schemas", "ids", strconv.FormatUint(uint64(id), 10))
	if err != nil {
		return nil, err
	}
	return c.resolve(nil, a, map[string]bool{})
}

// resolve appends the schemas that a refers to, and a.
func (c *Client) resolve(texts []string, a *answer, seen map[string]bool) ([]string, error) {
	if a.SchemaType != "" && a.SchemaType != "AVRO" {
		return nil, fmt.Errorf("%w: the schema has the type %.20q", ErrUnknown, a.SchemaType)
	}
	for _, r := range a.References {
		version := strconv.Itoa(r.Version)
		if seen[r.Subject+"\x00"+version] {
			continue
		}
		seen[r.Subject+"\x00"+version] = true
		if len(seen) > maxReferences {
			return nil, fmt.Errorf("%w: the schema refers to more than %d other schemas", ErrUnknown, maxReferences)
		}
		other, err := c.get("subjects", r.Subject, "versions", version)
		if err != nil {
			return nil, err
		}
		if texts, err = c.resolve(texts, other, seen); err != nil {
			return nil, err
		}
	}
	return append(texts, a.Schema), nil
}

// get requests the schema at a path.
func (c *Client) get(path ...string) (*answer, error) {
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.cfg.RequestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(c.cfg.URL, "/")+"/"+strings.Join(path, "/"), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: invalid URL", c.host())
	}
	req.Header.Set("Accept", "application/vnd.schemaregistry.v1+json, application/json")
	switch {
	case c.cfg.Username != "":
		req.SetBasicAuth(c.cfg.Username, c.cfg.Password.Reveal())
	case c.cfg.Token != "":
		req.Header.Set("Authorization", "Bearer "+c.cfg.Token.Reveal())
	}
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL
		}
		return nil, fmt.Errorf("%s: %w", c.host(), err)
	}
	defer func() { _ = resp.Body.Close() }() // closing a body loses no data
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", c.host(), err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("%s: the answer is longer than %d bytes", c.host(), maxAnswer)
	}
	switch resp.StatusCode {
	case http.StatusOK:
		a := new(answer)
		if err := json.Unmarshal(body, a); err != nil || a.Schema == "" {
			return nil, fmt.Errorf("%s: the answer has no schema; check the URL", c.host())
		}
		return a, nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("%s: rejects the credentials (%s); check username, password and token", c.host(), resp.Status)
	}
	var e struct {
		Code int `json:"error_code"`
	}
	_ = json.Unmarshal(body, &e) // any other body has no code
	switch {
	case e.Code == schemaNotFound:
		return nil, ErrUnknown
	case resp.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %s; check the URL", c.host(), resp.Status)
	}
	return nil, fmt.Errorf("%s: %s", c.host(), resp.Status)
}

// host returns the host of the registry, for errors.
func (c *Client) host() string {
	u, err := url.Parse(c.cfg.URL)
	if err != nil {
		return "schema registry"
	}
	return "schema registry " + u.Host
}

// schemaNotFound is the error code for an unknown id.
const schemaNotFound = 40403

// client returns the HTTP client. It reads the certificates once.
func (c *Client) client() (*http.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.http != nil {
		return c.http, nil
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.IdleConnTimeout = 10 * time.Second
	if c.cfg.CAFile != "" {
		roots, err := certs.Roots(c.cfg.CAFile)
		if err != nil {
			return nil, err
		}
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	c.http = &http.Client{Transport: transport, CheckRedirect: c.redirect}
	return c.http, nil
}

// maxRedirects limits the redirects of a request.
const maxRedirects = 10

// redirect rejects a redirect to another server, which would answer instead of
// the configured one, and get the credentials. Without credentials, another
// port of the same host is allowed, as for a redirect to HTTPS.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	from, to := via[0].URL, req.URL
	same := to.Scheme == from.Scheme && to.Host == from.Host
	open := c.cfg.Username == "" && c.cfg.Token == "" && from.User == nil
	if !same && !(open && to.Hostname() == from.Hostname()) {
		return fmt.Errorf("redirects to another server, %[1]s; if %[1]s is the registry, set url to its address", to.Host)
	}
	if len(via) > maxRedirects {
		return errors.New("redirects too often")
	}
	return nil
}

package nats

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"
)

// complaints collects what the server has refused to this user. The server does
// not answer a request without permission; it only reports an asynchronous
// error.
type complaints struct {
	log *slog.Logger

	mu      sync.Mutex
	last    error     // refused publish
	at      time.Time // time of last
	listens error     // refused subscription: nothing arrives until the next connection
	logged  map[string]time.Time
}

const (
	// complaintLasts is how long a refused publish counts. If it still matters,
	// the publish is repeated and refused within that time.
	complaintLasts = 2 * time.Minute
	// complainEvery is how often the same complaint is logged.
	complainEvery = 10 * time.Second
	// maxComplaints limits the number of distinct complaints tracked for the
	// log.
	maxComplaints = 64
)

// note records and logs an asynchronous error of the server or the client.
func (c *complaints) note(err error) {
	now := time.Now()
	if errors.Is(err, client.ErrSlowConsumer) {
		return // Subscription.Dropped logs how many messages were lost
	}
	if c.due(err.Error(), now) {
		c.log.Warn("server refused a request", "error", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, client.ErrPermissionViolation) && strings.Contains(err.Error(), "Subscription to") {
		c.listens = err
		return
	}
	c.last, c.at = err, now
}

// due reports whether to log the complaint with that text now.
func (c *complaints) due(text string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.logged[text]; ok && now.Sub(at) < complainEvery {
		return false
	}
	if c.logged == nil || len(c.logged) >= maxComplaints {
		c.logged = map[string]time.Time{}
	}
	c.logged[text] = now
	return true
}

// err returns the current complaint, or nil.
func (c *complaints) err(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.listens != nil:
		return c.listens
	case c.last != nil && now.Sub(c.at) < complaintLasts:
		return c.last
	}
	return nil
}

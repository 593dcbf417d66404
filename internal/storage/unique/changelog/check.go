package changelog

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/urlfold/urlfold/internal/client/kafka"
)

// settings are the settings of a topic that this package creates.
var settings = map[string]string{policy: compacted}

const policy, compacted = "cleanup.policy", "compact"

// check checks the topics, and creates the changelog if it must. It retries
// until the request timeout.
func (c *Changelog) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Connection.RequestTimeout)
	defer cancel()
	for try := 0; ; try++ {
		err := c.client.Check(ctx)
		if err == nil {
			err = c.examine(ctx)
		}
		var unusable *unusableError
		if err == nil || errors.As(err, &unusable) || kafka.Blocked(err) {
			return err
		}
		if !kafka.Pause(ctx, try) {
			return fmt.Errorf("%w: %w", ErrUnreachable, err)
		}
		c.client.Refresh()
	}
}

// ErrUnreachable means that no broker answers. Opening a changelog may succeed
// later.
var ErrUnreachable = errors.New("cannot reach the brokers")

// An unusableError says why a topic cannot be a changelog.
type unusableError struct{ text string }

func (e *unusableError) Error() string { return e.text }

func unusable(format string, args ...any) error {
	return &unusableError{fmt.Sprintf(format, args...)}
}

// examine checks the topics once.
func (c *Changelog) examine(ctx context.Context) error {
	topics, err := c.client.Topics(ctx, []string{c.cfg.Input, c.cfg.Topic}, false)
	if err != nil {
		return err
	}
	input, log := topics[0], topics[1]
	switch {
	case input.Err != nil:
		return fmt.Errorf("input topic %s: %w", input.Name, input.Err)
	case kafka.CodeOf(log.Err) == kafka.UnknownTopic && c.cfg.Create:
		return c.create(ctx, input.Partitions)
	case kafka.CodeOf(log.Err) == kafka.UnknownTopic:
		return unusable("does not exist; create it with %d partitions and %s=%s, or set create: true", input.Partitions, policy, compacted)
	case log.Err != nil:
		return log.Err
	case log.Partitions != input.Partitions:
		return unusable("has %d partitions, but %s has %d: both must have the same number", log.Partitions, input.Name, input.Partitions)
	}
	value, err := c.client.Setting(ctx, c.cfg.Topic, policy)
	switch {
	case kafka.Blocked(err):
		return fmt.Errorf("cannot read %s, which must be %s; permit DescribeConfigs: %w", policy, compacted, err)
	case err != nil:
		return err
	case value != compacted:
		return unusable("has %s=%s, so the broker deletes entries, or keeps all of them forever: it must be %s", policy, value, compacted)
	}
	c.partitions = input.Partitions
	return nil
}

// create creates the changelog or, if c.dry is set, asks the broker whether it could. The
// error is temporary if the topic must be examined again.
func (c *Changelog) create(ctx context.Context, partitions int) error {
	err := c.client.CreateTopic(ctx, c.cfg.Topic, partitions, maps.Clone(settings), c.dry)
	switch {
	case kafka.Blocked(err):
		return fmt.Errorf("does not exist, and urlfold cannot create it: %w; permit Create, or create it with %d partitions and %s=%s", err, partitions, policy, compacted)
	case err != nil && kafka.CodeOf(err) != kafka.TopicExists: // another member may have created the topic
		return fmt.Errorf("create: %w", err)
	}
	if c.dry && err == nil {
		return nil
	}
	if err == nil {
		c.cfg.Log.Info("changelog of dedupe created", "topic", c.cfg.Topic, "partitions", partitions)
	}
	return errCreated
}

// errCreated is temporary: the new topic is examined like any other.
var errCreated = errors.New("just created, not visible yet")

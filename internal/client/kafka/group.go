package kafka

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	kgo "github.com/segmentio/kafka-go"
)

// A Group is a member of a consumer group. It rejoins the group after each
// rebalance.
//
// The Close method of kgo.ConsumerGroup waits for the current request, which the
// coordinator may answer only after a rebalance. So a Group tracks all
// connections and closes them when Group.Close runs out of time.
type Group struct {
	g  *kgo.ConsumerGroup
	l  *library
	id string

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	cut   bool
}

// Join implements Client.
func (l *library) Join(c GroupConfig) (*Group, error) {
	g := &Group{l: l, id: c.Group, conns: map[net.Conn]struct{}{}}
	dialer := l.dialer
	dialer.DialFunc = g.dial
	var err error
	g.g, err = kgo.NewConsumerGroup(kgo.ConsumerGroupConfig{
		ID:                     c.Group,
		Brokers:                l.conn.Brokers,
		Dialer:                 &dialer,
		Topics:                 c.Topics,
		GroupBalancers:         []kgo.GroupBalancer{kgo.RangeGroupBalancer{}},
		HeartbeatInterval:      c.Heartbeat,
		SessionTimeout:         c.Session,
		RebalanceTimeout:       c.Rebalance,
		JoinGroupBackoff:       time.Second,
		WatchPartitionChanges:  true,
		PartitionWatchInterval: c.PartitionRefresh,
		StartOffset:            kgo.FirstOffset, // callers treat this offset as "no committed offset"
		Timeout:                min(c.RequestTimeout, 10*time.Second),
	})
	return g, err
}

// dial tracks a connection until it is closed.
func (g *Group) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := g.l.dialFramed(ctx, network, address)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cut {
		_ = conn.Close() // nothing was sent
		return nil, net.ErrClosed
	}
	c := &keptConn{Conn: conn, group: g}
	g.conns[c] = struct{}{}
	return c, nil
}

type keptConn struct {
	net.Conn
	group *Group
}

// Close closes the connection and stops tracking it.
func (c *keptConn) Close() error {
	c.group.mu.Lock()
	delete(c.group.conns, c)
	c.group.mu.Unlock()
	return c.Conn.Close()
}

// Next returns the next generation. An error does not end the membership: call Next
// again.
func (g *Group) Next(ctx context.Context) (*Generation, error) {
	gen, err := g.g.Next(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, g.l.explain(err)
	}
	list, err := assignments(gen)
	if err != nil {
		gen.Start(func(context.Context) {}) // a generation ends when a function that it started returns
		return nil, err
	}
	return &Generation{gen, list, g.l}, nil
}

// assignments returns the partitions that gen assigns to this member.
func assignments(gen *kgo.Generation) (all []Assignment, err error) {
	for topic, parts := range gen.Assignments {
		seen := map[int]bool{}
		for _, p := range parts {
			if p.ID < 0 || seen[p.ID] || len(all) == maxPartitions {
				return nil, fmt.Errorf("%w: invalid assignment of %s[%d]", errAnswer, topic, p.ID)
			}
			seen[p.ID] = true
			all = append(all, Assignment{Topic: topic, Partition: p.ID, Offset: max(p.Offset, -1), Epoch: noEpoch})
		}
	}
	return all, nil
}

// Close leaves the group after the function of the current generation has returned.
// When ctx ends, it closes the connections.
func (g *Group) Close(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.g.Close() // always returns nil
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	g.mu.Lock()
	g.cut = true
	conns := make([]net.Conn, 0, len(g.conns))
	for c := range g.conns {
		conns = append(conns, c)
	}
	g.mu.Unlock()
	for _, c := range conns {
		_ = c.Close() // the client is abandoned
	}
	select {
	case <-done:
	case <-time.After(time.Second): // the library is computing and ignores the context
	}
}

// A Generation is the state of the group between two rebalances.
type Generation struct {
	g    *kgo.Generation
	list []Assignment
	l    *library
}

// ID returns the number of the generation.
func (g *Generation) ID() int32 { return g.g.ID }

// Assignments returns the partitions of this member.
func (g *Generation) Assignments() []Assignment { return g.list }

// Start runs f, once. The context of f ends with the generation, and f must not return
// before that. The member rejoins when f returns; no heartbeats are sent in between.
func (g *Generation) Start(f func(ctx context.Context)) { g.g.Start(f) }

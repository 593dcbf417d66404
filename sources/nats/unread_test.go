package nats_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/testkit"
	source "github.com/urlfold/urlfold/sources/nats"
)

// retentions are all retention policies.
var retentions = []jetstream.RetentionPolicy{jetstream.LimitsPolicy, jetstream.InterestPolicy, jetstream.WorkQueuePolicy}

// retain replaces IN by a stream with another retention.
func (w *world) retain(policy jetstream.RetentionPolicy) {
	w.t.Helper()
	ctx := bg(w.t, patience)
	if err := w.js.DeleteStream(ctx, "IN"); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.js.CreateStream(ctx, jetstream.StreamConfig{Name: "IN", Subjects: []string{"in.>"}, Retention: policy, Storage: w.storage}); err != nil {
		w.t.Fatal(err)
	}
}

// limit makes IN keep only n messages, or all with -1.
func (w *world) limit(n int64) {
	w.t.Helper()
	ctx := bg(w.t, patience)
	s, err := w.js.Stream(ctx, "IN")
	if err != nil {
		w.t.Fatal(err)
	}
	c := s.CachedInfo().Config
	c.MaxMsgs = n
	if _, err := w.js.UpdateStream(ctx, c); err != nil {
		w.t.Fatal(err)
	}
}

// TestUnreadDeleted checks for each retention, with and without a filter, that
// messages that limits delete before they are read are reported: exactly where
// that can be known, as possible where some of the sequences may not have
// concerned the consumer, and never if messages were only acknowledged.
func TestUnreadDeleted(t *testing.T) {
	t.Parallel()
	for _, policy := range retentions {
		for _, filter := range []string{"", "in.1"} {
			t.Run(fmt.Sprint(policy, filter), func(t *testing.T) {
				t.Parallel()
				testUnreadDeleted(t, policy, filter)
			})
		}
	}
}

func testUnreadDeleted(t *testing.T, policy jetstream.RetentionPolicy, filter string) {
	w := newWorld(t)
	w.retain(policy)
	var log testkit.Log
	out := &linesSink{}
	newSource := func() *source.JetStream {
		return w.source(func(c *source.JetStreamConfig) {
			c.Logger, c.Prefetch.Messages, c.Consumer.MaxAckPending = log.Logger(), 4, 20
			if filter != "" {
				c.Consumer.FilterSubjects = []string{filter}
			}
		})
	}
	share, last, every := 10, 471, filter == ""
	if every {
		share, last = 1, 479
	}
	check := func(src *source.JetStream) {
		t.Helper()
		if err := src.CheckOnce(bg(t, patience)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(src *source.JetStream, gaps, doubts int) {
		t.Helper()
		check(src)
		m := metricsOf(t, src)
		if g, d := m["source_unread_deleted_total|stream|IN"], m["source_unread_deleted_possible_total|stream|IN"]; g != float64(gaps) || d != float64(doubts) {
			t.Errorf("%v deleted and %v possibly; want %d and %d\n%s", g, d, gaps, doubts, log.String())
		}
	}
	limits := policy == jetstream.LimitsPolicy

	// Acknowledged messages, and those of other subjects, are no loss.
	src := newSource()
	r := startRun(t, src, out)
	w.fill(0, 50)
	until(t, "all messages", func() bool { return src.Stats().Acked == int64(50/share) && src.Stats().InFlight == 0 })
	want(src, 0, 0)
	if limits {
		w.limit(1)
		want(src, 0, 0)
	}
	r.end()

	// While there is no instance, 100 messages are deleted.
	w.limit(30)
	w.fill(50, 130) // to 180
	src = newSource()
	r = startRun(t, src, out)
	switch {
	case limits && every:
		want(src, 100, 0)
		log.Wants(t, "level=ERROR", "messages deleted before they were acknowledged", "from=51", "to=150")
	case limits:
		want(src, 0, 108) // from 43 on
		log.Wants(t, "level=ERROR", "messages possibly deleted before they were acknowledged", "to=150")
	default:
		want(src, 0, 0)
	}
	before := src.Stats()
	until(t, "the rest", func() bool { return src.Stats().InFlight == 0 && src.Stats().Pending == 0 && src.Stats().Acked > 0 })
	check(src)

	// While the instance is blocked, more are deleted.
	release := out.close()
	defer release()
	w.fill(180, 300) // to 480
	check(src)
	release()
	read := func() int { have, _ := out.count(180, 300); return have }
	until(t, "the rest", func() bool { return src.Stats().InFlight == 0 && out.has(url(last)) })
	check(src)
	st := src.Stats()
	lost := 300/share - read()
	switch {
	case every && (st.Gaps-before.Gaps != int64(lost) || st.Doubts != 0 || lost == 0):
		t.Errorf("%d deleted and %d possibly, but %d are lost\n%s", st.Gaps-before.Gaps, st.Doubts, lost, log.String())
	case !every && (st.Gaps != 0 || limits != (st.Doubts > before.Doubts)):
		t.Errorf("%+v before, now %+v\n%s", before, st, log.String())
	}
	r.end()
	if !limits && strings.Contains(log.String(), "possibly") {
		t.Error(log.String())
	}
}

package endtoend

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/chaos"
)

// An unreadWorld is a natsWorld whose input has a retention and, if filtered is true, a
// consumer of the subject in.x only. Each message is one record: of lane 0 in in.x, and
// of lane 1 in in.y, to which every second message goes if filtered is true.
type unreadWorld struct {
	*natsWorld
	filtered bool
	sent     [2]uint64 // records of each lane
	limits   jetstream.StreamConfig
}

func newUnread(t *testing.T, policy jetstream.RetentionPolicy, filtered bool) *unreadWorld {
	t.Helper()
	w := &unreadWorld{natsWorld: newNATS(t, "position"), filtered: filtered}
	w.limits = jetstream.StreamConfig{Name: "IN", Subjects: []string{"in.>"}, Storage: jetstream.MemoryStorage, Retention: policy}
	if err := w.js.DeleteStream(w.context(), "IN"); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.in, err = w.js.CreateStream(w.context(), w.limits); err != nil {
		t.Fatal(err)
	}
	return w
}

// keep makes the input keep only the last n messages; -1: all.
func (w *unreadWorld) keep(n int64) {
	w.t.Helper()
	w.limits.MaxMsgs = n
	if _, err := w.js.UpdateStream(w.context(), w.limits); err != nil {
		w.t.Fatal(err)
	}
}

// publish publishes n messages.
func (w *unreadWorld) publish(n int) {
	w.t.Helper()
	for i := range n {
		lane := 0
		if w.filtered {
			lane = i % 2
		}
		data := w.spec.Append(nil, uint64(lane), w.sent[lane])
		w.sent[lane]++
		if _, err := w.js.PublishAsync([...]string{"in.x", "in.y"}[lane], data, jetstream.WithStallWait(patience)); err != nil {
			w.t.Fatal(err)
		}
	}
	select {
	case <-w.js.PublishAsyncComplete():
	case <-time.After(patience):
		w.t.Fatal("IN does not take the messages")
	}
	w.records = w.sent[0]
}

func (w *unreadWorld) config() string {
	config := w.natsWorld.config()
	if w.filtered {
		config = strings.Replace(config, "ack_wait: 2s", "ack_wait: 2s, filter_subjects: [in.x]", 1)
	}
	return config
}

// reported returns how many deleted messages the program has reported, and how many
// that may have been for it.
func (w *unreadWorld) reported(p *chaos.Process) (sure, possible int64) {
	w.t.Helper()
	m, err := p.Scrape(w.context())
	if err != nil {
		w.t.Fatal(err)
	}
	return int64(m.Sum("urlfold_source_unread_deleted_total")), int64(m.Sum("urlfold_source_unread_deleted_possible_total"))
}

// TestNATSUnread lets the limit of the input delete messages before the program reads
// them, for each retention, with and without a filter. The oracle knows how many. With
// retention limits and no filter, the program must report exactly these; with a filter,
// as many or more as possible losses. Where acknowledged messages vanish by design, it
// must never report more than are lost. Nothing is reported while nothing is lost,
// although the stream deletes messages that were read.
func TestNATSUnread(t *testing.T) {
	for _, policy := range []jetstream.RetentionPolicy{jetstream.LimitsPolicy, jetstream.InterestPolicy, jetstream.WorkQueuePolicy} {
		for _, filtered := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v filtered=%t", policy, filtered), func(t *testing.T) {
				t.Parallel()
				testUnread(t, policy, filtered)
			})
		}
	}
}

func testUnread(t *testing.T, policy jetstream.RetentionPolicy, filtered bool) {
	w := newUnread(t, policy, filtered)
	var sure, possible, lost int64
	n := rounds(t, 2, 30)
	for i := range n {
		// First, everything is read. What the stream deletes then is no loss.
		p := start(t, w.config())
		until(t, "a consumer", func() bool { return w.consumer() != nil })
		w.publish(500)
		// The server counts new messages as pending only after it has confirmed them, so
		// a consumer looks idle before it gets them.
		all := int64(w.sent[0]) - lost
		advance(t, "everything is read", w.stored, func() bool { return w.stored() >= all })
		w.drained()
		w.keep(10)
		w.keep(-1)
		stop(t, p)
		r := w.judge()
		if r.Lost != lost {
			t.Fatalf("round %d: %v", i, &r)
		}
		// Messages are deleted while the program is stopped.
		if i > 0 { // the first time, nothing is deleted
			w.keep(300)
		}
		w.publish(900)
		p = start(t, w.config())
		advance(t, "it works", w.stored, func() bool { return w.stored() > all })
		w.drained()
		w.keep(-1)
		s, d := w.reported(p)
		stop(t, p)
		r = w.judge()
		now := r.Lost - lost
		lost = r.Lost
		sure, possible = sure+s, possible+d
		wrong := s > now
		switch limits := policy == jetstream.LimitsPolicy; {
		case limits && !filtered:
			wrong = s != now || d > 0
		case limits:
			wrong = s > 0 || d < now || (now == 0 && d > 0)
		default:
			wrong = wrong || d > 0
		}
		if wrong || (now > 0) != (i > 0) {
			t.Errorf("round %d: %d messages are lost; %d reported as lost, and %d as possibly lost", i, now, s, d)
		}
		if r.Corrupted+r.Invented+r.Misrouted+r.Doubled > 0 {
			t.Errorf("%v: %v", &r, r.Examples)
		}
	}
	t.Logf("figure: retention %v, filter %t, %d rounds: %d messages of %d deleted unread; %d reported as lost, %d as possibly lost",
		policy, filtered, n, lost, w.sent[0], sure, possible)
}

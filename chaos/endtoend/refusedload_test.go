package endtoend

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// A mood determines what a broker rejects.
type mood int32

const (
	sound      mood = iota // nothing
	choosy                 // three of ten record batches, so in the end some single records
	misset                 // every write to the output, with the same code
	deadIsFull             // all dead letters
	moods
)

// A moodyBroker rejects records permanently, in changing moods.
type moodyBroker struct {
	mood     atomic.Int32
	refusals atomic.Int64
}

// answer is the control function of the broker for produce requests.
func (m *moodyBroker) answer(req *kmsg.ProduceRequest) (kmsg.Response, error, bool) {
	if len(req.Topics) == 0 {
		return nil, nil, false
	}
	out := strings.HasSuffix(req.Topics[0].Topic, "-out")
	code := int16(0)
	switch mood(m.mood.Load()) {
	case choosy:
		if out && rand.IntN(10) < 3 {
			code = kerr.MessageTooLarge.Code
		}
	case misset:
		if out {
			code = kerr.InvalidRecord.Code
		}
	case deadIsFull:
		if strings.HasSuffix(req.Topics[0].Topic, "-dead") {
			code = kerr.InvalidRecord.Code // with the code for its size, a dead letter would be truncated
		}
	}
	if code == 0 {
		return nil, nil, false
	}
	m.refusals.Add(1)
	return refuseAll(req, code), nil, true
}

// refuseAll returns the answer that rejects everything in a request.
func refuseAll(req *kmsg.ProduceRequest, code int16) kmsg.Response {
	answer := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range req.Topics {
		at := kmsg.NewProduceResponseTopic()
		at.Topic, at.TopicID = topic.Topic, topic.TopicID
		for _, p := range topic.Partitions {
			one := kmsg.NewProduceResponseTopicPartition()
			one.Partition, one.ErrorCode = p.Partition, code
			at.Partitions = append(at.Partitions, one)
		}
		answer.Topics = append(answer.Topics, at)
	}
	return answer
}

// refusedRounds returns how often the broker changes its mood.
// URLFOLD_REFUSE_ROUNDS overrides the number.
func refusedRounds(t *testing.T) int {
	text := os.Getenv("URLFOLD_REFUSE_ROUNDS")
	if text == "" {
		return few(6, 60)
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("URLFOLD_REFUSE_ROUNDS: %v", err)
	}
	return n
}

// TestRefusedUnderLoad checks that no record is lost while a broker rejects
// some records permanently, all of them, or the dead letters, and is repaired
// again, with kills of the program in between. With block, each record must be
// in the output, in order; with dead-letter, in the output or in the dead
// letters.
func TestRefusedUnderLoad(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		kills        bool
	}{{"block", "block", true}, {"dead-letter", "dead-letter", true}, {"dead-letter without kills", "dead-letter", false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			refusedUnderLoad(t, c.policy, c.kills)
		})
	}
}

func refusedUnderLoad(t *testing.T, policy string, kill bool) {
	c, conn := kafkatest.Fake(t, kfake.GroupMinSessionTimeout(time.Second))
	m := &moodyBroker{}
	w := newKafka(t, conn)
	w.policy = policy
	c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return m.answer(r.(*kmsg.ProduceRequest))
	})
	p := start(t, w.config())
	kills := 0
	rounds := refusedRounds(t)
	for i := range rounds {
		m.mood.Store(int32(sound)) // fill writes to another topic, and must get through
		w.fill(300)
		m.mood.Store(int32(1 + i%(int(moods)-1)))
		w.fill(300)
		before := m.refusals.Load()
		until(t, "something is refused", func() bool {
			if m.refusals.Load() > before {
				return true
			}
			w.fill(100) // slowly: what is filled while a lane is blocked has to be drained
			time.Sleep(200 * time.Millisecond)
			return false
		})
		time.Sleep(rand.N(1500 * time.Millisecond))
		if p.Ended() {
			t.Fatal("it has ended by itself")
		}
		if kill && i%2 == 0 {
			p.Kill()
			kills++
			p = start(t, w.config())
		}
	}
	m.mood.Store(int32(sound))
	w.drained()
	stop(t, p)
	r := w.judge()
	t.Logf("figure: %s, rounds: %d; kills: %d; refusals: %d; %v", policy, rounds, kills, m.refusals.Load(), &r)
	wrong := r.Lost + r.Corrupted + r.Invented
	if policy == "block" {
		wrong += r.Misrouted
	}
	// A record that was a dead letter before a kill may be accepted after it.
	if policy == "block" || !kill {
		wrong += r.Reordered
	}
	if wrong > 0 {
		t.Errorf("%v", r.Examples)
	}
}

// TestReloadWhileBlocked checks that a reload takes effect while a lane is
// blocked: with a dead letter in the new configuration, the rejected record
// becomes a dead letter and the rest continues, in the same process.
func TestReloadWhileBlocked(t *testing.T) {
	t.Parallel()
	r, dir := onFake(t, "max.message.bytes", true), refusedInput(t)
	p := startRefused(t, dir, r, "block")
	p.blocked(r)
	p.rewrite("refused: block", "refused: dead-letter")
	p.rewrite("\norder:", "\ndead_letter: {file: {path: "+dir+"/dead.jsonl}}\norder:")
	p.hangup()
	p.ends(0)
	letters := p.letters()
	if len(letters) != 1 {
		t.Errorf("%d dead letters", len(letters))
	}
	got := r.read()
	set := map[string]bool{}
	for _, line := range append(got, letters...) {
		set[line] = true
	}
	if len(set) != refusedLines {
		t.Errorf("%d different records, want %d", len(set), refusedLines)
	}
}

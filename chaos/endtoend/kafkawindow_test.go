package endtoend

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// An hourly is the times of the records of each partition: at equal distances, and
// some of them hours late, a day ahead, or missing. All of them are in the past,
// because brokers refuse times in the future, and less than a week old, because
// brokers remove older records.
type hourly struct {
	began int64
	an    int // records an hour
}

func newHourly(an int) *hourly {
	return &hourly{time.Now().Add(-120 * time.Hour).Truncate(time.Hour).UnixMilli(), an}
}

// The kinds of times.
const (
	onTime = iota
	isLate
	isAhead
	noTime
)

// kind returns the kind of the time of record i of a partition.
func (*hourly) kind(i int) int {
	if i < 100 {
		return onTime
	}
	return i % 50 % 4 * b2i(i%50 < 4)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// of returns the time of record i in Unix milliseconds; 0: none.
func (h *hourly) of(i int) int64 {
	t := h.began + int64(i)*3600_000/int64(h.an)
	return [...]int64{onTime: t, isLate: t - 5*3600_000, isAhead: t + 24*3600_000}[h.kind(i)%noTime] * int64(b2i(h.kind(i) != noTime))
}

// window returns the window of record i, or a number that no other record has if it
// passes whatever its key is.
func (h *hourly) window(i int) int64 {
	if h.kind(i) != onTime {
		return -1 - int64(i)
	}
	return h.of(i) / 3600_000
}

// judgeWindows checks that each record was written that comes first in its window,
// or passes because of its time. It returns how many other records were written, or
// how many times again.
func (w *changelogWorld) judgeWindows() (again int) {
	w.t.Helper()
	count := w.counts()
	for p := range w.lines {
		type group struct {
			key    int
			window int64
		}
		written := map[group]int{}
		for i, key := range w.lines[p] {
			n := 0
			for _, scheme := range []string{"http", "HTTP"} {
				n += count[fmt.Sprintf(`{"url":"%s://example.com/%d/%d?utm_source=%d"}`, scheme, p, key, i)]
			}
			written[group{key, w.times.window(i)}] += n
		}
		for g, n := range written {
			if n == 0 {
				w.t.Errorf("partition %d: no record of key %d in window %d was written", p, g.key, g.window)
			}
			again += max(0, n-1)
		}
	}
	return again
}

// entries returns how many entries of the changelog compaction leaves.
func (w *changelogWorld) entries() (n int) {
	w.t.Helper()
	for _, records := range kafkatest.Read(w.t, kafkatest.Client(w.t, w.conn, w.topic("keys")), w.topic("keys"), kafkaPartitions) {
		left := map[string]bool{}
		for _, r := range records {
			left[string(r.Key)] = r.Value != nil
		}
		for _, is := range left {
			n += b2i(is)
		}
	}
	return n
}

// open returns at most how many entries the windows of the last hours have.
func (w *changelogWorld) open(hours int) (n int) {
	for p := range w.lines {
		n += min(len(w.lines[p]), hours*w.times.an) + 1
	}
	return n
}

// TestKafkaDedupeWindows: across restarts and other members, each key is written
// once in each window, records with other times pass, and the changelog forgets the
// windows that are over. After the offsets of the group were set back, records are
// written again, and none is lost.
func TestKafkaDedupeWindows(t *testing.T) {
	onBrokers(t, func(t *testing.T, k *kafkaWorld) {
		w := newChangelog(k)
		w.times = newHourly(360)
		for range 3 {
			w.fill(1000)
			members := []*chaos.Process{start(t, w.config()), start(t, w.config())}
			w.drained()
			for _, p := range members {
				stop(t, p)
			}
			if again := w.judgeWindows(); again > 0 {
				t.Fatalf("%d records were written again", again)
			}
			if n, most := w.entries(), w.open(2); n > most {
				t.Errorf("the changelog keeps %d entries, want at most %d", n, most)
			}
		}
		kafkatest.Rewind(t, w.conn, w.name, w.topic("in"), slices.Repeat([]int64{700}, kafkaPartitions))
		p := start(t, w.config())
		w.drained()
		stop(t, p)
		again := w.judgeWindows()
		if again == 0 {
			t.Error("no record was written again, although the offsets were set back")
		}
		t.Logf("%d records, %d were written again after the offsets were set back", w.records*kafkaPartitions, again)
	})
}

// TestKafkaDedupeWindowsKill is TestKafkaDedupeKill with windows. The changelog may
// keep the entries of a window that was over when the last owner of a partition was
// killed, until another record arrives.
func TestKafkaDedupeWindowsKill(t *testing.T) {
	onBrokers(t, func(t *testing.T, k *kafkaWorld) {
		w := newChangelog(k)
		w.times = newHourly(1200)
		w.killMembers("first, with windows", w.judgeWindows)
		if n, most := w.entries(), w.open(3); n > most {
			t.Errorf("the changelog keeps %d entries, want at most %d", n, most)
		}
	})
}

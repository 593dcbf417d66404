package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// windowSet is a memoryKeys that forgets windows.
type windowSet struct {
	memoryKeys
	cut WindowCut // of the last call
}

func (s *windowSet) SealWindows(keys []codec.Key, w WindowCut) ([]byte, error) {
	s.cut = w
	return s.Seal(keys)
}

func (s *windowSet) WindowState() []byte { return s.cut.State }

// windowed returns a pipeline whose windows are hours.
func windowed(t *testing.T, set *windowSet) *Pipeline {
	return newPipe(t, Options{
		Sources: []Source{&keySource{}}, Sinks: []Sink{&fakeSink{}}, NewCodec: byKind, Workers: 1,
		Dedupe: &Dedupe{Set: set, Window: &Window{Size: time.Hour, Lateness: 30 * time.Minute, Idle: time.Minute}},
	})
}

// timed returns a batch of l with a record of key 1 for each time, in minutes; -1
// is no time.
func timed(l *Lane, p *Pipeline, seq uint64, minutes ...int64) *Batch {
	b := keyed(l, p, seq, make([]uint64, len(minutes))...)
	for i, m := range minutes {
		b.Out.IDs[i] = codec.KeyFromUint64s(1, 1)
		b.Out.Times = append(b.Out.Times, record.Time{Seconds: 60 * m, Known: m >= 0})
	}
	return b
}

// decidedText shows what was decided about b: + for a first or passing record, - for
// a duplicate.
func decidedText(t *testing.T, p *Pipeline, b *Batch) string {
	t.Helper()
	b.Lane.mu.Lock()
	if b.Lane.next-b.Lane.low == uint64(len(b.Lane.ring)) {
		b.Lane.grow()
	}
	b.Lane.next++
	b.Lane.mu.Unlock()
	if ok, err := p.filtering.decisions.decide(b); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var s strings.Builder
	for i := range b.Out.Recs {
		s.WriteByte("-+"[b2i(b.keep.has(i))])
	}
	return s.String()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestWindow: the time in a record selects its window; late records, those far
// ahead and those without a time pass, and the latter two move nothing.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name             string
		minutes          []int64
		want             string
		late, ahead, not int64
	}{
		{"one window", []int64{10, 0, 59, 30}, "+---", 0, 0, 0},
		{"a duplicate prolongs nothing", []int64{10, 59, 60, 61}, "+-+-", 0, 0, 0},
		{"the next window does not forget the last one", []int64{10, 50, 60, 80, 89, 11}, "+-+---", 0, 0, 0},
		{"late", []int64{10, 50, 60, 80, 90, 11, 12, 89}, "+-+--++-", 2, 0, 0},
		{"no time", []int64{10, -1, -1, 11}, "+++-", 0, 0, 2},
		{"far ahead", []int64{10, 20, 30, 5000, 5001, 20, 61, 62, 31}, "+--++-+--", 0, 2, 0},
		{"the first time is far ahead", []int64{5000, 10, 20, 30, 11}, "++---", 0, 0, 0},
		{"some days are missing", []int64{10, 20, 30, 5000, 5001, 5002, 5003, 5004, 5005, 5006, 11}, "+--++++---+", 1, 3, 0},
		{"two times prove nothing", []int64{10, 5000, 11}, "++-", 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := windowed(t, &windowSet{})
			l := intake{p, 0}.NewLane("lane", LaneLimits{})
			got := decidedText(t, p, timed(l, p, 0, c.minutes...))
			if w := p.filtering.decisions.windows; got != c.want || w.passed.late != c.late || w.passed.ahead != c.ahead || w.passed.noTime != c.not {
				t.Errorf("%s, %d late, %d ahead, %d without a time; want %s, %d, %d, %d", got, w.passed.late, w.passed.ahead, w.passed.noTime, c.want, c.late, c.ahead, c.not)
			}
		})
	}
}

// TestWindowCut: a commit forgets only what the cut has passed, although later
// records were decided; a restart from it decides as before.
func TestWindowCut(t *testing.T) {
	set := &windowSet{memoryKeys: memoryKeys{members: map[codec.Key]bool{}}}
	p := windowed(t, set)
	l := intake{p, 0}.NewLane("lane", LaneLimits{})
	first, second := timed(l, p, 0, 10, 20, 30), timed(l, p, 1, 300, 40, 310, 320, 315, 314, 313, 312, 311, 316, 317)
	commit := func(want uint32) {
		t.Helper()
		c, err := p.filtering.decisions.collect(func() {})
		if err == nil {
			_, err = p.filtering.decisions.sealCut(c)
		}
		if err == nil {
			err = set.Stored()
		}
		if err != nil || set.cut.Least != want {
			t.Errorf("%v, least %d, want %d", err, set.cut.Least, want)
		}
	}
	decidedText(t, p, first)
	before := decidedText(t, p, second)
	p.filtering.decisions.settle(first, true)
	commit(0)
	restarted := windowed(t, set)
	again := intake{restarted, 0}.NewLane("lane", LaneLimits{})
	after := decidedText(t, restarted, timed(again, restarted, 0, 300, 40, 310, 320, 315, 314, 313, 312, 311, 316, 317))
	if before != "+-++++-----" || after != before {
		t.Errorf("%s, and after a restart %s", before, after)
	}
	p.filtering.decisions.settle(second, true)
	commit((317 - 30) / 60)
}

// TestWindowLanes: an open lane that has no times yet, or earlier ones, keeps
// windows, until it has ended, or has brought nothing for the idle period while
// others went on.
func TestWindowLanes(t *testing.T) {
	p := windowed(t, &windowSet{})
	a, b := intake{p, 0}.NewLane("a", LaneLimits{}), intake{p, 0}.NewLane("b", LaneLimits{})
	w := p.filtering.decisions.windows
	low := func(want int64) {
		t.Helper()
		if w.now.low != want {
			t.Errorf("low %d, want %d", w.now.low, want)
		}
	}
	decidedText(t, p, timed(a, p, 0, 100, 101, 102))
	low(noTime)
	decidedText(t, p, timed(b, p, 0, 10, 11, 12))
	low(12 * 60)
	decidedText(t, p, timed(a, p, 1, 150))
	low(12 * 60)
	w.last = w.last.Add(-time.Hour) // a sink was down
	decidedText(t, p, timed(a, p, 2, 151))
	low(12 * 60)
	for range 4 {
		w.last = w.last.Add(-time.Minute)
		decidedText(t, p, timed(a, p, a.next, 151))
	}
	low(151 * 60)
	decidedText(t, p, timed(b, p, 1, 13)) // late
	low(151 * 60)
	decidedText(t, p, timed(a, p, a.next, 160))
	low(151 * 60)
	p.filtering.decisions.closed([]*Lane{b})
	decidedText(t, p, timed(a, p, a.next, 161))
	low(161 * 60)
	for i := range 2 * mostClosed {
		l := intake{p, 0}.NewLane(fmt.Sprint("old", i), LaneLimits{})
		decidedText(t, p, timed(l, p, 0, int64(i)))
		p.filtering.decisions.closed([]*Lane{l})
	}
	if n := len(w.now.lanes); n > mostClosed+1 {
		t.Errorf("%d lanes are remembered", n)
	}
}

// TestWindowState: the stored state of the windows that is damaged is an error.
func TestWindowState(t *testing.T) {
	for _, state := range []string{`?`, `{"lanes":{"a":null}}`, `{"lanes":{"a":{"recent":[1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7]}}}`} {
		if _, err := newWindows(&Window{Size: time.Hour}, []byte(state), new(passed)); err == nil || !strings.Contains(err.Error(), "state of the windows") {
			t.Errorf("%s: %v", state, err)
		}
	}
}

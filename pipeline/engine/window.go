package engine

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/urlfold/urlfold/codec"
)

// A Window makes a [Dedupe] compare only records of the same window: a period of Size,
// counted from 1970-01-01 in UTC, that contains the time in the record. So a duplicate
// does not prolong the window, and the result does not depend on how lanes are mixed.
//
// A window is forgotten when the latest times of all open lanes are at least Lateness
// past the end of the window. Later records of the window are late, and pass. A record
// whose time is far ahead of the recent times of its lane passes, too, and does not
// change the latest time.
//
// Where the sets move with their lanes ([Dedupe.Lanes]), each lane has separate
// windows, and its clock is stored with its position ([LanePos.Note]). Where keys are
// claimed ([Dedupe.Claims]), no clock is needed: the claims forget a key some time
// after its record is durable.
type Window struct {
	Size     time.Duration // whole seconds
	Lateness time.Duration
	// ByMessage takes the time of the message instead of the time in the record.
	ByMessage bool
	// Idle is how long a lane without new times counts while other lanes have
	// new times. It is the only period that the clock of the machine measures:
	// it decides how long windows are kept, never to which window a record
	// belongs.
	Idle time.Duration
}

// A WindowKeySet is a [KeySet] that can forget windows.
type WindowKeySet interface {
	KeySet
	// SealWindows is like Seal, for keys that belong to windows. The
	// description that it returns includes the state. The description may
	// contain the keys of forgotten windows until some more windows are
	// forgotten.
	SealWindows(keys []codec.Key, w WindowCut) (state []byte, err error)
	// WindowState returns the stored WindowCut.State; or nil.
	WindowState() []byte
}

// A WindowCut holds the state of the windows at a cut.
type WindowCut struct {
	Windows []uint32 // windows of the keys
	Least   uint32   // earlier windows are forgotten
	State   []byte   // JSON
}

const (
	recentTimes  = 15  // number of the last times of a lane, whose median is compared with the next time
	leastTimes   = 3   // the median of fewer times proves nothing
	mostClosed   = 256 // lanes that are remembered after their end
	noTime       = math.MinInt64
	windowBorder = int64(math.MaxUint32)
)

// of returns the window of a time in seconds, and whether there is one.
func (o *Window) of(t int64) (uint32, bool) {
	n := t / int64(o.Size/time.Second)
	return uint32(n), t >= 0 && n < windowBorder
}

// timeOf returns the time of record i of b in seconds, and whether it has one.
func (o *Window) timeOf(b *Batch, i int) (int64, bool) {
	if !o.ByMessage {
		if len(b.Out.Times) == 0 {
			return 0, false
		}
		t := b.Out.Times[i]
		return t.Seconds, t.Known
	}
	if len(b.Msgs) == 0 {
		return 0, false
	}
	t := b.Msgs[b.Out.Recs[i].Msg].Time
	return t / int64(time.Second), t > 0
}

// inWindow returns k as a key of a window.
func inWindow(k codec.Key, window uint32) codec.Key {
	var b [20]byte
	putKey(b[0:], k)
	binary.LittleEndian.PutUint32(b[16:], window)
	h := xxh3.Hash128(b[:])
	return codec.KeyFromUint64s(h.Hi, h.Lo)
}

// windows is the state of the windows of a pipeline, or of a lane with a
// separate set. All times are in seconds. decisions.mu guards it.
type windows struct {
	o              *Window
	size, lateness int64
	idle           time.Duration
	passed         *passed
	now            clock // after the last decision
	cut            clock // at the cut; a commit stores this clock

	unbound map[*Lane]time.Duration // open lanes without a decision, and when they were opened
	active  time.Duration           // time during which decisions were made
	last    time.Time               // time of the last decision

	others int64 // least of the latest times of the other open lanes, while a batch is decided
}

// passed counts records that passed because of their times.
type passed struct{ late, ahead, noTime int64 }

// A clock holds the latest times of lanes.
type clock struct {
	low   int64 // the time that decides which windows are forgotten; only revoke moves it back
	lanes map[string]*laneClock
}

// A laneClock holds the latest times of a lane.
type laneClock struct {
	Latest int64   `json:"latest"`           // greatest time that was not far ahead; noTime: too few
	Recent []int64 `json:"recent,omitempty"` // last times, as differences to Latest when stored
	Closed bool    `json:"closed,omitempty"` // the lane has ended

	active time.Duration // windows.active at the last record with a time
	seen   bool          // this process has opened the lane
}

func newWindows(o *Window, state []byte, count *passed) (*windows, error) {
	w := &windows{o: o, size: int64(o.Size / time.Second), lateness: int64(o.Lateness / time.Second), idle: o.Idle, passed: count, unbound: map[*Lane]time.Duration{}}
	if err := w.now.restore(state); err != nil {
		return nil, err
	}
	w.cut = clock{low: w.now.low, lanes: map[string]*laneClock{}}
	for id, l := range w.now.lanes {
		w.cut.lanes[id] = l.clone()
	}
	return w, nil
}

// least returns the first window that is not forgotten when all lanes have
// reached low.
func (w *windows) least(low int64) uint32 {
	if low < w.lateness {
		return 0
	}
	return uint32(min((low-w.lateness)/w.size, windowBorder))
}

// open registers a lane before its first decision.
func (w *windows) open(l *Lane) { w.unbound[l] = w.active }

// close registers that a lane has ended and that the cut covers all of it.
func (w *windows) close(l *Lane) {
	delete(w.unbound, l)
	for _, c := range []*clock{&w.now, &w.cut} {
		if lane := c.lanes[l.ID()]; lane != nil {
			lane.Closed = true
		}
	}
	w.limit()
}

// limit forgets all but some of the lanes that have ended. Their recent
// times would only serve to judge whether the next time is far ahead.
func (w *windows) limit() {
	var ended []string
	for id, lane := range w.now.lanes {
		if lane.Closed || !lane.seen && w.active-lane.active >= w.idle {
			ended = append(ended, id)
		}
	}
	if len(ended) <= mostClosed {
		return
	}
	slices.SortFunc(ended, func(a, b string) int { return cmp.Compare(w.now.lanes[a].Latest, w.now.lanes[b].Latest) })
	for _, id := range ended[:len(ended)-mostClosed] {
		delete(w.now.lanes, id)
		delete(w.cut.lanes, id)
	}
}

// begin prepares for the records of a batch of l. It returns its clock.
func (w *windows) begin(l *Lane) *laneClock {
	now := time.Now()
	if !w.last.IsZero() {
		// While a sink is down, no lane has new times, but none counts as idle.
		w.active += min(now.Sub(w.last), w.idle/4)
	}
	w.last = now
	delete(w.unbound, l)
	lane := w.now.lanes[l.ID()]
	if lane == nil {
		lane = &laneClock{Latest: noTime, active: w.active}
		w.now.lanes[l.ID()] = lane
	}
	lane.Closed, lane.seen = false, true
	w.others = math.MaxInt64
	for _, opened := range w.unbound {
		if w.active-opened < w.idle {
			w.others = noTime
		}
	}
	for _, other := range w.now.lanes {
		if other != lane && !other.Closed && w.active-other.active < w.idle {
			w.others = min(w.others, other.Latest)
		}
	}
	return lane
}

// place returns the window of record i of b, whose lane has the given clock. It
// returns false, and counts the record, if the record passes whatever its key
// is.
func (w *windows) place(lane *laneClock, b *Batch, i int) (window uint32, ok bool) {
	t, ok := w.o.timeOf(b, i)
	if ok {
		window, ok = w.o.of(t)
	}
	if !ok {
		w.passed.noTime++
		return 0, false
	}
	late := window < w.least(w.now.low)
	lane.active = w.active
	isAhead := lane.add(t, w.size+w.lateness)
	w.now.low = max(w.now.low, min(w.others, lane.Latest))
	switch {
	case late:
		w.passed.late++
	case isAhead:
		w.passed.ahead++
	}
	return window, !late && !isAhead
}

// add adds a time to the clock. It reports whether the time is more than far
// ahead of the median of the last times.
func (c *laneClock) add(t, far int64) (ahead bool) {
	if len(c.Recent) == recentTimes {
		copy(c.Recent, c.Recent[1:])
		c.Recent[recentTimes-1] = t
	} else {
		c.Recent = append(c.Recent, t)
	}
	if len(c.Recent) < leastTimes || c.Latest != noTime && t <= c.Latest {
		return false
	}
	var sorted [recentTimes]int64
	n := copy(sorted[:], c.Recent)
	slices.Sort(sorted[:n])
	limit := sorted[(n-1)/2] + far
	if t > limit {
		return true
	}
	if c.Latest != noTime {
		c.Latest = t
		return false
	}
	for _, t := range sorted[:n] {
		if t <= limit {
			c.Latest = max(c.Latest, t)
		}
	}
	return false
}

func (c *laneClock) clone() *laneClock {
	other := *c
	other.Recent = slices.Clone(c.Recent)
	return &other
}

// A reached is the state of the windows in the entry of a decision.
type reached struct {
	low  int64
	lane *laneClock
}

// cover moves the cut over the entry e.
func (w *windows) cover(e *decided) {
	w.cut.low = max(w.cut.low, e.reached.low)
	w.cut.lanes[e.lane.ID()] = e.reached.lane
}

// revoke forgets what the decisions about l beyond the cut have changed.
func (w *windows) revoke(l *Lane) {
	w.now.low = w.cut.low
	delete(w.now.lanes, l.ID())
	if lane := w.cut.lanes[l.ID()]; lane != nil {
		w.now.lanes[l.ID()] = lane.clone()
	}
}

// clockState is the JSON of a clock.
type clockState struct {
	Low   int64                 `json:"low"`
	Lanes map[string]*laneClock `json:"lanes"`
}

// store returns the JSON of c.
func (c *clock) store() ([]byte, error) {
	s := clockState{Low: c.low, Lanes: make(map[string]*laneClock, len(c.lanes))}
	for id, lane := range c.lanes {
		lane = lane.clone()
		for i := range lane.Recent {
			if lane.Latest != noTime {
				lane.Recent[i] -= lane.Latest
			}
		}
		s.Lanes[id] = lane
	}
	return json.Marshal(s)
}

// restore sets c to what store has returned.
func (c *clock) restore(state []byte) error {
	s := clockState{Low: noTime}
	if len(state) > 0 {
		if err := json.Unmarshal(state, &s); err != nil {
			return fmt.Errorf("decode the stored state of the windows: %w", err)
		}
	}
	*c = clock{low: s.Low, lanes: map[string]*laneClock{}}
	for id, lane := range s.Lanes {
		if lane == nil || len(lane.Recent) > recentTimes {
			return fmt.Errorf("decode the stored state of the windows: lane %q is damaged", id)
		}
		for i := range lane.Recent {
			if lane.Latest != noTime {
				lane.Recent[i] += lane.Latest
			}
		}
		c.lanes[id] = lane
	}
	return nil
}

// notePrefix marks a note of this package. The note of a position may come from
// another program, or from windows that use other times.
func (w *windows) notePrefix() string {
	source := "record"
	if w.o.ByMessage {
		source = "message"
	}
	return "urlfold window 1 " + source + " "
}

// note returns the text of the clock of w at its cut. w has a single lane.
func (w *windows) note() (string, error) {
	state, err := w.cut.store()
	return w.notePrefix() + string(state), err
}

// windowsFrom returns the windows of a lane from the note that is stored
// with its position. Without a matching note, the clock is empty, so records
// that would have been late are compared.
func windowsFrom(o *Window, note string, count *passed) *windows {
	w, _ := newWindows(o, nil, count) // without a note, the call cannot fail
	state, ours := strings.CutPrefix(note, w.notePrefix())
	if !ours {
		return w
	}
	if restored, err := newWindows(o, []byte(state), count); err == nil {
		return restored
	}
	return w
}

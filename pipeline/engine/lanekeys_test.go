package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
)

// laneSets is an empty LaneKeySet that notes which lanes forget windows.
type laneSets struct {
	mu     sync.Mutex
	forgot []string
}

func (*laneSets) Load(context.Context, *Lane, Position) error   { return nil }
func (*laneSets) Has(*Lane, codec.Key, uint32) (bool, error)    { return false, nil }
func (*laneSets) Seal(context.Context, *Lane, []FirstKey) error { return nil }
func (*laneSets) Stored(*Lane, []FirstKey) error                { return nil }
func (*laneSets) Drop(*Lane)                                    {}
func (s *laneSets) Forget(_ context.Context, l *Lane, _ uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgot = append(s.forgot, l.Name())
	return nil
}

// laneSource is a source whose position of the lane lost was taken over by another
// process.
type laneSource struct {
	fakeSource
	err error
}

func (s *laneSource) Commit(_ context.Context, ups []LanePos) error {
	for i := range ups {
		ups[i].Refused = ups[i].Lane.Name() == "lost"
	}
	return s.err
}

// newLanes returns a pipeline whose lanes have separate windows.
func newLanes(t *testing.T, src *laneSource) (*Pipeline, *laneSets) {
	sets := &laneSets{}
	return newPipe(t, Options{
		Sources: []Source{src}, Sinks: []Sink{&fakeSink{}}, NewCodec: byKind, Workers: 1,
		Dedupe: &Dedupe{Lanes: sets, Scope: ScopeLane, Window: &Window{Size: time.Hour}},
	}), sets
}

// TestForgetStored: only lanes whose positions are stored forget windows.
func TestForgetStored(t *testing.T) {
	for _, c := range []struct {
		err  error
		want []string
	}{{nil, []string{"kept"}}, {errors.New("no answer"), nil}} {
		p, sets := newLanes(t, &laneSource{err: c.err})
		cuts := []laneCut{
			{up: LanePos{Lane: newLane("lost", 1)}, least: 5},
			{up: LanePos{Lane: newLane("unsealed", 1)}, least: 5, err: errors.New("keys are not stored")},
			{up: LanePos{Lane: newLane("kept", 1)}, least: 5},
			{up: LanePos{Lane: newLane("nothing to forget", 1)}},
		}
		if err := p.filtering.decisions.storePositions(t.Context(), p.feeds[0], cuts); !errors.Is(err, c.err) {
			t.Error(err)
		}
		p.filtering.decisions.forget(t.Context(), cuts)
		if !slices.Equal(sets.forgot, c.want) {
			t.Errorf("%v: %v have forgotten windows, want %v", c.err, sets.forgot, c.want)
		}
	}
}

// TestNotLoaded: a lane with windows that emits before its keys are loaded is an
// error.
func TestNotLoaded(t *testing.T) {
	p, _ := newLanes(t, &laneSource{})
	l := intake{p, 0}.NewLane("lane", LaneLimits{})
	if _, err := p.filtering.decisions.decide(timed(l, p, 0, 1)); err == nil || !strings.Contains(err.Error(), "before its keys were loaded") {
		t.Error(err)
	}
}

// TestNote: the windows of a lane are restored from its note. Without one, or with
// the note of another program or of windows by other times, they begin again.
func TestNote(t *testing.T) {
	o := &Window{Size: time.Hour}
	w := windowsFrom(o, "", new(passed))
	w.cut.low = 7200
	w.cut.lanes["lane"] = &laneClock{Latest: 7200, Recent: []int64{7100, 7200}}
	note, err := w.note()
	if err != nil {
		t.Fatal(err)
	}
	if got := windowsFrom(o, note, new(passed)); got.now.low != 7200 || got.cut.low != 7200 || got.now.lanes["lane"].Recent[0] != 7100 {
		t.Errorf("%s: %+v", note, got)
	}
	for _, other := range []string{"", "consumer-1", note[:len(note)-1], strings.Replace(note, "record", "message", 1)} {
		if got := windowsFrom(o, other, new(passed)); got.now.low != noTime || len(got.now.lanes) > 0 {
			t.Errorf("%s: %+v", other, got)
		}
	}
}

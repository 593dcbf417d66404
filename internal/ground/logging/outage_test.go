package logging

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/testkit/bubble"
)

// TestOutage: an outage is logged when it begins, every 10 s while it lasts, and
// when it is over; one that flaps is logged no more often.
func TestOutage(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var out strings.Builder
		o := NewOutage(New(&out, Options{}), "write failed, retrying", "write recovered", "topic", "t")
		o.Clear()
		if out.Len() > 0 || o.Err() != nil {
			t.Fatalf("before any failure: %q, %v", out.String(), o.Err())
		}
		down := errors.New("disk on fire")
		for range 250 { // 25 s
			o.Set(down)
			time.Sleep(100 * time.Millisecond)
		}
		if n := strings.Count(out.String(), "write failed, retrying"); n != 3 || !errors.Is(o.Err(), down) {
			t.Errorf("%d events in 25 s, %v\n%s", n, o.Err(), out.String())
		}
		if !strings.Contains(out.String(), "lasting=20") || !strings.Contains(out.String(), "topic=t") {
			t.Errorf("the events say neither how long nor where:\n%s", out.String())
		}
		o.Clear()
		if n := strings.Count(out.String(), "write recovered"); n != 1 || o.Err() != nil || !strings.Contains(out.String(), "lasted=25s") {
			t.Errorf("%d events of the end, %v\n%s", n, o.Err(), out.String())
		}
		out.Reset()
		for range 300 { // 30 s of flapping
			o.Set(down)
			o.Clear()
			time.Sleep(100 * time.Millisecond)
		}
		if f, h := strings.Count(out.String(), "failed"), strings.Count(out.String(), "recovered"); f != 3 || h != f {
			t.Errorf("30 s of flapping: %d failures, %d recoveries\n%s", f, h, out.String())
		}
	})
}

// TestOutageSilent: without a logger an outage is known all the same.
func TestOutageSilent(t *testing.T) {
	o := NewOutage(nil, "a", "b")
	o.Set(errors.New("x"))
	if o.Err() == nil {
		t.Error("it is not known")
	}
}

package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/logging"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/report/keydiff"
	"github.com/urlfold/urlfold/pipeline/engine"
)

// now is the time of all tests.
var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// A part is a source and a sink that only reports its health.
type part struct {
	engine.Source
	err error
}

func (p part) Health() error { return p.err }

type sinkPart struct {
	engine.Sink
	err error
}

func (p sinkPart) Health() error { return p.err }

// A silent has no Health.
type silent struct{ engine.Sink }

func (silent) Close(context.Context) error { return nil }

// green returns a view in which all is well.
func green() View {
	s := engine.Snapshot{
		State: engine.Running, Generation: 3, InFlight: 5, Opened: 1042, Batches: 64, Free: 57, Bytes: 7 << 30,
		Sources: []engine.SourceSnapshot{
			{Name: "file-1", Bytes: 7 << 30, Opened: 1040, Blocked: 83 * time.Second, Ledger: engine.Ledger{
				Read: 81234567, Emitted: 81220000, Dropped: 4000, Filtered: 7000, Duplicates: 3000, Dead: 67, InFlight: 500}},
			{Name: "kafka-1", Bytes: 1 << 20, Opened: 2, Ledger: engine.Ledger{Read: 1000, Emitted: 990, Abandoned: 10}},
		},
		Sinks: []engine.SinkSnapshot{
			{Name: "file-2", Batches: 1000, Records: 81230990, Bytes: 8 << 30, Holds: 2, Retries: 12},
			{Name: "dead letter", Dead: true, Batches: 3, Records: 67, Bytes: 9001, Refused: 1},
		},
		Commits: true, Committed: now.Add(-700 * time.Millisecond),
	}
	s.Stats.URLs, s.Stats.Changed, s.Stats.Flagged, s.Stats.Unwritten = 81230999, 5550123, 1234, 12
	s.Stats.Flags[codec.FlagNonHex], s.Stats.Flags[codec.FlagLowerHex], s.Stats.Flags[codec.FlagCredentials] = 900, 12345, 3
	s.Stats.Rejects[record.Unparsed], s.Stats.Rejects[record.TooLong] = 60, 7
	s.Sinks[0].Latency = engine.Latency{Counts: [15]int64{0, 900, 95, 5}, Sum: 4500 * time.Millisecond}
	s.Sinks[1].Latency = engine.Latency{Counts: [15]int64{14: 3}, Sum: 100 * time.Second}
	s.Lanes = []engine.LaneSnapshot{
		{Name: "/var/log/nginx/access.log", Bytes: 5 << 30, Moved: true, Watermark: engine.Position{A: 5368709120}, Ended: true},
		{Name: "/var/log/nginx/access.log.1", Bytes: 2 << 30, InFlight: 4, Moved: true, Oldest: now.Add(-2300 * time.Millisecond)},
		{Name: "web.access/0", Source: 1, InFlight: 1, Oldest: now.Add(-61 * time.Second)},
	}
	s.Lanes[0].Records = 60000000
	return View{
		Snapshot: s, Sources: []engine.Source{part{}, part{}}, Sinks: []engine.Sink{sinkPart{}, silent{}},
		Began: now.Add(-time.Hour), CommitInterval: time.Second, MaxUnresolved: 5 * time.Minute,
		Shadow: &keydiff.ShadowStatus{ProfileA: "equiv, k1-whatwg/1", ProfileB: "analytics, k3-whatwg/1", Since: now.Add(-time.Hour), OneIn: 64, Estimated: true,
			URLs: 81230999, RejectedByB: 3, GroupsA: 12345, GroupsB: 12001, Merges: keydiff.ShadowEffect{Groups: 311, Parts: 655, URLs: 54321}},
	}
}

// red returns a view in which much is wrong, and names come from somebody who means
// harm.
func red() View {
	v := green()
	s := &v.Snapshot
	v.ReloadErr = "urlfold.yaml:3:5: no such profile: <b>x</b>"
	v.Sources = []engine.Source{part{err: errors.New("no broker answers: dial nats://user:pass@n1:4222")}, part{}}
	v.Sinks = []engine.Sink{sinkPart{err: errors.New("no space left on device")}, silent{}}
	s.Sinks[1].Waiting, s.Sinks[1].LastErr = 2, "token hunter2 was refused"
	s.Committed, s.CommitErr = now.Add(-time.Minute), "checkpoint: no space left on device"
	s.Free = 0
	s.Sinks[0].Stuck = 2
	s.Sinks[0].Blocked = []engine.Blockage{
		{Lane: "web.access/0", Code: "MESSAGE_TOO_LARGE", Reason: "the broker refuses the record", Position: 4711, Records: 1, Since: now.Add(-3 * time.Minute)},
		{Lane: "https://u:pass@host/feed", Reason: "token hunter2", Position: 5, Records: 400, Since: now.Add(-time.Minute)},
	}
	v.DamagedFiles = 52
	for i := range MaxDamaged {
		v.Damaged = append(v.Damaged, DamagedFile{
			Path: fmt.Sprintf(`/archive/<script>alert(%d)</script>-%s.gz`, i, strings.Repeat("long", 20)), Source: "file-1", Verdict: "bad-crc",
			Offset: new(int64(1234567 * i)), Detail: "the CRC is wrong",
		})
	}
	v.Damaged[1] = DamagedFile{Path: "https://u:pass@host/feed.gz", Source: "file-1", Verdict: "unreadable", Detail: "hunter2"}
	for i := range 60 {
		s.Lanes = append(s.Lanes, engine.LaneSnapshot{
			Name:   fmt.Sprintf(`/log/<script>alert(%d)</script>"'&`, i),
			Oldest: now.Add(-6*time.Minute - time.Duration(i)*time.Second), InFlight: 1,
		})
	}
	s.Lanes = append(s.Lanes, engine.LaneSnapshot{Name: "https://u:pass@host/feed\n\x00\xff", Oldest: now.Add(-50 * time.Hour)})
	return v
}

// newServer returns a server that shows v at a fixed time.
func newServer(v func() View) *Server {
	m := new(logging.Masker)
	m.Add("hunter2")
	s := New(Options{Version: "v1.2.3 (go1.26)", View: v, Masker: m})
	s.now = func() time.Time { return now }
	s.started = now.Add(-49 * time.Hour)
	return s
}

// get returns the answer of s.
func get(t *testing.T, s *Server, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.http.Handler.ServeHTTP(w, newRequest(http.MethodGet, path, nil))
	return w
}

// newRequest returns a request as a client that uses the address of the
// server sends it.
func newRequest(method, path string, body io.Reader) *http.Request {
	r := httptest.NewRequest(method, path, body)
	r.Host = "127.0.0.1:8686"
	return r
}

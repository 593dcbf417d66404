package service

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/observe/web"
)

// readings returns two states, ten seconds apart.
func readings() (a, b *reading) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	a = &reading{at: at, lag: map[string]lag{}}
	a.status.Sources = []web.SourceStatus{{Name: "in", Read: 1000, Bytes: 1 << 20}}
	a.status.Sinks = []web.SinkStatus{{Name: "out", Records: 900, Bytes: 1 << 20}}
	b = &reading{at: at.Add(10 * time.Second), lag: map[string]lag{}}
	b.status = web.Status{Ready: true, State: "running", Uptime: 61, Batches: web.BatchStatus{All: 64, Free: 60, InFlight: 4}, URLs: web.URLStatus{Found: 50}}
	b.status.Sources = []web.SourceStatus{{Name: "in", Read: 21000, Bytes: 11 << 20}, {Name: "topic\x1b", Read: 10}}
	b.status.Sinks = []web.SinkStatus{{Name: "out", Records: 10900, Bytes: 6 << 20, Mean: 0.5, Holds: 3, Waiting: 1, LastErr: "no space"}}
	b.status.Rates = &web.RateStatus{Stage: "sink", Part: "out", Why: "it is slow, and there are many reasons for that, which take a second line"}
	b.status.Lanes = []web.LaneStatus{{Waiting: 2.5}}
	b.readLag([]byte("# HELP x\nurlfold_source_lag_bytes{component=\"in\"} 3.145728e+06\n" +
		"urlfold_source_lag_records{component=\"topic\x1b\",group=\"g\",partition=\"0\"} 7\nurlfold_source_lag_records{component=\"topic\x1b\",partition=\"1\"} 5\nurlfold_source_lag_bytes{component=\"in\"} x\n"))
	return a, b
}

func TestMonitorLine(t *testing.T) {
	var b bytes.Buffer
	m := &monitor{w: &b}
	if err := m.show(compare(readings())); err != nil {
		t.Fatal(err)
	}
	const want = "2026-11-21T12:00:10Z running, ready 2,001 records/s 1.0 MiB/s in 512 KiB/s out in flight 4/64 limit sink out oldest 2.5s lag 3.0 MiB lag 12 records\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestMonitorScreen(t *testing.T) {
	var b bytes.Buffer
	m := &monitor{w: &b, form: formScreen, client: &adminClient{at: "127.0.0.1:8686"}}
	m.Fold = 80
	if err := m.show(compare(readings())); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"urlfold at 127.0.0.1:8686  running, ready, up 1m", "limited by sink out  it is slow, and ", "2,000    1.0 MiB  ############ 3.0 MiB", "12 records", "no space",
		"#........... 4 of 64 batches", "1,000    512 KiB  #........... 3, 500ms, 1 waiting"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("the screen lacks %q:\n%s", text, b.String())
		}
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if strings.ContainsRune(b.String(), '\x1b') {
		t.Errorf("a control character reaches the terminal:\n%q", b.String())
	}
}

func TestMonitorJSON(t *testing.T) {
	var b bytes.Buffer
	m := &monitor{w: &b, form: formJSON}
	if err := m.show(compare(readings())); err != nil {
		t.Fatal(err)
	}
	var p progress
	if err := json.Unmarshal(b.Bytes(), &p); err != nil || p.Records != 2001 || *p.Sources[1].LagRecords != 12 || p.Sinks[0].Bytes != 512<<10 {
		t.Errorf("%v %+v", err, p)
	}
}

package endtoend

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	kgo "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/urlfold/urlfold/chaos"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// This file is structured in the following way:
//
//   - refuser: a broker that rejects records permanently, until it is repaired.
//   - The refusers: a compacted topic, a topic and a stream with a limit.
//   - TestRefused: the handling of rejected records under each policy.

// refusedLines is the number of lines of the input.
const refusedLines = 5000

// A refuser is a broker that rejects records permanently, until it is repaired.
type refuser struct {
	name   string
	sink   string // in a configuration
	code   string // in /readyz
	whole  bool   // it rejects all records, not only the long line
	repair func()
	read   func() []string // returns its records, in order
}

// longLine is the number of the line that brokers with a limit reject.
const longLine = 2500

func refusedLine(n int) string {
	line := fmt.Sprintf("http://h.example/%05d", n)
	if n == longLine {
		line += "?" + strings.Repeat("x", 3000)
	}
	return line
}

// onFake returns a broker whose topic out rejects either all records or long
// ones.
func onFake(t *testing.T, name string, limit bool) *refuser {
	c, conn := kafkatest.Fake(t)
	options := map[string]string{}
	if limit {
		options["max.message.bytes"] = "2000"
	}
	kafkatest.CreateTopic(t, conn, "out", 1, options)
	client := kafkatest.Client(t, conn, "out")
	var repaired atomic.Bool
	if !limit {
		refuseKeyless(c, &repaired)
	}
	transport := new(kgo.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	admin := &kgo.Client{Addr: kgo.TCP(conn.Brokers...), Transport: transport}
	return &refuser{
		name: name, sink: fmt.Sprintf("kafka: {brokers: [%q], topic: out, message_key: none, compress: none}", conn.Brokers[0]),
		code: map[bool]string{true: "MESSAGE_TOO_LARGE", false: "INVALID_RECORD"}[limit], whole: !limit,
		repair: func() {
			repaired.Store(true)
			_, err := admin.IncrementalAlterConfigs(kafkatest.Context(t), &kgo.IncrementalAlterConfigsRequest{
				Resources: []kgo.IncrementalAlterConfigsRequestResource{{
					ResourceType: kgo.ResourceTypeTopic, ResourceName: "out",
					Configs: []kgo.IncrementalAlterConfigsRequestConfig{{Name: "max.message.bytes", Value: "1048588"}},
				}},
			})
			if err != nil {
				t.Error(err)
			}
		},
		read: func() (all []string) {
			for _, r := range kafkatest.Read(t, client, "out", 1)[0] {
				all = append(all, string(r.Value))
			}
			return all
		},
	}
}

// refuseKeyless answers like a broker with a compacted topic answers to records
// without keys: it rejects each of them.
func refuseKeyless(c *kfake.Cluster, repaired *atomic.Bool) {
	c.ControlKey(int16(kmsg.Produce), func(r kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		req := r.(*kmsg.ProduceRequest)
		if repaired.Load() {
			return nil, nil, false
		}
		return refuseAll(req, kerr.InvalidRecord.Code), nil, true
	})
}

// onStream returns a server whose stream OUT rejects long messages.
func onStream(t *testing.T) *refuser {
	w := newNATS(t, "position")
	limited := func(size int32) jetstream.StreamConfig {
		return jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out.>"}, Storage: jetstream.MemoryStorage, MaxMsgSize: size}
	}
	if _, err := w.js.UpdateStream(w.context(), limited(2000)); err != nil {
		t.Fatal(err)
	}
	return &refuser{
		name: "max_msg_size", code: "10054",
		sink: fmt.Sprintf("jetstream: {servers: [%q], subject: out.x}", w.srv.URL()),
		repair: func() {
			if _, err := w.js.UpdateStream(w.context(), limited(-1)); err != nil {
				t.Error(err)
			}
		},
		read: func() (all []string) {
			info, err := w.out.Info(w.context())
			if err != nil {
				t.Fatal(err)
			}
			for seq := uint64(1); seq <= info.State.LastSeq; seq++ {
				m, err := w.out.GetMsg(w.context(), seq)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, string(m.Data))
			}
			return all
		},
	}
}

// A refusedRun is a run of the program over a file, with a broker that rejects
// records.
type refusedRun struct {
	*chaos.Process
	t   *testing.T
	dir string
}

// startRefused starts the program. Each pair of edits is a text of the configuration,
// and what replaces it.
func startRefused(t *testing.T, dir string, r *refuser, policy string, edits ...string) *refusedRun {
	t.Helper()
	dead := "dead_letter: {file: {path: " + filepath.Join(dir, "dead.jsonl") + "}}"
	if policy == "block" {
		dead = ""
	}
	config := fmt.Sprintf(`
version: 1
data_dir: %s
sources: [{file: {from: lines, include: [%s], mode: batch}}]
codec: {profile: equiv}
sinks: [{%s}]
%s
order: lane
commit_interval: 50ms
batch: {size: 4KiB}
workers: 2
on_error: {refused: %s}
shutdown_timeout: 4s
admin: {listen: "127.0.0.1:0"}
`, filepath.Join(dir, "state"), filepath.Join(dir, "in.log"), r.sink, dead, policy)
	config = strings.NewReplacer(edits...).Replace(config)
	path := filepath.Join(dir, "urlfold.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := chaos.Start(nil, binary, "run", "-c", path, "--until-eof")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("the process wrote:\n%s", p.Output())
		}
	})
	return &refusedRun{Process: p, t: t, dir: dir}
}

// rewrite changes a line of the configuration.
func (p *refusedRun) rewrite(old, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, "urlfold.yaml")
	config, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(config), old) {
		p.t.Fatalf("%v: no %q in the configuration", err, old)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(config), old, text, 1)), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// hangup makes the program reload its configuration.
func (p *refusedRun) hangup() {
	p.t.Helper()
	if err := p.Signal(syscall.SIGHUP); err != nil {
		p.t.Fatal(err)
	}
}

// blocked waits until /readyz names the rejected record.
func (p *refusedRun) blocked(r *refuser) {
	p.t.Helper()
	var text []byte
	until(p.t, "the lane is blocked", func() bool {
		status, body, err := p.Get(context.Background(), "/readyz")
		text = body
		return err == nil && status == 503 && bytes.Contains(body, []byte(`"refusals"`))
	})
	var answer struct {
		Checks []struct {
			Name     string
			Reason   string
			Refusals []struct {
				Sink, Lane, Code, Reason string
				Position                 int64
			}
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		p.t.Fatal(err)
	}
	for _, c := range answer.Checks {
		if len(c.Refusals) == 0 {
			continue
		}
		at := c.Refusals[0]
		if at.Code != r.code || at.Reason == "" || !strings.Contains(at.Lane, "in.log") || !strings.Contains(c.Name, at.Sink) || !strings.Contains(c.Reason, r.code) {
			p.t.Errorf("%+v", c)
		}
		if want := int64(longLine * len(refusedLine(0)+"\n")); !r.whole && at.Position != want {
			p.t.Errorf("the rejected record is at %d, want %d", at.Position, want)
		}
	}
	if bytes.Contains(text, []byte("h.example")) {
		p.t.Errorf("/readyz contains a URL: %s", text)
	}
}

// ends waits for the program to exit with the given code.
func (p *refusedRun) ends(code int) {
	p.t.Helper()
	got, err := p.Wait(context.Background(), patience)
	if err != nil || got != code {
		p.t.Fatalf("exit code %d, %v, want %d", got, err, code)
	}
}

// letters returns the records in the dead letters.
func (p *refusedRun) letters() (all []string) {
	p.t.Helper()
	f, err := os.Open(filepath.Join(p.dir, "dead.jsonl"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var letter struct{ Record string }
		if err := json.Unmarshal(s.Bytes(), &letter); err != nil || letter.Record == "" {
			p.t.Fatalf("%s: %v", s.Bytes(), err)
		}
		all = append(all, letter.Record)
	}
	return all
}

// check compares the output with the input: no record may be lost, and the
// topic must be in order.
func (p *refusedRun) check(got, letters []string) {
	p.t.Helper()
	if !slices.IsSorted(got) {
		p.t.Error("out of order")
	}
	var want []string
	for n := range refusedLines {
		want = append(want, refusedLine(n))
	}
	all := append(slices.Clone(got), letters...)
	slices.Sort(all)
	if len(all) != len(want) || len(slices.Compact(all)) != len(want) {
		p.t.Errorf("%d records and %d dead letters of %d", len(got), len(letters), len(want))
	}
}

// refusedInput writes the input to a new folder and returns the folder.
func refusedInput(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	for n := range refusedLines {
		b.WriteString(refusedLine(n) + "\n")
	}
	if err := os.WriteFile(filepath.Join(dir, "in.log"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRefused checks a compacted topic that requires keys, and a topic and a
// stream with a size limit, under each policy. No record is lost, except with
// the policy drop, which the exit code reports.
func TestRefused(t *testing.T) {
	for _, make := range []func(t *testing.T) *refuser{
		func(t *testing.T) *refuser { return onFake(t, "compacted", false) },
		func(t *testing.T) *refuser { return onFake(t, "max.message.bytes", true) },
		onStream,
	} {
		t.Run("block", func(t *testing.T) {
			t.Parallel()
			refusedBlock(t, make(t))
		})
		t.Run("dead-letter", func(t *testing.T) {
			t.Parallel()
			r, dir := make(t), refusedInput(t)
			p := startRefused(t, dir, r, "dead-letter")
			p.ends(0)
			want := 1
			if r.whole { // all codes that these brokers return concern single records
				want = refusedLines
			}
			letters := p.letters()
			if len(letters) != want {
				t.Errorf("%s: %d dead letters, want %d", r.name, len(letters), want)
			}
			p.check(r.read(), letters)
		})
		t.Run("drop", func(t *testing.T) {
			t.Parallel()
			r, dir := make(t), refusedInput(t)
			p := startRefused(t, dir, r, "drop")
			p.ends(4)
			dropped := 1
			if r.whole {
				dropped = refusedLines
			}
			if n := len(r.read()); n != refusedLines-dropped {
				t.Errorf("%s: %d records", r.name, n)
			}
			if text := p.Output(); !strings.Contains(text, fmt.Sprintf("dropped=%d", dropped)) || !strings.Contains(text, "records refused, dropped") {
				t.Errorf("%s: the log does not report %d dropped records", r.name, dropped)
			}
		})
	}
}

// refusedBlock blocks a run, ends it with a signal, then kills another one, and
// repairs the broker during a third one.
func refusedBlock(t *testing.T, r *refuser) {
	dir := refusedInput(t)
	p := startRefused(t, dir, r, "block")
	p.blocked(r)
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.ends(3)
	if got := len(r.read()); r.whole && got > 0 || got > longLine {
		t.Errorf("%s: %d records written, but record %d is rejected", r.name, got, longLine)
	}
	p = startRefused(t, dir, r, "block")
	p.blocked(r)
	p.Kill()
	p = startRefused(t, dir, r, "block")
	p.blocked(r)
	r.repair()
	p.ends(0)
	got := r.read()
	if r.sink[0] == 'k' { // records written before a signal are written again: Kafka has no ids for them
		slices.Sort(got)
		got = slices.Compact(got)
	}
	p.check(got, nil)
}

//go:build unix

package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// TestRunBrokerMistake: a password that a broker refuses ends the start with the exit
// code of a mistake, and one line that names the broker and the key; a broker that is
// away does not.
func TestRunBrokerMistake(t *testing.T) {
	_, c := kafkatest.Fake(t, kfake.SeedTopics(1, "in"), kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "right"))
	const nobody = "127.0.0.1:1"
	config := func(broker, password string) string {
		timeout := "1m"
		if broker == nobody {
			timeout = "1s" // no broker answers within it
		}
		name := filepath.Join(t.TempDir(), "c.yaml")
		write(t, name, fmt.Sprintf(`version: 1
sources:
  - kafka:
      from: lines
      brokers: [%q]
      topics: [in]
      group: g
      request_timeout: %s
      sasl: {mechanism: PLAIN, username: u, password: %q}
sinks:
  - discard: {}
admin: {listen: ""}
`, broker, timeout, password))
		return name
	}
	f := func(broker, password string, args []string, want int, texts ...string) {
		t.Helper()
		name := config(broker, password)
		cmd, stderr := program(t, append(args, "-c", name)...)
		_, err := cmd.Output()
		if got := code(t, err); got != want {
			t.Errorf("%v: exit code %d, want %d\n%s", args, got, want, stderr)
		}
		for _, text := range texts {
			if !strings.Contains(stderr.String(), text) {
				t.Errorf("%v: no %q in\n%s", args, text, stderr)
			}
		}
		if strings.Contains(stderr.String(), password) {
			t.Errorf("%v: the password is in\n%s", args, stderr)
		}
	}
	wrong := "broker " + c.Brokers[0] + ": rejects the user name or password (PLAIN, user \"u\")"
	f(c.Brokers[0], "wr0ng-pass", []string{"run"}, command.ExitConfig, wrong)
	f(c.Brokers[0], "wr0ng-pass", []string{"check", "--connect"}, command.ExitUsage, wrong, "c.yaml:9:13: ")
	f(nobody, "wr0ng-pass", []string{"run"}, command.ExitFatal, "cannot reach brokers "+nobody)
	f(c.Brokers[0], "right", []string{"run", "--until-eof"}, command.ExitDone)
}

// TestRunNATSMistake: a password or an encryption that a NATS server refuses ends the
// start as one that Kafka refuses does. A server that is away ends it with exit code 1.
// Each says the remedy at once.
func TestRunNATSMistake(t *testing.T) {
	srv := natstest.Start(t, func(o *server.Options) { o.Username, o.Password = "u", "right" })
	for _, c := range []struct {
		server, login string
		want          int
		texts         []string
	}{
		{srv.URL(), "username: u, password: wr0ng-pass", command.ExitConfig, []string{"Authorization Violation (correct user, password"}},
		{srv.URL(), "username: u, password: wr0ng-pass", command.ExitConfig, []string{"Authorization Violation (correct user, password"}},
		{strings.Replace(srv.URL(), "nats:", "tls:", 1), "username: u, password: right", command.ExitConfig, []string{"the server does not use TLS: write nats://"}},
		{"nats://127.0.0.1:1", "connect_timeout: 1s", command.ExitFatal, []string{"cannot connect, retrying", "start a server, or correct servers"}},
		{srv.URL(), "username: u, password: right", command.ExitFatal, []string{"create it, for example with nats stream add"}},
		{srv.URL(), "user: u, username: u", command.ExitConfig, []string{"unknown key \"user\": use username"}},
	} {
		name := filepath.Join(t.TempDir(), "c.yaml")
		write(t, name, fmt.Sprintf(`version: 1
sources:
  - jetstream: {from: lines, servers: [%q], stream: S, durable: d, %s}
sinks:
  - discard: {}
admin: {listen: ""}
`, c.server, c.login))
		cmd, stderr := program(t, "run", "-c", name)
		_, err := cmd.Output()
		if got := code(t, err); got != c.want || strings.Contains(stderr.String(), "wr0ng-pass") {
			t.Errorf("%s, %s: exit code %d, want %d\n%s", c.server, c.login, got, c.want, stderr)
		}
		for _, text := range c.texts {
			if !strings.Contains(stderr.String(), text) {
				t.Errorf("%s, %s: no %q in\n%s", c.server, c.login, text, stderr)
			}
		}
	}
}

// killAt kills a process once stream has n messages, unless over is closed before.
func killAt(p *os.Process, over <-chan struct{}, stream jetstream.Stream, n uint64) {
	for messagesIn(stream) < n {
		select {
		case <-over:
			return
		case <-time.After(time.Millisecond):
		}
	}
	_ = p.Kill() // it may have ended by now
}

// messagesIn returns how many messages a stream has, 0 if it cannot be asked.
func messagesIn(stream jetstream.Stream) uint64 {
	info, err := stream.Info(context.Background())
	if err != nil {
		return 0
	}
	return info.State.Msgs
}

// TestRunBatchIDs: with msg_id: batch the stream has every record once, though the
// process is killed at random moments, and though all is read again at the end: a
// message has the same id whenever it is published.
func TestRunBatchIDs(t *testing.T) {
	server := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 100_000 })
	conn, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "OUT", Subjects: []string{"out"}, Duplicates: time.Hour, Storage: jetstream.MemoryStorage})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	n := 0
	for i := range 3 {
		var text bytes.Buffer
		for text.Len() < 3<<20 {
			fmt.Fprintf(&text, "http://h/%d/%s\n", n, strings.Repeat("x", rand.IntN(rand.IntN(300)+1)))
			n++
		}
		if i == 2 {
			var packed bytes.Buffer
			zw := gzip.NewWriter(&packed)
			if _, err := zw.Write(text.Bytes()); err != nil || zw.Close() != nil {
				t.Fatal(err)
			}
			text = packed
		}
		write(t, filepath.Join(dir, fmt.Sprintf("%d.log%s", i, []string{"", "", ".gz"}[i])), text.String())
	}
	name := filepath.Join(dir, "c.yaml")
	configure := func() { // with batches of another size each time
		write(t, name, fmt.Sprintf(`version: 1
data_dir: %s
sources:
  - file: {from: lines, include: [%q], mode: batch}
commit_interval: 20ms
batch: {size: %dKiB}
sinks:
  - jetstream: {servers: [%q], subject: out, framing: lines, msg_id: batch, publish: {max_pending: 2}}
admin: {listen: ""}
`, filepath.Join(dir, "state"), filepath.Join(dir, "*.log*"), 100+rand.IntN(600), server.URL()))
	}
	killed := 0
	for done := false; !done; {
		configure()
		cmd, stderr := program(t, "run", "-c", name)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		over := make(chan struct{})
		if killed < 12 { // kill it when a few more messages are there: after a fixed time, there may be none, or all
			go killAt(cmd.Process, over, stream, messagesIn(stream)+1+rand.Uint64N(8))
		}
		err := cmd.Wait()
		close(over)
		switch got := cmd.ProcessState.ExitCode(); got {
		case command.ExitDone:
			done = true
		case -1:
			killed++
		default:
			t.Fatalf("exit code %d, %v\n%s", got, err, stderr)
		}
	}
	if killed < 3 {
		t.Errorf("it was killed %d times: the test shows nothing", killed)
	}
	messages := once(t, stream, n)
	t.Logf("%d records in %d messages, killed %d times", n, messages, killed)
	if messages > n/20 {
		t.Errorf("%d messages for %d records", messages, n)
	}
	if err := os.RemoveAll(filepath.Join(dir, "state")); err != nil {
		t.Fatal(err)
	}
	configure()
	cmd, stderr := program(t, "run", "-c", name)
	if _, err := cmd.Output(); code(t, err) != command.ExitDone {
		t.Fatalf("%v\n%s", err, stderr)
	}
	if again := once(t, stream, n); again != messages {
		t.Errorf("%d messages, and %d after all was read again", messages, again)
	}
}

// once fails unless a stream holds each of n records once. It returns how many
// messages there are.
func once(t *testing.T, stream jetstream.Stream, n int) int {
	t.Helper()
	info, err := stream.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for seq := uint64(1); seq <= info.State.LastSeq; seq++ {
		m, err := stream.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(m.Data), "\n"), "\n") {
			got[line]++
		}
	}
	doubled := 0
	for _, c := range got {
		doubled += c - 1
	}
	if len(got) != n || doubled > 0 {
		t.Fatalf("%d of %d records, %d doubled", len(got), n, doubled)
	}
	return int(info.State.Msgs)
}

// TestBatchIDsRefused: msg_id: batch is refused with the reason where batches do not
// end at fixed places.
func TestBatchIDsRefused(t *testing.T) {
	f := func(source, sink string, want ...string) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "c.yaml")
		write(t, name, "version: 1\nsources:\n  - "+strings.Replace(strings.Replace(source, "{", "{from: lines, ", 1), ", }", "}", 1)+"\nsinks:\n  - jetstream: {servers: [nats://h], subject: x, "+sink+"}\n")
		cmd, stderr := program(t, "check", "-c", name)
		_, err := cmd.Output()
		wantCode := command.ExitUsage
		if len(want) == 0 {
			wantCode = command.ExitDone
		}
		if got := code(t, err); got != wantCode {
			t.Errorf("%s, %s: exit code %d\n%s", source, sink, got, stderr)
		}
		for _, text := range want {
			if !strings.Contains(stderr.String(), text) {
				t.Errorf("%s, %s: no %q in\n%s", source, sink, text, stderr)
			}
		}
	}
	const batch = "framing: lines, msg_id: batch"
	f("file: {include: [a], mode: batch}", batch)
	f("file: {include: [a], mode: tail}", batch, "c.yaml:3:", "mode: tail", "msg_id: batch")
	f("kafka: {brokers: ['h:1'], topics: [t], group: g}", batch, "c.yaml:3:", "batches of a kafka source end wherever messages arrive", "msg_id: batch")
	f("jetstream: {servers: [nats://h], stream: S, durable: d}", batch, "batches of a jetstream source")
	f("nats: {servers: [nats://h], subjects: [s]}", batch, "batches of a nats source")
	f("stdin: {}", batch, "batches of a stdin source")
	f("file: {include: [a], mode: batch}", "msg_id: batch", "framing: lines")
	f("file: {include: [a], mode: batch}", "framing: lines", "msg_id: batch")
}

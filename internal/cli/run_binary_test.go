//go:build unix

package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/tinylib/msgp/msgp"

	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// visit returns a MessagePack record that ends with the byte of a line feed.
func visit(url string, i int) []byte {
	b := msgp.AppendMapHeader(nil, 3)
	b = msgp.AppendInt(msgp.AppendString(b, "id"), i)
	b = msgp.AppendString(msgp.AppendString(b, "url"), url)
	return msgp.AppendInt(msgp.AppendString(b, "n"), '\n')
}

// visits returns n records, as they come in and as they are written.
func visits(n int) (in, want [][]byte) {
	for i := range n {
		in = append(in, visit(fmt.Sprintf("HTTP://Example.com/%%7e%d", i), i))
		want = append(want, visit(fmt.Sprintf("http://example.com/~%d", i), i))
	}
	return in, want
}

// runConfig runs the daemon until its input ends, and returns stderr.
func runConfig(t *testing.T, text string, args ...string) (stderr string, exit int) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "c.yaml")
	write(t, name, text)
	cmd, errs := command(t, append([]string{"run", "--until-eof", "-c", name}, args...)...)
	exit = code(t, cmd.Run())
	return errs.String(), exit
}

// passThroughJetStream sends messages through a daemon with the given section
// codec, and returns what it writes and its dead letters.
func passThroughJetStream(t *testing.T, codec string, messages [][]byte) (out, dead [][]byte) {
	t.Helper()
	srv := natstest.Start(t, nil)
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	streams := map[string]jetstream.Stream{}
	for _, name := range []string{"in", "out", "dead"} {
		s, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: strings.ToUpper(name), Subjects: []string{name}, Storage: jetstream.MemoryStorage, Duplicates: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		streams[name] = s
	}
	for _, m := range messages {
		if _, err := js.Publish(ctx, "in", m); err != nil {
			t.Fatal(err)
		}
	}
	stderr, exit := runConfig(t, fmt.Sprintf(`version: 1
sources:
  - jetstream: {servers: [%[1]q], stream: IN, durable: d}
codec: %[2]s
pipeline: {on_reject: dead_letter, ordering: per_lane}
sinks:
  - jetstream: {servers: [%[1]q], subject: out, publish: {ordered: true}}
dead_letter:
  jetstream: {servers: [%[1]q], subject: dead}
admin: {listen: ""}
`, srv.URL(), codec))
	if exit != exitDone {
		t.Fatalf("exit code %d\n%s", exit, stderr)
	}
	read := func(s jetstream.Stream) (all [][]byte) {
		info, err := s.Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for seq := info.State.FirstSeq; seq > 0 && seq <= info.State.LastSeq; seq++ {
			m, err := s.GetMsg(ctx, seq)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, m.Data)
		}
		return all
	}
	return read(streams["out"]), read(streams["dead"])
}

// TestMsgpackJetStream checks that each message stays one message, whatever
// bytes it has, and that a malformed one goes to the dead letter.
func TestMsgpackJetStream(t *testing.T) {
	in, want := visits(500)
	damaged := append(bytes.Clone(in[3]), '\n')
	out, dead := passThroughJetStream(t, `{format: msgpack, url_field: url}`, slices.Insert(slices.Clone(in), 7, damaged))
	if !slices.EqualFunc(out, want, bytes.Equal) {
		t.Errorf("got %d messages, want %d; the first is %q, want %q", len(out), len(want), out[0], want[0])
	}
	if letter := fmt.Sprintf(`{"reason":"unparsed","at":%d,`, len(in[3])); len(dead) != 1 || !bytes.HasPrefix(dead[0], []byte(letter)) || !bytes.Contains(dead[0], []byte(`"record_b64":`)) && !bytes.Contains(dead[0], []byte(`"record":`)) {
		t.Errorf("got dead letters %q, want one with %s", dead, letter)
	}
}

// TestMsgpackFiles checks that files of concatenated values are rewritten, in a
// run and by the daemon.
func TestMsgpackFiles(t *testing.T) {
	in, want := visits(50_000)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.msgpack"), string(bytes.Join(in, nil)))
	for _, args := range [][]string{{}, {"-f", "msgpack"}} {
		cmd, stderr := command(t, append(args, "--url-field", "url", "--max-record", "64KiB", filepath.Join(dir, "in.msgpack"))...)
		out, err := cmd.Output()
		if err != nil || !bytes.Equal(out, bytes.Join(want, nil)) {
			t.Errorf("%v: %v, %d bytes of %d\n%s", args, err, len(out), len(bytes.Join(want, nil)), stderr)
		}
	}
	config := func(path string) string {
		return fmt.Sprintf(`version: 1
data_dir: %[1]s/state
sources:
  - file: {include: [%[1]s/in.msgpack]}
codec: {format: msgpack, url_field: url}
sinks:
  - file: {path: %[1]s/%[2]s}
admin: {listen: ""}
`, dir, path)
	}
	if stderr, exit := runConfig(t, config("out.msgpack")); exit != exitUsage || !strings.Contains(stderr, "set compress to gzip or zstd for binary records") {
		t.Errorf("an uncompressed log of binary records: exit code %d\n%s", exit, stderr)
	}
	if stderr, exit := runConfig(t, config("out.msgpack.gz")); exit != exitDone {
		t.Fatalf("exit code %d\n%s", exit, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.msgpack.gz")); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(gzipMembers(t, filepath.Join(dir, "out.msgpack.gz")), ""); got != string(bytes.Join(want, nil)) {
		t.Errorf("the daemon wrote %d bytes of %d", len(got), len(bytes.Join(want, nil)))
	}
}

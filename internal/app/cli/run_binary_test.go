//go:build unix

package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/tinylib/msgp/msgp"
	"github.com/twmb/avro"
	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/urlfold/urlfold/internal/app/cli/command"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
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
	cmd, errs := program(t, append([]string{"run", "--until-eof", "-c", name}, args...)...)
	exit = code(t, cmd.Run())
	return errs.String(), exit
}

// passThroughJetStream sends messages through a daemon with the given keys
// of its source, and returns what it writes and its dead letters.
func passThroughJetStream(t *testing.T, format string, messages [][]byte) (out, dead [][]byte) {
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
  - jetstream: {%[2]s, servers: [%[1]q], stream: IN, durable: d}
order: lane
on_error: {rejected: dead-letter}
sinks:
  - jetstream: {servers: [%[1]q], subject: out}
dead_letter:
  jetstream: {servers: [%[1]q], subject: dead}
admin: {listen: ""}
`, srv.URL(), format))
	if exit != command.ExitDone {
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
	out, dead := passThroughJetStream(t, `from: msgpack, url_field: url`, slices.Insert(slices.Clone(in), 7, damaged))
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
		cmd, stderr := program(t, append(args, "--url-field", "url", "--max-record", "64KiB", filepath.Join(dir, "in.msgpack"))...)
		out, err := cmd.Output()
		if err != nil || !bytes.Equal(out, bytes.Join(want, nil)) {
			t.Errorf("%v: %v, %d bytes of %d\n%s", args, err, len(out), len(bytes.Join(want, nil)), stderr)
		}
	}
	cmd, _ := program(t, "check", filepath.Join(dir, "in.msgpack"))
	if out, err := cmd.Output(); code(t, err) != command.ExitFailOn || !strings.Contains(string(out), "msgpack: the format does not say which field holds the URL") {
		t.Errorf("check without a field: %v\n%s", err, out)
	}
	cmd, _ = program(t, "check", "--url-field", "url", filepath.Join(dir, "in.msgpack"))
	if out, err := cmd.Output(); err != nil || !strings.Contains(string(out), "50000 recognized") && !strings.Contains(string(out), "50,000 recognized") {
		t.Errorf("check: %v\n%s", err, out)
	}
	config := func(path string) string {
		return fmt.Sprintf(`version: 1
data_dir: %[1]s/state
sources:
  - file: {from: msgpack, url_field: url, include: [%[1]s/in.msgpack]}
sinks:
  - file: {path: %[1]s/%[2]s}
admin: {listen: ""}
`, dir, path)
	}
	if stderr, exit := runConfig(t, config("out.msgpack")); exit != command.ExitConfig || !strings.Contains(stderr, "binary records require compress: gzip") {
		t.Errorf("an uncompressed log of binary records: exit code %d\n%s", exit, stderr)
	}
	if stderr, exit := runConfig(t, config("out.msgpack.gz")); exit != command.ExitDone {
		t.Fatalf("exit code %d\n%s", exit, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "out.msgpack.gz")); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(gzipMembers(t, filepath.Join(dir, "out.msgpack.gz")), ""); got != string(bytes.Join(want, nil)) {
		t.Errorf("the daemon wrote %d bytes of %d", len(got), len(bytes.Join(want, nil)))
	}
}

// passThroughKafka sends messages through a daemon with the given sections, and
// returns what it writes, its dead letters, and how it ends.
func passThroughKafka(t *testing.T, format, sections string, messages [][]byte) (out, dead [][]byte, stderr string, exit int) {
	t.Helper()
	_, c := kafkatest.Fake(t, kfake.SeedTopics(1, "in", "out", "dead"))
	client := kafkatest.Client(t, c, "in", "out", "dead")
	records := make([]kafka.Record, len(messages))
	for i, m := range messages {
		records[i] = kafka.Record{Key: fmt.Appendf(nil, "key%d", i), Value: m}
	}
	kafkatest.Write(t, client, "in", 0, "none", records...)
	stderr, exit = runConfig(t, fmt.Sprintf(`version: 1
sources:
  - kafka: {%[2]s, brokers: [%[1]q], topics: [in], group: g}
%[3]s
sinks:
  - kafka: {brokers: [%[1]q], topic: out}
dead_letter:
  kafka: {brokers: [%[1]q], topic: dead}
admin: {listen: ""}
`, c.Brokers[0], format, sections))
	for _, r := range kafkatest.Read(t, client, "out", 1)[0] {
		out = append(out, r.Value)
	}
	for _, r := range kafkatest.Read(t, client, "dead", 1)[0] {
		dead = append(dead, r.Value)
	}
	return out, dead, stderr, exit
}

// protobufVisits returns n messages with the URL in field 3.1, which end with
// the byte of a line feed.
func protobufVisits(n int) (in, want [][]byte) {
	visit := func(url string, i int) []byte {
		b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(i))
		b = protowire.AppendBytes(protowire.AppendTag(b, 3, protowire.BytesType), protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), url))
		return protowire.AppendVarint(protowire.AppendTag(b, 4, protowire.VarintType), '\n')
	}
	for i := range n {
		in = append(in, visit(fmt.Sprintf("HTTP://Example.com/%%7e%d", i), i))
		want = append(want, visit(fmt.Sprintf("http://example.com/~%d", i), i))
	}
	return in, want
}

// TestProtobufKafka checks that each message stays one message, also an empty
// one, and that a malformed one goes to the dead letter.
func TestProtobufKafka(t *testing.T) {
	in, want := protobufVisits(500)
	in, want = append(in, []byte{}), append(want, []byte{})
	out, dead, stderr, exit := passThroughKafka(t, `from: protobuf, url_field: "3.1"`, "on_error: {rejected: dead-letter}", slices.Insert(slices.Clone(in), 7, in[3][:5]))
	if exit != command.ExitDone || !slices.EqualFunc(out, want, bytes.Equal) {
		t.Errorf("exit code %d, got %d messages, want %d\n%s", exit, len(out), len(want), stderr)
	}
	if letter := `{"reason":"unparsed","at":5,"file":"in[0]","line":0,"key":"key7","offset":7,`; len(dead) != 1 || !bytes.HasPrefix(dead[0], []byte(letter)) {
		t.Errorf("got dead letters %q, want one with %s", dead, letter)
	}
}

// TestProtobufFiles checks that files of delimited messages are rewritten, also
// one with a message that is longer than the limit.
func TestProtobufFiles(t *testing.T) {
	in, want := protobufVisits(20_000)
	in[100] = append(in[100], protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), make([]byte, 200_000))...)
	want[100] = in[100]
	var file, clean []byte
	for i := range in {
		file, clean = protowire.AppendBytes(file, in[i]), protowire.AppendBytes(clean, want[i])
	}
	name := filepath.Join(t.TempDir(), "in.pb")
	write(t, name, string(file))
	cmd, stderr := program(t, "-f", "protobuf", "--url-field", "3.1", "--max-record", "64KiB", name)
	if out, err := cmd.Output(); err != nil || !bytes.Equal(out, clean) {
		t.Errorf("%v, %d bytes of %d\n%s", err, len(out), len(clean), stderr)
	}
	write(t, name, string(file[:len(file)-1]))
	cmd, stderr = program(t, "-f", "protobuf", "--url-field", "3.1", "--max-record", "64KiB", name)
	out, err := cmd.Output()
	last := len(protowire.AppendBytes(nil, want[len(want)-1]))
	if code(t, err) != command.ExitFailOn || !bytes.HasPrefix(out, clean[:len(clean)-last]) || !strings.Contains(stderr.String(), "file ends within a record") {
		t.Errorf("a cut file: %v, %d bytes\n%s", err, len(out), stderr)
	}
}

// avroSchema is the schema of the messages of TestAvroKafka.
const avroSchema = `{"type":"record","name":"Visit","fields":[
	{"name":"id","type":"long"},
	{"name":"request","type":["null",{"type":"record","name":"Request","fields":[{"name":"url","type":"string"},{"name":"tags","type":{"type":"array","items":"string"}}]}]},
	{"name":"n","type":"int"}]}`

// schemaRegistry starts a schema registry with avroSchema as schema 7, for the
// user u with the password s3cret.
func schemaRegistry(t *testing.T) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		user, password, _ := r.BasicAuth()
		switch {
		case user != "u" || password != "s3cret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/schemas/ids/7":
			fmt.Fprintf(w, `{"schema":%q}`, strings.Join(strings.Fields(avroSchema), " "))
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"error_code":40403,"message":"Schema not found"}`)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, requests
}

// avroVisits returns n messages with schema 7, which end with the byte of a
// line feed.
func avroVisits(t *testing.T, n int) (in [][]byte) {
	t.Helper()
	schema := avro.MustParse(avroSchema)
	for i := range n {
		var request any
		if i%5 > 0 {
			request = map[string]any{"url": fmt.Sprintf("HTTP://Example.com/%%7e%d", i), "tags": []string{"HTTP://Tag"}}
		}
		b, err := schema.AppendEncode([]byte{0, 0, 0, 0, 7}, map[string]any{"id": i, "request": request, "n": 5})
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, b)
	}
	return in
}

// TestAvroKafka checks that messages decode to the same values except for the
// URL, that the schema is requested once, and what becomes of malformed
// messages and of those with an unknown schema.
func TestAvroKafka(t *testing.T) {
	url, requests := schemaRegistry(t)
	in := avroVisits(t, 500)
	codec := func(more string) string {
		return fmt.Sprintf(`codec: {registry: {url: %q, username: u, password: s3cret}}
workers: 2
on_error: {rejected: dead-letter%s}`, url, more)
	}
	cut, unknown := in[3][:9], []byte("\x00\x00\x00\x00\x08abc")
	out, dead, stderr, exit := passThroughKafka(t, "from: avro, url_field: request.url", codec(""), slices.Insert(slices.Clone(in), 7, cut, unknown))
	if exit != command.ExitDone || len(out) != len(in) {
		t.Fatalf("exit code %d, got %d messages, want %d\n%s", exit, len(out), len(in), stderr)
	}
	schema := avro.MustParse(avroSchema)
	for i := range out {
		var was, is map[string]any
		if _, err := schema.Decode(in[i][5:], &was); err != nil {
			t.Fatal(err)
		}
		if rest, err := schema.Decode(out[i][5:], &is); err != nil || len(rest) > 0 || !bytes.Equal(in[i][:5], out[i][:5]) {
			t.Fatalf("message %d, %q: %v, %d bytes left", i, out[i], err, len(rest))
		}
		if r, ok := was["request"].(map[string]any); ok {
			r["url"] = fmt.Sprintf("http://example.com/~%d", i)
		}
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("message %d is %v, want %v", i, is, was)
		}
	}
	for i, want := range []string{`{"reason":"unparsed","at":9,`, `{"reason":"schema-unknown","at":1,`} {
		if len(dead) != 2 || !bytes.HasPrefix(dead[i], []byte(want)) {
			t.Errorf("got dead letters %q, want %s", dead, want)
		}
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests for 2 ids", n)
	}
	out, dead, stderr, exit = passThroughKafka(t, "from: avro, url_field: request.url", codec(", unknown_schema: stop"), append(slices.Clone(in[:3]), unknown, in[3]))
	if exit != command.ExitFatal || len(out) != 3 || len(dead) > 0 || !strings.Contains(stderr, "in[0], offset 3: schema 8: no Avro schema with this id") || !strings.Contains(stderr, "on_error.unknown_schema: stop") {
		t.Errorf("unknown_schema: stop: exit code %d, %d messages, %d dead letters\n%s", exit, len(out), len(dead), stderr)
	}
	if strings.Contains(stderr, "s3cret") {
		t.Errorf("the password is in\n%s", stderr)
	}
}

// TestAvroMistakes checks settings that cannot work.
func TestAvroMistakes(t *testing.T) {
	f := func(source, format, registry, want string) {
		t.Helper()
		source = strings.Replace(source, "{", "{"+format+", ", 1)
		stderr, exit := runConfig(t, fmt.Sprintf("version: 1\ndata_dir: %s\nsources:\n  - %s\ncodec: {%s}\nsinks:\n  - discard: {}\nadmin: {listen: \"\"}\n", t.TempDir(), source, registry))
		if exit != command.ExitConfig || !strings.Contains(stderr, want) {
			t.Errorf("%s with %s: exit code %d, want %q in\n%s", source, registry, exit, want, stderr)
		}
	}
	const topic = `kafka: {brokers: ["127.0.0.1:1"], topics: [in], group: g}`
	f(topic, "from: avro, url_field: url", ``, "avro needs the registry with the schemas of the messages")
	f(topic, "from: avro", `registry: {url: "http://h"}`, "url_field: missing: avro needs the path")
	f(topic, "from: avro, url_field: url", `registry: {url: "http://u:hunter2@h"}`, "must not contain credentials: set username and password")
	f(topic, "from: jsonl, url_field: url", `registry: {url: "http://h"}`, "the schema registry applies only to the format avro")
	f(`file: {include: [/tmp/x]}`, "from: avro, url_field: url", `registry: {url: "http://h"}`, "the format avro is for messages, not for files")
}

package daemon

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/observe/memory"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
)

// deduping is a configuration with dedupe that can lose nothing.
const deduping = `version: 1
sources:
  - file: {from: lines, include: ["in/*.log"]}
codec: {profile: equiv}
dedupe: {by: k1}
sinks:
  - file: {path: out.txt}
`

// loadText loads a configuration.
func loadText(t *testing.T, text string) (*config.File, error) {
	t.Helper()
	return config.Parse("c.yaml", []byte(text), testCatalog(t).Types(), config.OS())
}

// TestDedupeRefused: each configuration in which dedupe could lose records is an
// error with its reason and position.
func TestDedupeRefused(t *testing.T) {
	const source, sink = `  - file: {from: lines, include: ["in/*.log"]}` + "\n", "  - file: {path: out.txt}\n"
	const kafka, stream = "  - kafka: {brokers: [\"h:1\"], topic: t}\n", "  - jetstream: {servers: [\"nats://h:1\"], subject: s}\n"
	for _, c := range []struct{ name, old, text, want string }{
		{"two sources in one set", source, source + "  - file: {from: lines, include: [\"b/*.log\"]}\n", "c.yaml:4:11: dedupe requires a single source"},
		{"JetStream without a bucket", source, "  - jetstream: {from: lines, servers: [\"nats://h:1\"], stream: s, durable: d}\n", "c.yaml:3:16: dedupe requires bucket with a JetStream source"},
		{"core NATS as a source", source, "  - nats: {from: lines, servers: [\"nats://h:1\"], subjects: [s]}\n", "c.yaml:3:11: dedupe requires a file, s3, objects, kafka or jetstream source: core NATS"},
		{"a pipe", source, "  - stdin: {from: lines}\n", "c.yaml:3:12: dedupe requires a file, s3, objects, kafka or jetstream source: stdin"},
		{"an at-most-once sink", sink, "  - nats: {servers: [\"nats://h:1\"], subject: s}\n", "c.yaml:7:11: dedupe cannot be combined with this sink: core NATS delivers at most once"},
		{"a sink that is not durable", sink, "  - stdout: {}\n", "c.yaml:7:13: dedupe cannot be combined with this sink: stdout"},
		{"a sink that may refuse without a dead letter", sink, kafka, "c.yaml:7:12: dedupe requires a dead_letter"},
		{"the same for JetStream", sink, stream, "c.yaml:7:16: dedupe requires a dead_letter"},
		{"refused records are dropped", sink, sink + "on_error: {refused: drop}\n", "c.yaml:8:21: refused: dedupe cannot be combined with drop"},
		{"exactly_once with a broker", sink, "  - file: {path: out.txt, exactly_once: true}\n" + stream + "dead_letter: {file: {path: dead}}\n", "incompatible with exactly_once"},
		{"msg_id: key with framing: lines", sink, "  - jetstream: {servers: [\"nats://h:1\"], subject: s, msg_id: key, framing: lines}\ndead_letter: {file: {path: dead}}\n", "msg_id"},
		{"msg_id: batch", sink, "  - jetstream: {servers: [\"nats://h:1\"], subject: s, msg_id: batch, framing: lines}\ndead_letter: {file: {path: dead}}\n", "c.yaml:7:16: dedupe cannot be combined with msg_id: batch"},
		{"a route", sink, "  - file: {path: out.txt, name: a}\n  - file: {path: b.txt, name: b}\nroute:\n  - {where: has(norm), sinks: [a]}\n  - else: [b]\n", "dedupe cannot be combined with route"},
		{"last", "{by: k1}", "{keep: last}", "c.yaml:5:16: keep: \"last\" is not possible in a daemon"},
		{"count", "{by: k1}", "{keep: count}", "c.yaml:5:16: keep: \"count\" is not possible in a daemon"},
		{"mark in a rendering without fields", "{by: k1}", "{keep: mark}", "c.yaml:5:16: keep: the output format rewrite cannot hold a field: use jsonl, tsv, csv, extend or keys"},
		{"mark in a list of URLs", "equiv}\ndedupe: {by: k1}", "equiv, to: urls}\ndedupe: {keep: mark}", "c.yaml:5:16: keep: the output format urls cannot hold a field"},
		{"mark with another field of this name", "equiv}\ndedupe: {by: k1}", "equiv, to: {extend: {duplicate: key}}}\ndedupe: {keep: mark}", "dedupe adds a field of this name with keep: mark"},
		{"mark with a sink that drops equal keys", deduping[strings.Index(deduping, "codec:"):], "codec: {to: jsonl}\ndedupe: {keep: mark}\nsinks:\n  - jetstream: {servers: [\"nats://h:1\"], subject: s, msg_id: key}\ndead_letter: {file: {path: dead}}\n", "cannot be combined with keep: mark"},
		{"another value of keep", "{by: k1}", "{keep: all}", "c.yaml:5:16: keep: must be \"first\" or \"mark\""},
		{"windows of records without a time", "{by: k1}", "{window: {size: 1h}}", "c.yaml:5:18: records of the format lines have no time"},
		{"a window without its size", "{by: k1}", "{window: {lateness: 1h}}", "size"},
		{"a size of half a second", "{by: k1}", "{window: {size: 1500ms}}", "must be a whole number of seconds"},
		{"windows by the clock", "{by: k1}", "{window: {size: 1h, by: clock}}", "unknown key \"by\""},
		{"windows of a number of records", "{by: k1}", "{window: {size: 1000}}", "c.yaml:5:25: size: must be a duration"},
		{"a lateness of half a second", "{by: k1}", "{window: {size: 1h, lateness: 1500ms}}", "lateness: must be a whole number of seconds"},
		{"windows by the times of messages", "{by: k1}", "{window: {size: 1h, time: message}}", "c.yaml:5:35: time: requires a kafka or jetstream source"},
		{"windows by the time of arrival", "{by: k1}", "{window: {size: 1h, time: now}}", "c.yaml:5:35: time: invalid value (must be one of: record, message)"},
		{"a negative lateness", "{by: k1}", "{window: {size: 1h, lateness: -1h}}", "lateness"},
		{"approx", "{by: k1}", "{approx: true}", "c.yaml:5:10: unknown key \"approx\""},
		{"an unknown field", "{by: k1}", "{by: host}", "c.yaml:5:14: by: invalid value (must be one of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(deduping, c.old) {
				t.Fatalf("there is no %q", c.old)
			}
			_, err := loadText(t, strings.Replace(deduping, c.old, c.text, 1))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// claiming is a configuration with dedupe in a bucket that can lose nothing.
const claiming = `version: 1
sources:
  - jetstream: {from: lines, servers: ["nats://h:1"], stream: s, durable: d}
codec: {profile: equiv}
dedupe: {by: k1, bucket: seen}
sinks:
  - file: {path: out.txt}
`

// TestDedupeBucketRefused: each configuration in which dedupe with a bucket could
// lose records is an error with its reason and position.
func TestDedupeBucketRefused(t *testing.T) {
	const source = `  - jetstream: {from: lines, servers: ["nats://h:1"], stream: s, durable: d}` + "\n"
	for _, more := range []string{"", ", window: {size: 1h, time: message}"} {
		if _, err := loadText(t, strings.Replace(claiming, "bucket: seen", "bucket: seen"+more, 1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, old, text, want string }{
		{"files", source, "  - file: {from: lines, include: [\"in/*.log\"]}\n", "c.yaml:3:11: dedupe with bucket requires a jetstream source; for files, the keys are stored in data_dir"},
		{"Kafka", source, "  - kafka: {from: lines, brokers: [\"h:1\"], topics: [t], group: g}\n", "c.yaml:5:26: bucket: dedupe requires a jetstream source"},
		{"core NATS", source, "  - nats: {from: lines, servers: [\"nats://h:1\"], subjects: [s]}\n", "c.yaml:3:11: dedupe requires a file, s3, objects, kafka or jetstream source: core NATS"},
		{"two sources", source, source + strings.ReplaceAll(source, "d}", "e}"), "c.yaml:4:16: dedupe requires a single source"},
		{"a lane", "bucket: seen", "bucket: seen, scope: lane", "c.yaml:5:39: scope: must be all with bucket"},
		{"an invalid name", "bucket: seen", "bucket: a.b", "c.yaml:5:26: bucket: invalid name"},
		{"on_change", "bucket: seen", "bucket: seen, on_change: refuse", "c.yaml:5:43: on_change: must be reset with bucket"},
		{"claim_timeout without a bucket", "bucket: seen", "claim_timeout: 2m", "claim_timeout"},
		{"ttl without a bucket", "bucket: seen", "ttl: 2m", "c.yaml:5:23: ttl: requires bucket; to forget keys without a bucket, set window"},
		{"a changelog", "bucket: seen", "bucket: seen, changelog: {topic: t}", "c.yaml:5:26: bucket: dedupe cannot combine bucket with changelog"},
		{"windows of records without a time", "bucket: seen", "bucket: seen, window: {size: 1h}", "c.yaml:5:40: records of the format lines have no time, so they belong to no window: remove window, or set time: message"},
		{"windows with idle", "bucket: seen", "bucket: seen, window: {size: 1h, time: message, idle: 1m}", "idle: requires a file source"},
		{"windows with ttl", "bucket: seen", "bucket: seen, ttl: 2h, window: {size: 1h, time: message}", "ttl: cannot be combined with window"},
		{"a short TTL", "bucket: seen", "bucket: seen, ttl: 10ms", "must be 0s or at least 1s"},
		{"a TTL in milliseconds", "bucket: seen", "bucket: seen, ttl: 1500ms", "must be whole seconds"},
		{"poison.after", "durable: d}", "durable: d, poison: {after: 3}}", "must be 0 with dedupe.bucket"},
		{"count", "bucket: seen", "bucket: seen, keep: count", "\"count\" is not possible in a daemon"},
		{"an at-most-once sink", "  - file: {path: out.txt}\n", "  - nats: {servers: [\"nats://h:1\"], subject: s}\n", "core NATS delivers at most once"},
		{"a sink that may refuse without a dead letter", "  - file: {path: out.txt}\n", "  - jetstream: {servers: [\"nats://h:1\"], subject: s}\n", "dedupe requires a dead_letter"},
		{"refused records are dropped", "  - file: {path: out.txt}\n", "  - file: {path: out.txt}\non_error: {refused: drop}\n", "dedupe cannot be combined with drop"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(claiming, c.old) {
				t.Fatalf("there is no %q", c.old)
			}
			_, err := loadText(t, strings.Replace(claiming, c.old, c.text, 1))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// dedupingKafka is a configuration with dedupe of a Kafka topic.
const dedupingKafka = `version: 1
sources:
  - kafka: {from: lines, brokers: ["h:1"], topics: [t], group: g}
codec: {profile: equiv}
dedupe: {by: k1, scope: lane, changelog: {topic: keys}}
sinks:
  - kafka: {brokers: ["h:1"], topic: out}
dead_letter: {file: {path: dead.txt}}
`

// TestDedupeKafkaRefused: each configuration in which the keys could not move
// with the partitions, or records could be lost, is an error with its reason and
// position.
func TestDedupeKafkaRefused(t *testing.T) {
	for _, more := range []string{"scope: lane", "window: {size: 1h, time: message}"} {
		if f, err := loadText(t, strings.Replace(dedupingKafka, "scope: lane", more, 1)); err != nil || f.Dedupe.Scope != "lane" {
			t.Fatal(more, err)
		}
	}
	const log, letters = ", changelog: {topic: keys}", "dead_letter: {file: {path: dead.txt}}\n"
	for _, c := range []struct{ name, old, text, want string }{
		{"scope all", "scope: lane", "scope: all", "c.yaml:5:25: scope: dedupe with Kafka requires scope: lane (the default)"},
		{"no changelog", log, "", "c.yaml:3:12: dedupe with Kafka requires changelog"},
		{"a changelog without a topic", "{topic: keys}", "{create: true}", "topic"},
		{"a changelog with a bad name", "topic: keys", "topic: a/b", "c.yaml:5:50: topic: invalid topic name"},
		{"two topics", "[t]", "[t, u]", "c.yaml:3:52: topics: dedupe supports only one topic"},
		{"two sources", "codec:", "  - kafka: {from: lines, brokers: [\"h:1\"], topics: [u], group: g}\ncodec:", "requires a single source"},
		{"on_change", "scope: lane", "scope: lane, on_change: refuse", "c.yaml:5:42: on_change: dedupe requires on_change: reset with a changelog"},
		{"the topic of the source", "topic: keys", "topic: t", "dedupe requires a topic that no source or sink uses"},
		{"the topic of a sink", "topic: keys", "topic: out", "dedupe requires a topic that no source or sink uses"},
		{"no dead letter", letters, "", "dedupe requires a dead_letter"},
		{"exactly_once with a broker", "  - kafka: {brokers: [\"h:1\"], topic: out}", "  - file: {path: a.txt, exactly_once: true}", "incompatible with exactly_once"},
		{"refused records are dropped", letters, letters + "on_error: {refused: drop}\n", "dedupe cannot be combined with drop"},
		{"a bucket", "changelog:", "bucket: b, changelog:", "bucket"},
		{"windows of records without a time", "scope: lane", "scope: lane, window: {size: 1h}", "set time: message for the time of the message"},
		{"windows with idle", "scope: lane", "scope: lane, window: {size: 1h, time: message, idle: 1m}", "idle: requires a file source: only files wait for each other"},
		{"a changelog for files", "kafka: {from: lines, brokers: [\"h:1\"], topics: [t], group: g}", "file: {from: lines, include: [\"in/*.log\"]}", "dedupe requires a kafka source; the keys of files are in data_dir"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(dedupingKafka, c.old) {
				t.Fatalf("there is no %q", c.old)
			}
			_, err := loadText(t, strings.Replace(dedupingKafka, c.old, c.text, 1))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// TestDedupeKafkaConnect: validate --connect rejects a changelog that would lose
// entries, with its position, and does not create a missing one.
func TestDedupeKafkaConnect(t *testing.T) {
	_, conn := kafkatest.Fake(t)
	for _, topic := range []string{"t", "out"} {
		kafkatest.CreateTopic(t, conn, topic, 2, nil)
	}
	kafkatest.CreateTopic(t, conn, "bad", 2, nil)
	for _, c := range []struct{ changelog, want string }{
		{"{topic: keys}", ""},
		{"{topic: keys, create: false}", "c.yaml:5:50: topic: keys: does not exist; create it with 2 partitions"},
		{"{topic: bad}", "c.yaml:5:50: topic: bad: has cleanup.policy=delete"},
	} {
		f, err := loadText(t, strings.NewReplacer("h:1", conn.Brokers[0], "{topic: keys}", c.changelog).Replace(dedupingKafka))
		if err != nil {
			t.Fatal(err)
		}
		p, err := testCatalog(t).newPlan(f)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.connect(t.Context()); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.changelog, err, c.want)
		}
	}
}

// TestDedupeKafkaIdentity: the keys of another group or topic are another set,
// and another changelog needs another pipeline.
func TestDedupeKafkaIdentity(t *testing.T) {
	plan := func(old, text string) *plan {
		t.Helper()
		f, err := loadText(t, strings.Replace(dedupingKafka, old, text, 1))
		if err != nil {
			t.Fatal(err)
		}
		p, err := testCatalog(t).newPlan(f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	now := plan("", "")
	for _, c := range [][2]string{{"group: g", "group: h"}, {"topics: [t]", "topics: [u]"}, {"topic: out", "topic: more"}, {"by: k1", "by: k2"}} {
		if p := plan(c[0], c[1]); maps.Equal(now.identity, p.identity) {
			t.Errorf("%s: the same identity", c[1])
		}
	}
	if p := plan("topic: keys", "topic: others"); !maps.Equal(now.identity, p.identity) || sameFlow(now, p) {
		t.Error("another changelog: the same flow, or another identity")
	}
}

// TestDedupeIdentity: what changes the meaning of keys, or where records go,
// changes the identity of the set; other settings do not.
func TestDedupeIdentity(t *testing.T) {
	plan := func(text string) *plan {
		t.Helper()
		f, err := loadText(t, text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := testCatalog(t).newPlan(f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	now := plan(deduping)
	for _, c := range []struct {
		old, text string
		same      bool
	}{
		{"{by: k1}", "{by: k1, on_change: refuse}", true},
		{"version: 1", "version: 1\nwhere: has(norm)", true},
		{"out.txt}", "out.txt, sync_interval: 1s}", true},
		{"{by: k1}", "{by: k0}", false},
		{"{by: k1}", "{by: k2}", false},
		{"{by: k1}", "{by: surface}", false},
		{"{by: k1}", "{by: site}", false},
		{"{by: k1}", "{by: template}", false},
		{"{by: k1}", "{by: k1, url: first}", false},
		{"{by: k1}", "{by: k1, scope: lane}", false},
		{"equiv}\ndedupe: {by: k1}", "equiv, to: keys}\ndedupe: {by: k1, keep: mark}", false},
		{"lines, include: [\"in/*.log\"]}\ncodec: {profile: equiv}\ndedupe: {by: k1}", "combined, include: [\"in/*.log\"]}\ndedupe: {by: k1, window: {size: 1h}}", false},
		{"out.txt}", "other.txt}", false},
		{"out.txt}", "out.txt}\n  - file: {path: more.txt}", false},
		{"profile: equiv", "profile: equiv, hash: sha256-128", false},
		{"profile: equiv", "profile: equiv, hash: hmac-sha256, hmac_key: 0123456789abcdef", false},
		{"profile: equiv", "profile: equiv, standard: rfc3986", false},
		{"profile: equiv", "profile: crawler", false},
	} {
		p := plan(strings.Replace(deduping, c.old, c.text, 1))
		if same := sameFlow(now, p) || c.same; same != c.same {
			t.Errorf("%s: same flow", c.text)
		}
		if same := maps.Equal(now.identity, p.identity); same != c.same {
			t.Errorf("%s: the same identity: %v\n%v", c.text, same, p.identity)
		}
	}
	one, other := plan(strings.Replace(deduping, "profile: equiv", "profile: equiv, hash: hmac-sha256, hmac_key: 0123456789abcdef", 1)), plan(strings.Replace(deduping, "profile: equiv", "profile: equiv, hash: hmac-sha256, hmac_key: 0123456789abcdeg", 1))
	if maps.Equal(one.identity, other.identity) {
		t.Error("another key of hmac-sha256 does not change the identity")
	}
	for name, value := range one.identity {
		if strings.Contains(value, "0123456789abcdef") {
			t.Errorf("the identity holds the secret in %s", name)
		}
	}
}

// TestDedupeOnChange: a stored set of another configuration is an error with
// on_change: refuse.
func TestDedupeOnChange(t *testing.T) {
	dir := t.TempDir()
	store, err := checkpoint.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }() // nothing is written after the test
	f, err := loadText(t, strings.Replace(deduping, "{by: k1}", "{by: k1, on_change: refuse}", 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := testCatalog(t).newPlan(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ keys, want string }{
		{"", ""},
		{`{"version":1,"identity":{"by":"syntax"}}`, `by was "syntax" and is "equivalent"`},
		{`{"version":2}`, "version 2"},
		{`?`, "invalid character"},
	} {
		if err := store.Save(checkpoint.Update{Source: "a", Keys: []byte(c.keys)}); err != nil {
			t.Fatal(err)
		}
		switch err := p.checkStoredKeys(store); {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.keys, err, c.want)
		}
	}
}

// TestKeysExceedLimit: a set of keys that leaves too little of the memory limit for
// the rest of the process is reported, with the limit that would do.
func TestKeysExceedLimit(t *testing.T) {
	defer memory.Limit{}.Apply(nil)
	var in strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&in, "http://h/%d\n", i)
	}
	for limit, want := range map[string]bool{"32MiB": true, "512MiB": false, "0": false} {
		t.Chdir(t.TempDir())
		if err := errors.Join(os.Mkdir("in", 0o700), os.WriteFile("in/a.log", []byte(in.String()), 0o600)); err != nil {
			t.Fatal(err)
		}
		f, err := loadText(t, deduping+"data_dir: state\nadmin: {listen: \"\"}\nmemory_limit: "+limit+"\n")
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		d, err := testCatalog(t).New(f, Options{UntilEOF: true, Log: &log})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(log.String(), `msg="keys take most of the memory limit" limit_bytes=33554432 keys_bytes=`); got > 1 || want != (got == 1) {
			t.Errorf("limit %s: logged:\n%s", limit, log.String())
		}
	}
}

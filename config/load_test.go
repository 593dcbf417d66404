package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/ground/errlist"
)

// load reads one of the examples.
func load(t *testing.T, name string) *File {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(name, data, doubles(), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// TestDefaults checks that the defaults of the reference are those of the program.
func TestDefaults(t *testing.T) {
	f := load(t, "defaults.yaml")
	want := Default()
	same(t, "pipeline", f.Batch, want.Batch)
	same(t, "in flight", f.MaxInFlight, want.MaxInFlight)
	same(t, "interval", f.CommitInterval, want.CommitInterval)
	same(t, "record", f.Codec.MaxRecord, want.Codec.MaxRecord)
	same(t, "shutdown", f.ShutdownTimeout, want.ShutdownTimeout)
	same(t, "admin", f.Admin, want.Admin)
	same(t, "log", f.Log, want.Log)
	same(t, "folder", f.DataDir, want.DataDir)
}

func TestAnalytics(t *testing.T) {
	f := load(t, "analytics.yaml")
	same(t, "source", f.Sources[0].Config, any(&kafkaConfig{
		Brokers: []string{"kafka-1:9092", "kafka-2:9092"}, kafkaIO: kafkaIO{Topics: []string{"web.access"}},
		Group: "urlfold-analytics", Start: "earliest", SessionTimeout: 45 * time.Second, DrainTimeout: 15 * time.Second,
		TLS: &tlsConfig{CAFile: "/etc/kafka/ca.pem"}, SASL: &saslConfig{"SCRAM-SHA-512", "urlfold", secret},
		PartitionBy: "key", Compression: "zstd",
	}))
	same(t, "names", []string{f.Sources[0].Name, f.Sinks[0].Name, f.DeadLetter.Name}, []string{"kafka-1", "kafka-sink-1", "dead_letter"})
	same(t, "dead letter", f.DeadLetter.Config.(*kafkaConfig).Topic, "web.access.dlq")
	same(t, "base", f.Sources[0].Format.Base, "https://{host}")
	same(t, "render", f.Codec.Render, Render{Form: "extend", Extend: map[string]string{"url_norm": "norm", "url_key": "key"}, names: []string{"url_norm", "url_key"}})
	same(t, "ordering", f.Order, "lane")
	same(t, "rejected", f.OnError.Rejected, "dead-letter")
	same(t, "tests", len(f.Tests), 3)
	p, policy := f.Codec.Resolve()
	n, err := codec.New(p, codec.WithPolicy(policy))
	if err != nil || n.Policy().Versions() != policy.Versions() {
		t.Fatalf("%v", err)
	}
	same(t, "key", key(t, n, "https://www.shop.example.com/order/4f0c0000-0000-4000-8000-000000000000?sku=1&x=2"), "shop.example.com/order/4f0c0000-0000-4000-8000-000000000000?sku=1")
	same(t, "template", string(policy.Templates.Append(nil, []byte("/order/4f0c0000-0000-4000-8000-000000000000"))), "/order/{uuid}")
	same(t, "key", key(t, n, "https://a.example/?utm_x=1&mc_eid=2&b=1"), "a.example/?b=1")
}

func TestFrontier(t *testing.T) {
	f := load(t, "frontier.yaml")
	c := f.Sources[0].Config.(*jetstreamConfig)
	same(t, "consumer", c.Consumer, consumerConfig{[]string{"discovered.>"}, 90 * time.Second, 20000, -1})
	same(t, "prefetch", c.Prefetch, prefetchConfig{2000, 8 * field.MiB})
	same(t, "fields", f.Codec.Render.JSONL.Fields, []string{"url", "norm", "key", "site"})
	same(t, "reject", f.Codec.Rejected(), Rejected{NotHTTP: true})
	same(t, "subject", f.Sinks[0].Config.(*jetstreamConfig).Subject, "frontier.{host_key%64}")
}

func TestCleanup(t *testing.T) {
	f := load(t, "cleanup.yaml")
	same(t, "source", f.Sources[0].Config.(*fileConfig).OnFinish, onFinish{word: "keep", MoveTo: "/data/done"})
	same(t, "sink", f.Sinks[0].Config.(*fileConfig).Compress, compressConfig{Zstd: &levelConfig{3}})
	same(t, "codec", []string{f.Sources[0].Format.From, f.Codec.Target, f.OnError.Unparsed, f.Codec.Render.Form}, []string{"combined", "all", "pass-through", "rewrite"})
}

// TestLoad reads a file on disk, with a secret, a profile and a list beside it.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("URLFOLD_TEST_N", "5")
	path := filepath.Join(dir, "c.yaml")
	if _, err := Load(path, doubles(), OS()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	write("secret", secret+"\n")
	write("sub/ours.txt", "ours\n")
	write("sub/p.yaml", "name: p\nbase: crawler\npolicy: {lists: [{plain: ours.txt}]}\n")
	write("c.yaml", minimalHead+"codec: {profile: sub/p.yaml, hash: hmac-sha256, hmac_key: '${file:secret}'}\nworkers: '${URLFOLD_TEST_N}'\n")
	f, err := Load(path, doubles(), OS())
	if err != nil {
		t.Fatal(err)
	}
	p, policy := f.Codec.Resolve()
	if p.Name != "p" || !strings.HasPrefix(policy.Versions(), "ours@") || f.Codec.HMACKey.Reveal() != secret || f.Workers != 5 {
		t.Errorf("profile %s with %s, %d workers", p.Name, policy.Versions(), f.Workers)
	}
	write("c.yaml", minimalHead+"codec: {rules: {lists: [{plain: sub/ours.txt}]}}\n")
	if f, err = Load(path, doubles(), OS()); err != nil {
		t.Fatal(err)
	}
	if _, policy = f.Codec.Resolve(); !strings.HasPrefix(policy.Versions(), "ours@") {
		t.Errorf("%s", policy.Versions())
	}
	if _, err := Parse("c", []byte(strings.Replace(minimalHead, "from: lines", "from: lines, base: '${A}${file:b}'", 1)+"codec: {profile: p.yaml, rules: {lists: [{plain: a}]}}"), doubles(), Env{}); err == nil ||
		strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("without an environment: %v", err)
	}
}

// minimalHead lacks the codec.
const minimalHead = "sources: [file: {from: lines, include: [a]}]\nsinks: [file: {path: b}]\n"

// TestColons reads lists whose colons the YAML library takes for those of
// mappings.
func TestColons(t *testing.T) {
	f := func(list string, want ...string) {
		t.Helper()
		c, err := Parse("c", []byte(minimal+"dead_letter: {file: {include: "+list+"}}"), doubles(), Env{})
		if err != nil {
			t.Errorf("%s: %v", list, err)
			return
		}
		same(t, list, c.DeadLetter.Config.(*fileConfig).Include, want)
	}
	f("[kafka-1:9092]", "kafka-1:9092")
	f("[nats://n1:4222, 'a:b', \"c:d\",e:1,f]", "nats://n1:4222", "a:b", "c:d", "e:1", "f")
	f("[a:1:2:b]", "a:1:2:b")
	f("[ä:1, x y:9 z, a:true, a:null, a:1.5]", "ä:1", "x y:9 z", "a:true", "a:null", "a:1.5")
	for _, list := range []string{"[a: 1]", "[\"a\":1]", "[a:]"} {
		if _, err := Parse("c", []byte(minimal+"dead_letter: {file: {include: "+list+"}}"), doubles(), Env{}); err == nil {
			t.Errorf("%s is taken for a list of texts", list)
		}
	}
}

// The errors of Check are reported with all other errors, in the order of the file.
// sound reports which sections Check must not use.
func TestCheck(t *testing.T) {
	types := doubles()
	sound := map[string]bool{}
	types.Check = func(f *File, ok func(string) bool) error {
		for _, path := range []string{"sources[0].kafka", "sources[1]", "codec.profile", "sinks[0]", "dead_letter", "on_error", "on_error.unparsed", "nothing"} {
			sound[path] = ok(path)
		}
		return errors.Join(f.ErrorAt("codec.profile", errors.New("no")), errors.New("elsewhere"))
	}
	const text = `version: 1
sources:
  - kafka: {from: lines, brokers: [a], topics: [b]}
  - kafak: {}
codec: {profile: equiv}
sinks:
  - kafka: {brokers: [a], topics: [b], nothing: 1}
on_error: {rejected: dead-letter}
`
	_, err := Parse("c.yaml", []byte(text), types, testEnv())
	want := []string{"c.yaml:4:5: unknown type \"kafak\" (did you mean \"kafka\"?)", "c.yaml:5:18: profile: no", "c.yaml:7:40: unknown key \"nothing\"", "c.yaml:8:22: rejected: dead_letter is not configured", "elsewhere"}
	var got []string
	for _, e := range errlist.Flatten(err) {
		got = append(got, e.Error())
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	same(t, "sound", sound, map[string]bool{
		"sources[0].kafka": true, "sources[1]": false, "codec.profile": true, "sinks[0]": false, "dead_letter": false, "on_error": false, "on_error.unparsed": true, "nothing": false,
	})
}

// TestKeyOfProfile: the level of keys is no part of the profile, so each level
// goes with each built-in profile.
func TestKeyOfProfile(t *testing.T) {
	for _, profile := range []string{"equiv", "crawler", "analytics", "rfc3986"} {
		for _, level := range []string{"syntax", "equivalent", "fetch", "page", "shape"} {
			text := minimalHead + "codec: {profile: " + profile + ", key: " + level + "}\n"
			if _, err := Parse("c", []byte(text), doubles(), Env{}); err != nil {
				t.Errorf("%s, %s: %v", profile, level, err)
			}
		}
	}
}

// TestShortForms: a component without settings is its type alone, an element of a list
// of addresses may be several, and durations may have days.
func TestShortForms(t *testing.T) {
	types := doubles()
	types.Sources["stdin"] = types.Sources["file"]
	f, err := Parse("c", []byte("sources: [stdin]\nsinks: [kafka: {brokers: ['a:1, b:2,c:3', d:4], topic: t}]\ndedupe: {window: {size: 7d, lateness: 1d12h}}"), types, Env{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "format", f.Sources[0].Format.From, "lines")
	same(t, "brokers", f.Sinks[0].Config.(*kafkaConfig).Brokers, []string{"a:1", "b:2", "c:3", "d:4"})
	same(t, "window", *f.Dedupe.Window, DedupeWindow{Size: 168 * time.Hour, Lateness: 36 * time.Hour, Idle: 5 * time.Minute, Time: "record"})
	if _, err := Parse("c", []byte(f.String()), types, Env{}); err != nil {
		t.Error(err)
	}
}

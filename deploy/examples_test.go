package deploy

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/client/kafka"
	"github.com/urlfold/urlfold/internal/storage/compress"
	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// Every example is a configuration without a mistake, and the cases in it hold.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("examples/*.yaml")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			run(t, nil, "check", "-c", f)
			run(t, nil, "check", "-c", f)
		})
	}
}

// TestFilter: the example of pipes passes the sample through, line by line.
func TestFilter(t *testing.T) {
	f, err := os.Open("../testdata/sample/access.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	cmd := command([]string{"run", "-c", "examples/filter.yaml"})
	cmd.Stdin = f
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	text, err := os.ReadFile("../testdata/sample/access.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	r := compress.NewReader(strings.NewReader(string(text)), compress.Options{})
	defer r.Close()
	in, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Count(strings.TrimSuffix(string(in), "\n"), "\n")+1, strings.Count(string(out), "\n")
	if got != want || got == 0 || string(out) == string(in) {
		t.Errorf("%d lines of %d, or nothing was normalized", got, want)
	}
	if !strings.Contains(log.String(), `msg="file finished"`) || strings.Contains(string(out), "msg=") {
		t.Errorf("the log:\n%s", &log)
	}
}

// replaced makes a copy of an example with some texts replaced by others.
func replaced(t *testing.T, example string, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("examples", example))
	if err != nil {
		t.Fatal(err)
	}
	for pair := range slices.Chunk(pairs, 2) {
		if !strings.Contains(string(text), pair[0]) {
			t.Fatalf("%s does not hold %q", example, pair[0])
		}
	}
	name := filepath.Join(t.TempDir(), example)
	if err := os.WriteFile(name, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// logEnv returns an environment for the example of files, with the sample in its
// place.
func logEnv(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	sample, err := os.ReadFile("../testdata/sample/access.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"logs/web1/access.log.gz", "logs/web2/access.log.1.gz"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, sample, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"LOGS=logs", "CLEAN=clean", "DONE=done", "URLFOLD_DATA=state"} {
		key, sub, _ := strings.Cut(key, "=")
		env = append(env, key+"="+filepath.Join(dir, sub))
	}
	return dir, env
}

// unpacked returns the text of a compressed file that must be sound.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	r := compress.NewReader(f, compress.Options{})
	text, err := io.ReadAll(r)
	if v := r.Verdict(); err != nil || v.Kind != compress.OK {
		t.Fatalf("%s: %v, %v", name, v, err)
	}
	return string(text)
}

// The example logclean writes all lines of all files, in order, as the one-shot does,
// except that it adds the line feed that the last line of the sample lacks, because
// more data could follow. The inputs are moved, and a second run has nothing to do.
func TestLogclean(t *testing.T) {
	dir, env := logEnv(t)
	want := run(t, nil, "--quiet", "-p", "logclean", "--target", "all", "-f", "combined", filepath.Join(dir, "logs/web1/access.log.gz")) + "\n"
	for range 2 {
		if code := start(t, "examples/logclean.yaml", env...).wait(); code != 0 {
			t.Fatalf("exit code %d", code)
		}
	}
	for _, f := range []string{"web1/access.log", "web2/access.log.1"} {
		if got := unpacked(t, filepath.Join(dir, "clean", f+".zst")); got != want {
			t.Errorf("%s: %d bytes, want %d, those of the one-shot", f, len(got), len(want))
		}
		if _, err := os.Stat(filepath.Join(dir, "done", f+".gz")); err != nil {
			t.Error(err)
		}
	}
	run(t, nil, "check", "--integrity", filepath.Join(dir, "clean"))
	if out := run(t, env, "daemon", "state", "-c", "examples/logclean.yaml"); strings.Count(out, "\ndone ") != 2 {
		t.Errorf("the stored progress is\n%s", out)
	}
}

// startCrawler starts the example with a separate server, with the streams
// that it needs.
func startCrawler(t *testing.T) (*process, jetstream.JetStream) {
	t.Helper()
	server := natstest.Start(t, nil)
	conn, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	for name, subject := range map[string]string{"DISCOVERED": "discovered.>", "FRONTIER": "frontier.>"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{subject}}); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, "examples/crawler.yaml", "NATS_URL="+server.URL())
	p.untilReady()
	return p, js
}

// frontier returns the messages in the output stream, by subject, once there
// are n messages.
func frontier(t *testing.T, p *process, js jetstream.JetStream, n int) map[string][]string {
	t.Helper()
	s, err := js.Stream(t.Context(), "FRONTIER")
	if err != nil {
		t.Fatal(err)
	}
	p.until("the messages in the output", func() bool {
		info, err := s.Info(t.Context())
		return err == nil && info.State.Msgs >= uint64(n)
	})
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bySubject := map[string][]string{}
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if err != nil {
			t.Fatal(err)
		}
		bySubject[m.Subject] = append(bySubject[m.Subject], strings.TrimSuffix(string(m.Data), "\n"))
	}
	return bySubject
}

// The crawler engineer gets a message for each URL, with all URLs of one
// host on one subject. URLs that cannot be fetched are in the dead letter,
// and all messages are acknowledged.
func TestCrawler(t *testing.T) {
	p, js := startCrawler(t)
	for _, m := range []string{
		"http://a.example/1\nhttp://a.example/x/../2\nHTTP://A.example:80/3#top",
		"https://b.example/%7Eu", "mailto:somebody@b.example", "http://[::bad/",
	} {
		if _, err := js.Publish(t.Context(), "discovered.test", []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	got := frontier(t, p, js, 6)
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if n := len(got["frontier.dlq"]); n != 2 {
		t.Errorf("%d messages in the dead letter, want the one of another scheme and the one without a host: %q", n, got)
	}
	delete(got, "frontier.dlq")
	sites, norms := map[string]string{}, []string{}
	for subject, list := range got {
		for _, text := range list {
			var r struct{ URL, Norm, Key, Site string }
			if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Key) != 32 || r.URL == "" {
				t.Fatalf("%q: %v", text, err)
			}
			if at, ok := sites[r.Site]; ok && at != subject {
				t.Errorf("%s is on %s and on %s", r.Site, at, subject)
			}
			sites[r.Site] = subject
			norms = append(norms, r.Norm)
		}
	}
	slices.Sort(norms)
	want := []string{"http://a.example/1", "http://a.example/2", "http://a.example/3", "https://b.example/~u"}
	if !slices.Equal(norms, want) {
		t.Errorf("got %q, want %q", norms, want)
	}
	c, err := js.Consumer(t.Context(), "DISCOVERED", "urlfold")
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Info(t.Context())
	if err != nil || info.NumAckPending != 0 || info.NumPending != 0 {
		t.Errorf("the consumer has %d messages that are not acknowledged: %v", info.NumAckPending, err)
	}
}

// startAnalytics starts the example between separate topics on a broker.
func startAnalytics(t *testing.T, c connect.Kafka) (p *process, topic string) {
	t.Helper()
	topic = fmt.Sprintf("web.access.%d", time.Now().UnixNano()) // a real broker keeps what earlier runs left
	for name, partitions := range map[string]int{topic: 2, topic + ".norm": 4, topic + ".dlq": 1} {
		kafkatest.CreateTopic(t, c, name, partitions, nil)
	}
	config := replaced(t, "analytics.yaml", "web.access", topic, "urlfold-analytics", topic)
	p = start(t, config, "KAFKA_BROKER="+c.Brokers[0])
	p.untilReady()
	return p, topic
}

func TestAnalyticsFake(t *testing.T) {
	_, c := kafkatest.Fake(t)
	testAnalytics(t, c)
}

func TestAnalyticsReal(t *testing.T) { testAnalytics(t, kafkatest.Real(t)) }

// The web analyst gets the records with two more fields, and pages with one
// key in one partition. Records whose URL cannot be parsed are in the dead
// letter, and all offsets are committed.
func testAnalytics(t *testing.T, c connect.Kafka) {
	p, topic := startAnalytics(t, c)
	client := kafkatest.Client(t, c, topic, topic+".norm", topic+".dlq")
	record := func(s string) kafka.Record { return kafka.Record{Millis: 1, Value: []byte(s)} }
	kafkatest.Write(t, client, topic, 0, "none",
		record(`{"n":1,"host":"shop.example.com","request_url":"/a?b=1&utm_source=x"}`),
		record(`{"n":2,"host":"shop.example.com","request_url":"https://Shop.Example.com/a?b=1#top"}`),
		record(`{"n":3,"host":"h.example","request_url":"http://[bad/"}`))
	kafkatest.Write(t, client, topic, 1, "none", record(`{"n":4,"host":"www.shop.example.com","request_url":"/a?b=1"}`))
	var norm [][]kafka.Record
	p.until("the records in the output", func() bool {
		norm = kafkatest.Read(t, client, topic+".norm", 4)
		return len(slices.Concat(norm...)) >= 3
	})
	if code := p.stop(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	partitions, keys, ns := map[int]bool{}, map[string]bool{}, []int{}
	for i, list := range norm {
		for _, r := range list {
			var v struct {
				N    int
				URL  string `json:"request_url"`
				Norm string `json:"url_norm"`
				Key  string `json:"url_key"`
			}
			if err := json.Unmarshal(r.Value, &v); err != nil || v.URL == "" || !strings.Contains(v.Norm, "shop.example.com/a?b=1") {
				t.Errorf("%s: %v", r.Value, err)
			}
			partitions[i], keys[v.Key] = true, true
			ns = append(ns, v.N)
		}
	}
	if slices.Sort(ns); !slices.Equal(ns, []int{1, 2, 4}) || len(partitions) != 1 || len(keys) != 1 {
		t.Errorf("records %v with keys %v in partitions %v, want three with one key in one partition", ns, keys, partitions)
	}
	if dead := kafkatest.Read(t, client, topic+".dlq", 1); len(dead[0]) != 1 || !strings.Contains(string(dead[0][0].Value), `\"n\":3`) {
		t.Errorf("the dead letter holds %d records, not the one without a host", len(dead[0]))
	}
	if got := kafkatest.Committed(t, c, topic, topic, 2); !slices.Equal(got, []int64{3, 1}) {
		t.Errorf("committed: %v", got)
	}
}

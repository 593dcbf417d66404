package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/urlfold/urlfold/internal/testkit/kafkatest"
	"github.com/urlfold/urlfold/internal/testkit/natstest"
)

// TestDeadLetterLimit: validate --connect warns if the sink of the dead letters
// cannot hold twice the longest record of the sources.
func TestDeadLetterLimit(t *testing.T) {
	_, conn := kafkatest.Fake(t)
	for topic, limit := range map[string]string{"in": "1000", "narrow": "1999", "wide": "2000"} {
		kafkatest.CreateTopic(t, conn, topic, 1, map[string]string{"max.message.bytes": limit})
	}
	srv := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 20000 })
	nc, err := nats.Connect(srv.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for name, limit := range map[string]int32{"in": 1000, "narrow": 1999, "wide": -1} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name, Subjects: []string{name}, MaxMsgSize: limit}); err != nil {
			t.Fatal(err)
		}
	}
	kafka := func(text string) string { return "kafka: {brokers: [" + conn.Brokers[0] + "], " + text + "}" }
	streams := func(kind, text string) string { return kind + ": {servers: [" + srv.URL() + "], " + text + "}" }
	fromKafka, fromStream := kafka("topics: [in], group: g"), streams("jetstream", "stream: in, durable: d")
	fromCore, fromFile := streams("nats", "subjects: [x]"), "file: {include: [/dev/null]}"
	for _, c := range []struct{ source, dead, want string }{
		{fromKafka, kafka("topic: narrow"), "messages of 1999 bytes, but the sources have records of up to 1000 bytes"},
		{fromKafka, kafka("topic: wide"), ""},
		{fromKafka, streams("jetstream", "subject: narrow"), "messages of 1999 bytes"},
		{fromStream, streams("jetstream", "subject: narrow"), "raise the limit to 2000"},
		{fromStream, streams("jetstream", "subject: wide"), ""},
		{fromStream, streams("nats", "subject: x"), ""},
		{fromCore, streams("nats", "subject: x"), "messages of 20000 bytes, but the sources have records of up to 20000 bytes"},
		{fromFile, kafka("topic: wide"), "records of up to 1048576 bytes"},
		{fromFile, "file: {path: /tmp/dead.jsonl}", ""},
	} {
		text := fmt.Sprintf("sources:\n- %s\n\nsinks: [{discard: {}}]\ndead_letter: {%s}\n", strings.Replace(c.source, "{", "{from: lines, ", 1), c.dead)
		f, err := loadText(t, text)
		if err != nil {
			t.Fatal(err)
		}
		p, err := testCatalog(t).newPlan(f)
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.connect(t.Context())
		var got strings.Builder
		for _, w := range list {
			if strings.Contains(w.Error(), "truncated") {
				got.WriteString(w.Error())
			}
		}
		if err != nil || c.want == "" && got.String() != "" || !strings.Contains(got.String(), c.want) || got.String() != "" && !strings.Contains(got.String(), "c.yaml:5:2") {
			t.Errorf("%s to %s: %q, %v, want %q", c.source, c.dead, got.String(), err, c.want)
		}
	}
}

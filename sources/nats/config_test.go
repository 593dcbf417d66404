package nats

import (
	"strings"
	"testing"
)

func TestConfig(t *testing.T) {
	f := func(change func(*JetStreamConfig), want ...string) {
		t.Helper()
		c := DefaultJetStream()
		c.Servers, c.Stream, c.Durable = []string{"nats://127.0.0.1"}, "S", "d"
		change(&c)
		_, err := NewJetStream(c)
		if len(want) == 0 && err != nil {
			t.Error(err)
		}
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%v, want %q", err, text)
			}
		}
	}
	f(func(*JetStreamConfig) {})
	f(func(c *JetStreamConfig) { c.Servers, c.Stream, c.Durable = nil, "a.b", "a b" }, "servers: ", "stream: invalid name", "durable: invalid name")
	f(func(c *JetStreamConfig) { c.Consumer.FilterSubjects = []string{"a", "b..c"} }, "consumer.filter_subjects[1]: invalid subject")
	f(func(c *JetStreamConfig) { c.Poison.Action = "publish" }, "poison.subject")
	core := DefaultCore()
	core.Queue = "a b"
	if _, err := NewCore(core); err == nil || !strings.Contains(err.Error(), "servers") || !strings.Contains(err.Error(), "queue") {
		t.Errorf("%v", err)
	}
	core.Subjects = []string{"a.*", "a..b"}
	if _, err := NewCore(core); err == nil || !strings.Contains(err.Error(), "subjects[1]: invalid subject") {
		t.Errorf("%v", err)
	}
}

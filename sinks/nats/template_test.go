package nats

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	client "github.com/urlfold/urlfold/internal/client/nats"
	"github.com/urlfold/urlfold/internal/record"
)

func TestTemplate(t *testing.T) {
	fact := record.Fact{Host: 130, Key: codec.KeyFromUint64s(1, 70)}
	f := func(text, in, want, filter string, facts bool) {
		t.Helper()
		tmpl, err := parseTemplate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			return
		}
		for range 2 { // the second result comes from the cache
			if got := tmpl.make(&fact, in); got != want {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
		if tmpl.filter() != filter || tmpl.facts() != facts {
			t.Errorf("%s: filter %q, facts %v", text, tmpl.filter(), tmpl.facts())
		}
	}
	f("frontier.{host_key%64}", "", "frontier.2", "frontier.*", true)
	f("a.{key%64}.b", "", "a.6.b", "a.*.b", true)
	f("a.x{key}", "", "a.x00000000000000010000000000000046", "a.*", true)
	f("a.{host_key}", "", "a.0000000000000082", "a.*", true)
	f("plain", "in.put", "plain", "plain", false)
	f("seen.{subject}", "in.put", "seen.in.put", "", false)
	f("{subject}", "in.put", "in.put", "", false)
	f("{subject}", "", "", "", false)
	f("{subject}", "$JS.API.STREAM.DELETE.S", "", "", false)
	f("x.{subject}", "a b", "", "", false)
	f("x.{subject}", "a.*", "", "", false)
	for _, text := range []string{"", "a.", "a b", "a.*", "a.>", "a.{", "a.{nothing}", "a.{key%0}", "a.{key%x}", "a.{key%4294967296}", "a.{subject%4}", "a..{key}", "a}.{key"} {
		if _, err := parseTemplate(text); err == nil || strings.Contains(err.Error(), "\n") { // one mistake is reported only once
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestPasses(t *testing.T) {
	f := func(name string, want bool) {
		t.Helper()
		if passes([]byte(name)) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	f("Trace", true)
	f("Nat", true)
	f("Natsu", true)
	f("NATSX-a", true)
	f("Nats-Rollup", false)
	f("nats-msg-id", false)
	f("", false)
	f("a:b", false)
	f("a b", false)
	f("a\r\n", false)
	f("\xff", false)
}

func TestConfig(t *testing.T) {
	f := func(change func(*JetStreamConfig), want ...string) {
		t.Helper()
		c := DefaultJetStream()
		c.Servers, c.Subject = []string{"nats://127.0.0.1"}, "a"
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
	f(func(c *JetStreamConfig) { c.Framing, c.MsgID = "lines", "none" })
	f(func(c *JetStreamConfig) { c.Framing = "lines" }, "msg_id: framing: lines requires msg_id: batch")
	f(func(c *JetStreamConfig) { c.Framing, c.MsgID = "lines", "batch" })
	f(func(c *JetStreamConfig) { c.MsgID = "batch" }, "msg_id: msg_id: batch requires framing: lines")
	f(func(c *JetStreamConfig) { c.MsgID, c.Subject = "subject", "a.{key}" })
	f(func(c *JetStreamConfig) { c.MsgID = "subject" }, "subject: msg_id: subject requires {key}")
	f(func(c *JetStreamConfig) { c.MsgID, c.Subject = "subject", "a.{key%2}" }, "subject: msg_id: subject requires {key}")
	f(func(c *JetStreamConfig) { c.MsgID, c.Subject = "subject", "{subject}.{key}" }, "no {subject}")
	f(func(c *JetStreamConfig) { c.MsgID, c.Subject, c.CheckStreams = "subject", "a.{key}", false }, "check_streams: msg_id: subject requires")
	f(func(c *JetStreamConfig) { c.Framing, c.MsgID, c.Subject = "lines", "none", "a.{key%2}" }, "subject: framing: lines requires the same subject")
	f(func(c *JetStreamConfig) { c.Subject, c.Servers = "a b", nil }, "subject: invalid subject", "servers: must have at least 1 element")
	core := DefaultCore()
	if _, err := NewCore(core); err == nil || !strings.Contains(err.Error(), "subject") || !strings.Contains(err.Error(), "servers") {
		t.Errorf("%v", err)
	}
}

// TestPrintAllocs limits the allocations per message: its id, source and
// headers.
func TestPrintAllocs(t *testing.T) {
	tmpl, err := parseTemplate("a.{host_key%64}")
	if err != nil {
		t.Fatal(err)
	}
	pr := press{subject: tmpl, id: idPosition}
	b := batch(laneOf("lane"), 1, "a", "b")
	p := page{b: b, s: &b.Out}
	m := clientMsg()
	if n := testing.AllocsPerRun(100, func() {
		clear(m.Header)
		pr.fill(&p, 1, m)
	}); n > 3 {
		t.Errorf("%v allocations a message", n)
	}
}

func clientMsg() *client.Msg { return &client.Msg{Header: map[string][]string{}} }

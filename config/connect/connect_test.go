package connect

import (
	"strings"
	"testing"
)

func TestKafka(t *testing.T) {
	f := func(ok bool, change func(*Kafka)) {
		t.Helper()
		c := DefaultKafka()
		c.Brokers = []string{"a:1", "[::1]:9092"}
		change(&c)
		err := c.Validate()
		if (err == nil) != ok {
			t.Errorf("%v", err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error contains the password: %v", err)
		}
	}
	f(true, func(*Kafka) {})
	f(false, func(c *Kafka) { c.Brokers = nil })
	for _, bad := range []string{"a", "a:", ":1", "a:x", "a:0", "a:65536", "http://a:1"} {
		f(false, func(c *Kafka) { c.Brokers[1] = bad })
	}
	f(true, func(c *Kafka) { c.TLS = &TLS{} })
}

func TestCheckTopic(t *testing.T) {
	long := strings.Repeat("a", 249)
	for _, good := range []string{"a", "A-1_b.c", "...", long} {
		if err := CheckTopic(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", ".", "..", "a b", "ä", "a/b", "a\n", long + "a"} {
		if CheckTopic(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestNATS(t *testing.T) {
	f := func(change func(*NATS), want ...string) {
		t.Helper()
		c := DefaultNATS()
		c.Servers = []string{"nats://127.0.0.1"}
		change(&c)
		err := c.Validate()
		if err != nil && strings.Contains(err.Error(), "hun") {
			t.Error("error contains the password")
		}
		if len(want) == 0 && err != nil {
			t.Error(err)
		}
		for _, text := range want {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%v, want %q", err, text)
			}
		}
	}
	f(func(*NATS) {})
	f(func(c *NATS) { c.Servers = nil }, "servers: must have at least 1 element")
	for _, good := range []string{"n1", "n1:4222", "tls://[::1]:4222", "tls://user:p%40ss@n1:443", "nats://token@n1"} {
		f(func(c *NATS) { c.Servers[0] = good })
	}
	f(func(c *NATS) { c.Servers = append(c.Servers, "nats://u:hunter2@[n1") }, "servers[1]: invalid server URL")
	f(func(c *NATS) { c.Servers[0] = "nats://u:hun/ter2@n1" }, "servers[0]: invalid server URL")
	f(func(c *NATS) { c.Servers[0] = "nats://" }, "servers[0]: invalid server URL")
	f(func(c *NATS) { c.Servers[0] = "http://n1" }, "servers[0]: invalid server URL: scheme")
	f(func(c *NATS) { c.Servers[0] = "ws://n1" }, "servers[0]: invalid server URL: WebSocket is not supported")
	f(func(c *NATS) { c.Servers[0] = "wss://u:hunter2@n1:443" }, "servers[0]: invalid server URL: WebSocket is not supported")
	f(func(c *NATS) { c.Servers[0] = "nats://n1:65536" }, "servers[0]: invalid server URL: port")
	f(func(c *NATS) { c.Token, c.User, c.Password = "t", "u", "p" }, "multiple credentials")
	f(func(c *NATS) { c.Password = "p" }, "password: requires user")
	f(func(c *NATS) { c.InboxPrefix = "a.*" }, "inbox_prefix")
}

func TestTLS(t *testing.T) {
	for _, half := range []TLS{{CertFile: "c"}, {KeyFile: "k"}} {
		if err := half.Validate(); err == nil || err.Error() != "cert_file: must be set together with key_file" {
			t.Errorf("%+v: %v", half, err)
		}
	}
	if err := (&TLS{CertFile: "c", KeyFile: "k"}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestRegistry(t *testing.T) {
	f := func(change func(*Registry), want string) {
		t.Helper()
		c := Registry{URL: "https://registry.example:8081/api"}
		change(&c)
		err := c.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Error("error contains the password")
		}
	}
	f(func(*Registry) {}, "")
	f(func(c *Registry) { c.Username, c.Password = "u", "hunter2" }, "")
	f(func(c *Registry) { c.Token = "hunter2" }, "")
	f(func(c *Registry) { c.URL = "" }, "url: must be an http or https URL")
	f(func(c *Registry) { c.URL = "registry:8081" }, "url: must be")
	f(func(c *Registry) { c.URL = "https://u:hunter2@h" }, "url: must not contain credentials")
	f(func(c *Registry) { c.URL = "https://u:hun/ter2@h:x" }, "url: must be")
	f(func(c *Registry) { c.URL = "https://h?key=hunter2" }, "url: must not have a query")
	f(func(c *Registry) { c.Password = "hunter2" }, "password: requires username")
	f(func(c *Registry) { c.Username, c.Token = "u", "hunter2" }, "token: cannot be combined")
}

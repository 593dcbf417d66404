package config

import (
	"strings"
	"testing"
)

// TestString checks that what is printed says the same when it is read again, and
// prints the same.
func TestString(t *testing.T) {
	for _, name := range []string{"defaults.yaml", "analytics.yaml", "frontier.yaml", "cleanup.yaml"} {
		text := load(t, name).String()
		again, err := Parse("again", []byte(text), doubles(), testEnv())
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if got := again.String(); got != text {
			t.Errorf("%s: printed\n%s\nand then\n%s", name, text, got)
		}
	}
}

func TestStringSecrets(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		c, err := Parse("c", []byte(text), doubles(), testEnv())
		if err != nil {
			t.Fatal(err)
		}
		got := c.String()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("no %s in\n%s", w, got)
			}
		}
		if strings.Contains(got, "hunter2") {
			t.Errorf("a secret is in\n%s", got)
		}
	}
	f("sources: [file: {from: lines, compress: none}]\n"+minimal[strings.IndexByte(minimal, '\n')+1:]+"dead_letter: {kafka: {brokers: ['nats://u:hunter2@h:1'], topic: b, sasl: {password: hunter2}}}\ndata_dir: '/${SECRET}/$${x}'",
		`- "nats://***@h:1"`, `password: "***"`, `data_dir: "/${SECRET}/$${x}"`, "compress: none\n", "linger: 50ms", "shutdown_timeout: 25s", "ready_within: 5m\n")
	f("sources: [kafka: {from: lines, base: 'https://u:hunter2@h/', brokers: [a], topic: b, sasl: {password: '${SECRET}'}}]\ncodec: {hash: hmac-sha256, hmac_key: '${file:kafka}'}\nsinks: [file: {}]",
		`password: "***"`, `hmac_key: "***"`, `base: "https://***@h/"`, "name: kafka-1", "to: rewrite")
}

package config

import (
	"os"
	"strings"
	"testing"
)

// TestMoved writes each former key, and checks that the error names the current
// one, which exists.
func TestMoved(t *testing.T) {
	reference, err := os.ReadFile("../docs/reference/config.md")
	if err != nil {
		t.Fatal(err)
	}
	for old, now := range moved {
		keys := strings.Split(old, ".")
		text := keys[len(keys)-1] + ": 1"
		for i := len(keys) - 2; i >= 0; i-- {
			text = keys[i] + ": {" + text + "}"
		}
		text = strings.Replace(text, "route: {when: 1}", "route: [{when: 1}]", 1)
		_, err := Parse("c", []byte(text), doubles(), testEnv())
		want := now
		if !strings.HasPrefix(now, "removed: ") {
			want = "use " + now
			if path, _, _ := strings.Cut(now, ","); !strings.Contains(string(reference), path+"` |") {
				t.Errorf("%s is now %s, which is not in the reference", old, path)
			}
		}
		want = "unknown key \"" + keys[len(keys)-1] + "\": " + want
		if isComponent := keys[0] == "kafka" || keys[0] == "nats" || keys[0] == "file" || keys[0] == "s3"; isComponent && movedTo("sinks[0]."+old) != now {
			t.Errorf("%s of a sink is not %s", old, now)
		} else if !isComponent && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err = Parse("c", []byte(minimal+"dead_letter: {kafka: {brokers: [a], topic: b, sasl: {user: 1}}}\npipeline: {batch: {bytes: 1, linger: 1s}, workers: 2}"), doubles(), testEnv())
	if err == nil || strings.Count(err.Error(), ": use ") != 3 {
		t.Errorf("%v", err)
	}
}

package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestAnchors: an alias stands for the value of its anchor, "<<" adds the keys that a
// mapping does not have, and keys that begin with x- hold anchors.
func TestAnchors(t *testing.T) {
	const text = `x-broker: &broker {brokers: ["a:1", "b:2"], topic: t}
x-ignored: {unknown: ["${UNSET}"]}
sources: [file: {from: lines, include: &in [one, two], exclude: *in}]
sinks:
  - kafka: {<<: *broker, topic: own}
  - kafka:
      <<: [*broker, {topic: later, partition_by: record}]
dead_letter: {kafka: {<<: *broker}}
`
	f, err := Parse("c", []byte(text), doubles(), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	shown := f.String()
	for _, want := range []string{"topic: own", "topic: t", "partition_by: record"} {
		if !strings.Contains(shown, want) {
			t.Errorf("there is no %s in\n%s", want, shown)
		}
	}
	if strings.Count(shown, "a:1") != 3 || strings.Contains(shown, "later") || strings.Count(shown, "two") != 2 {
		t.Errorf("the mappings are not merged:\n%s", shown)
	}
}

// TestAnchorsRefused: an alias without a value, and aliases that expand without end,
// are errors at their lines.
func TestAnchorsRefused(t *testing.T) {
	var laughs strings.Builder
	laughs.WriteString("x-0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n")
	for i := range 9 {
		fmt.Fprintf(&laughs, "x-%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9))
	}
	for _, c := range []struct{ text, want string }{
		{laughs.String() + minimal, "c:5:16: the aliases expand to more than 20000 values"},
		{"x-a: &a [*a]\n" + minimal, "c:1:10: the alias is part of the anchor that it names"},
		{"x-a: *b\nx-b: &b 1\n" + minimal, "c:1:6: no earlier anchor has the name of this alias"},
		{"x-a: &a 1\n" + minimal + "log: {<<: *a}\n", "c:1:9: must be a mapping"},
		{minimal + "log: {x-level: debug}\n", "c:4:7: unknown key \"x-level\""},
	} {
		_, err := Parse("c", []byte(c.text), doubles(), testEnv())
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s%v\nwant %s", c.text, err, c.want)
		}
	}
}

// TestWarnings: what is probably not meant is a warning with a line and a key, and
// without the value.
func TestWarnings(t *testing.T) {
	f, err := Parse("c", []byte(`data_dir: $HOME/state
sources: [file: {from: '$remote_addr "$request"', include: ["${HOME:-x}/$$a"]}]
x-login: &login {mechanism: PLAIN, username: $USER, password: hunter2}
sinks:
  - kafka: {brokers: ["a:1"], topic: t, sasl: *login}
  - kafka: {brokers: ["a:1"], topic: t, sasl: *login}
codec: {hash: hmac-sha256, hmac_key: "${KEY:-0123456789abcdef0123456789abcdef}"}
`), doubles(), testEnv())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range f.Warnings() {
		got = append(got, w.Error())
	}
	want := []string{
		"c:1:11: data_dir: contains $ and a name, which is literal text (write ${NAME} for an environment variable)",
		"c:3:46: username: contains $ and a name, which is literal text (write ${NAME} for an environment variable)",
		"c:3:63: password: the secret is written in the configuration, which others may read (write ${file:PATH} or ${NAME})",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

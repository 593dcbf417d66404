package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// ruleCounts formats the counts of rules: "esc-upper 2,www-one 1".
func ruleCounts(st *Stats) string {
	var texts []string
	for h, n := range st.Rules {
		if n != 0 {
			texts = append(texts, fmt.Sprint(codec.Rule(h), " ", n))
		}
	}
	return strings.Join(texts, ",")
}

// TestRules checks that each rule that changed a URL or a key is counted once
// per URL.
func TestRules(t *testing.T) {
	f := func(c Config, profile string, lv codec.Level, in, want string) {
		t.Helper()
		c.Normalizer, c.Level = newNormalizer(t, profile), lv
		_, _, st := runJob(t, newJob(t, c), []byte(in))
		if got := ruleCounts(&st); got != want {
			t.Errorf("%s %q: got counts %q, want %q", profile, in, got, want)
		}
	}
	lines := Config{Format: "lines"}
	f(lines, "equiv", codec.LevelFetch, "https://h/\nhttp://h/?utm_source=x\n", "") // no key is computed
	f(lines, "equiv", codec.LevelEquivalent, "http://h/%7e\nhttp://H/%2f\nhttp://h/\n", "esc-upper 2,esc-unres 1,host-lower 1")
	f(lines, "rfc3986", codec.LevelSyntax, "HTTP://h/../a b\n", "add 1,scheme-lower 1,dots 1")
	f(Config{Format: "lines", RejectNotHTTP: true}, "equiv", codec.LevelEquivalent, "ftp://H/%7e\nhttp://H/\n", "host-lower 1")

	keys := Config{Format: "lines", Render: RenderKeys}
	f(keys, "equiv", codec.LevelEquivalent, "https://h/?utm_source=x\n", "")
	f(keys, "equiv", codec.LevelFetch, "https://h/?utm_source=x\nhttp://[x\n", "https-http 1,q-drop 1")
	f(keys, "crawler", codec.LevelFetch, "http://u@h/#f\n", "ui-drop 1,frag-drop 1") // in the normal form and in the key
	f(keys, "crawler", codec.LevelFetch, "http://h/?a#b\nhttp://[x\nhttp://h/?b&a\n", "frag-drop 1,q-sort-name 1")
	f(Config{Format: "lines", Render: RenderTSV, Fields: []string{"fetch", "page", "key"}}, "equiv", codec.LevelPage,
		"http://www.h.example/a//b\n", "https-http 1,www-one 1,slash-one 1")
	extended := Config{Format: "jsonl", URLField: "url", Render: RenderExtend, Extend: []Extension{{Name: "k", Field: "fetch"}}}
	f(extended, "equiv", codec.LevelEquivalent, `{"url":"https://h/"}`+"\n", "https-http 1")
	f(extended, "equiv", codec.LevelEquivalent, `{"url":"http://[x/"}`+"\n{}\n", "")
	f(Config{Format: "lines", Facts: true}, "equiv", codec.LevelFetch, "https://h/\n", "https-http 1")

	// Rules that change the scheme and host before the target count. Rules for
	// a target that is unchanged in the end do not.
	f(Config{Format: `"$request"`}, "equiv", codec.LevelEquivalent, "\"GET /a\"\n\"GET /%7e\"\n", "esc-upper 1,esc-unres 1")
	f(Config{Format: `$vhost "$request"`}, "equiv", codec.LevelEquivalent, "H \"GET /a\"\n", "")
	// Repairs are not rules. The rules are those for the original URL.
	f(Config{Format: "lines", Repairs: RepairDouble}, "equiv", codec.LevelEquivalent, "http://H/%2541\nhttp://h/%252f\n", "host-lower 1")
}

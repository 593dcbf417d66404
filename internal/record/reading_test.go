package record

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// TestOriginBrowser checks that an origin-form target remains one, even if
// browsers would parse it as something else (RFC 9112 §3.2.1;
// https://url.spec.whatwg.org/#path-start-state).
func TestOriginBrowser(t *testing.T) {
	f := func(profile, target, want string) {
		t.Helper()
		c := Config{Format: "combined", Normalizer: newNormalizer(t, profile)}
		const a, z = `h - - [t] "GET `, ` HTTP/1.1" 200 1`
		check(t, c, a+target+z, a+want+z)
	}
	f("equiv", `/\\evil.example/`, "//evil.example/")
	f("equiv", `/\t/evil.example/`, "//evil.example/")
	f("equiv", `//evil.example/..`, "//")
	f("equiv", `/a\x20\x09`, "/a")
	f("equiv", `/%2e%2E//b`, "//b")
	f("equiv", "/a%7e|?q='#f", "/a~|?q=%27#f")
	f("crawler", "/a%7e#f", "/a~")
	f("logclean", `/\\h:x@[`, "//h:x@[")
	// A URL that WHATWG cannot parse is kept; logclean parses it by RFC 3986.
	f("equiv", "http://1.2.3.256/%7e", "http://1.2.3.256/%7e")
	f("logclean", "http://1.2.3.256/%7e", "http://1.2.3.256/~")
	f("logclean", `http://evil.example:x\\@good.example/%7e`, `http://evil.example:x\\@good.example/%7e`)
}

// TestOriginHost checks that an invalid host in the log is ignored.
func TestOriginHost(t *testing.T) {
	f := func(host, norm string) {
		t.Helper()
		show(t, Config{Format: `%V "%r"`}, "equiv", "norm", host+` "GET /%7e"`, norm)
	}
	f("H.example", "http://h.example/~")
	f("h:99999", "/~")
	f("h:x", "/~")
	f(":80", "/~")
	f("1.2.3.256", "/~")
	f("%41", "http://a/~")
}

// TestStop checks that the byte that ends a field is escaped in the output, if
// the dialect can.
func TestStop(t *testing.T) {
	c := Config{Format: `%h|%r|%{Referer}i %b`, Target: TargetAll, Normalizer: newNormalizer(t, "equiv")}
	check(t, c, `h|GET /%7e\x7C|A:b\x20c 1`, `h|GET /~\x7c|a:b\x20c 1`)
}

// TestFragmentPlace checks the offset of '#', also if a tab follows.
func TestFragmentPlace(t *testing.T) {
	show(t, Config{Format: `"%r"`}, "equiv", "diagnostics", `"GET /a#\t\tb"`, "fragment-in-request@2,tab-or-newline@3,invalid-URL-unit@3")
}

func TestBaseOfStandard(t *testing.T) {
	if _, err := New(Config{Format: "lines", Base: "http://1.2.3.256/", Normalizer: newNormalizer(t, "equiv")}); err == nil {
		t.Error("New accepted a base that WHATWG cannot parse")
	}
	c := Config{Format: "jsonl", URLField: "u", BaseField: "b", Normalizer: newNormalizer(t, "equiv")}
	check(t, c, `{"b":"http://h/x/","u":"http:%7e"}`, `{"b":"http://h/x/","u":"http://h/x/~"}`)
	_, _, st := runJob(t, newJob(t, c), []byte(`{"b":"http://[/","u":"a"}`))
	if st.Rejects[codec.ErrBase] != 1 {
		t.Errorf("%+v", st.Rejects)
	}
}

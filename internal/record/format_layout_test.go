package record

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

func TestLayout(t *testing.T) {
	f := func(format, rec, want string) {
		t.Helper()
		if got := sitesOf(t, newJob(t, Config{Format: format, Target: TargetAll}), rec); got != want {
			t.Errorf("%s\n%q: got %q, want %q", format, rec, got, want)
		}
	}
	const main = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for"`
	f(main, `1.2.3.4 - a b [t] "GET /a HTTP/1.1" 200 1 "http://r/" "an "agent"" "-"`, "/a|http://r/")
	f("log_format main '$remote_addr \"$request\" '\n '$status';", `1.2.3.4 "GET /a b HTTP/1.1" 200`, "/a b")
	f(`log_format m escape=json '{"u":"${request_uri}"}'`, `{"u":"/a\"}"}`, `/a\"}`)
	f(`escape=none $request_uri "$http_user_agent"`, `/a "\"`, `/a`)
	f(`$request_method $uri$is_args$args $server_protocol`, `GET /a b?c d HTTP/1.1`, `/a b?c d`)
	f(`$uri?$query_string $status`, `/a?b 200`, `/a?b`)
	f(`$request $status`, `GET /a b HTTP/1.1 200`, `/a b`)
	f(`$request $status`, `GET /a 200`, `<garbage>`) // without quotes and a version, the end of the request is unknown
	f(`$scheme://$host$request_uri $status`, `https://h/a 200`, `https://h/a`)
	f(`$host$request_uri $status`, `h/a 200`, `/a`)
	f(`$host$request_uri $status`, `h 200`, `h`)
	f(`"$request" "$request_uri"`, `"GET /a HTTP/1.1" "/b"`, "/a")
	f(`$args "$request"`, `x=y "GET /a HTTP/1.1"`, "/a")
	f(main, `1.2.3.4 - - [t] "GET /a HTTP/1.1" 200`, "unparsed at 34")
	f(`"$request"`, `"GET /a" x`, "unparsed at 1")
	f(`$request "`, `GET /a`, "unparsed at 0")
	f(`<$request>`, `GET /a`, "unparsed at 0")

	const combined = `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`
	f(combined, `h - a b [10/Oct/2000:13:55:36 -0700] "GET /\" HTTP/1.0" 200 1 "http://r/" "x \"y\" "z""`, `/\"|http://r/`)
	f(`LogFormat "%h \"%r\" %>s" common`, `h "GET /a HTTP/1.0" 200`, "/a")
	f(`%!200,304,302{referer}i -> %U%q`, `http://r/ -> /a?b`, "http://r/|/a?b")
	f(`%a %{c}a %<s %{%Y}t %{ms}T %^FU %{x}^ti %I%O %% "%m %U%q %H"`, `a a 200 2000 1 f t 12 % "GET /a b?c HTTP/1.1"`, "/a b?c")
	f(`%{X-A}i\t%r`, "x\tGET /a", "/a")
}

// TestLayoutOrigin checks the scheme and host of origin-form targets.
func TestLayoutOrigin(t *testing.T) {
	f := func(format, base, rec, want string) {
		t.Helper()
		out, _, _ := runJob(t, newJob(t, Config{Format: format, Base: base, Render: RenderURLs}), []byte(rec))
		if string(out) != want+"\n" {
			t.Errorf("%s\n%q: got %q, want %q", format, rec, out, want)
		}
	}
	f(`$scheme $host "$request"`, "", `https h "GET //a HTTP/1.1"`, "https://h//a")
	f(`$scheme $http_host $host "$request"`, "", `http h:81 h "GET /a HTTP/1.1"`, "http://h:81/a")
	f(`$scheme $http_host $host "$request"`, "", `http - h "GET /a HTTP/1.1"`, "http://h/a")
	f(`$scheme $http_host $host "$request"`, "", `http x/y h "GET /a HTTP/1.1"`, "http://h/a")
	f(`$scheme $host $server_port "$request"`, "", `https h 8443 "GET /a HTTP/1.1"`, "https://h:8443/a")
	f(`$scheme $host $server_port "$request"`, "", `https h 443 "GET /a HTTP/1.1"`, "https://h/a")
	f(`$host $server_port "$request"`, "", `h 443 "GET /a HTTP/1.1"`, "https://h/a")
	f(`$host "$request"`, "", `H "GET /a HTTP/1.1"`, "http://h/a")
	f(`$host "$request"`, "https://b/c/d", `h "GET /a HTTP/1.1"`, "https://h/a")
	f(`$host "$request"`, "https://b:1/c/d", `- "GET a://h/ HTTP/1.1"`, "a://h/")
	f(`$host "$request"`, "https://b:1/c/d", `- "GET //a HTTP/1.1"`, "https://b:1//a")
	f(`$host "$request"`, "", `- "GET //a/../b HTTP/1.1"`, "//b")
	f(`%V %v %{Host}i %p "%r"`, "", `V v - 80 "GET /a HTTP/1.1"`, "http://v/a")
	f(`%{REQUEST_SCHEME}e %v "%r"`, "", `https v "GET /a HTTP/1.1"`, "https://v/a")
	f(`%v "%r"`, "", `[::1]:443 "GET /a HTTP/1.1"`, "https://[::1]/a")
	f(`$host$request_uri`, "", `h/a`, "http://h/a")
	f(`%v:%p %h %l %u %t "%r"`, "", `[2001:db8::1]:8443 h - - [t] "GET /a HTTP/1.1"`, "http://[2001:db8::1]:8443/a")
	f(`$host:$server_port "$request"`, "", `2001:db8::1:443 "GET /a HTTP/1.1"`, "https://[2001:db8::1]/a")
	f(`$host $server_port "$request"`, "", `2001:db8::1 8443 "GET /a HTTP/1.1"`, "http://[2001:db8::1]:8443/a")
	f(`$host "$request"`, "", `1:2:3:4:5:6:192.0.2.1 "GET /a HTTP/1.1"`, "http://[1:2:3:4:5:6:c000:201]/a")
	f("vhost_combined", "", `h.example:443 1.2.3.4 - - [t] "GET /a HTTP/1.1" 200 1`, "https://h.example/a")
	f("vhost_combined", "", `h.example:81 1.2.3.4 - - [t] "GET /a HTTP/1.1" 200 1`, "http://h.example:81/a")
}

func TestSchemeGuessed(t *testing.T) {
	f := func(rec string, want int64) {
		t.Helper()
		_, _, st := runJob(t, newJob(t, Config{Format: "vhost_combined"}), []byte(rec+` 1.2.3.4 - - [t] "GET /a HTTP/1.1" 200 1`))
		if st.Flags[codec.FlagSchemeGuessed] != want {
			t.Errorf("%s: got %d guesses, want %d", rec, st.Flags[codec.FlagSchemeGuessed], want)
		}
	}
	f("h", 1)
	f("h:8080", 1)
	f("h:80", 0)
	f("h:443", 0)
}

func TestLayoutErrors(t *testing.T) {
	f := func(c Config, want ...string) {
		t.Helper()
		c.Normalizer = newNormalizer(t, "rfc3986")
		_, err := New(c)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: got error %v, want %q in it", c, err, w)
			}
		}
	}
	f(Config{Format: `$remote_addr $status`}, "$request, $request_uri or $uri (nginx), %r or %U (Apache)")
	f(Config{Format: `%h %s`}, "has no URL")
	f(Config{Format: `$remote_addr "$http_referer"`}, "has no request")
	f(Config{Format: `$request`, Target: TargetReferer}, "has no referer")
	f(Config{Format: `$status$request`}, "no text separates $status and $request")
	f(Config{Format: `%s%r`}, "no text separates %s and %r")
	f(Config{Format: `escape=xml $request`}, "escape=xml")
	f(Config{Format: `${request`}, "closing brace")
	f(Config{Format: `$request ${}`}, "no variable name")
	f(Config{Format: `$request $ x`}, "not followed by a variable")
	f(Config{Format: `%{Referer`}, "closing brace")
	f(Config{Format: `%r %`}, "not followed by a directive")
	f(Config{Format: `%r % x`}, "not followed by a directive")
}

package locate

import "testing"

func TestRequestLine(t *testing.T) {
	f := func(line, method, target string, form TargetForm) {
		t.Helper()
		var fd Found
		fd.AddRequest([]byte(line), Span{0, len(line)}, UnionDialect)
		got := ""
		if fd.N > 0 {
			got = string(fd.Sites[0].In([]byte(line)))
			fd.Form = FormOf([]byte(got), fd.Method.In([]byte(line)))
		}
		if m := string(fd.Method.In([]byte(line))); m != method || got != target || fd.Form != form {
			t.Errorf("%q: method %q, target %q, %v; want %q, %q, %v", line, m, got, fd.Form, method, target, form)
		}
	}
	// RFC 9112 §3.2.1 to §3.2.4.
	f("GET /a?b HTTP/1.1", "GET", "/a?b", FormOrigin)
	f("GET //favicon.ico HTTP/1.1", "GET", "//favicon.ico", FormOrigin)
	f("GET http://h/a HTTP/1.1", "GET", "http://h/a", FormAbsolute)
	f("GET HTTPS://h HTTP/2", "GET", "HTTPS://h", FormAbsolute)
	f("CONNECT h.example:443 HTTP/1.1", "CONNECT", "h.example:443", FormAuthority)
	f("CONNECT nonsense HTTP/1.1", "CONNECT", "nonsense", FormAuthority)
	f("GET h.example:443 HTTP/1.1", "GET", "h.example:443", FormAuthority)
	f("OPTIONS * HTTP/1.1", "OPTIONS", "*", formAsterisk)
	// Raw spaces belong to the target, except those around it (RFC 9112 §3).
	f("GET /a b HTTP/1.1", "GET", "/a b", FormOrigin)
	f("GET  /a  HTTP/1.1 ", "GET", "/a", FormOrigin)
	f("GET /a HTTP/1.1 HTTP/1.1", "GET", "/a HTTP/1.1", FormOrigin)
	f("GET /a HTTP/1.1 x", "GET", "/a HTTP/1.1 x", FormOrigin)
	f("GET /a HTTP/", "GET", "/a HTTP/", FormOrigin)
	f("GET /a http/1.1", "GET", "/a http/1.1", FormOrigin)
	// HTTP/0.9 has no version.
	f("GET /a", "GET", "/a", FormOrigin)
	// No target.
	f("-", "", "", FormDash)
	f("GET - HTTP/1.1", "GET", "", FormDash)
	f("", "", "", formEmpty)
	f("GET  HTTP/1.1", "GET", "", formEmpty)
	f("GET HTTP/1.1", "GET", "", formEmpty)
	f("GET", "", "", formGarbage)
	f(`\x16\x03\x01 \x02`, "", "", formGarbage)
	f("t3 12.1.2", "t3", "12.1.2", formGarbage)
	f("GET index.html HTTP/1.0", "GET", "index.html", formGarbage)
	f("GET mailto:a@b HTTP/1.0", "GET", "mailto:a@b", formGarbage)
	f("G(T /a HTTP/1.0", "", "", formGarbage)
}

func TestIsHost(t *testing.T) {
	f := func(s string, want bool) {
		t.Helper()
		if IsHost([]byte(s)) != want {
			t.Errorf("isHost(%q) is %v", s, !want)
		}
	}
	for _, s := range []string{"h", "h:80", "[::1]", "[::1]:80", "a_b.example", "\xe9", "%41"} {
		f(s, true)
	}
	for _, s := range []string{"", "a/b", "a?b", "a#b", "u@h", `a\b`, "a b", "[::1", "::1]", "a[::1]", "[::1]x", "[::1]:]", "a\x00", "a\"b"} {
		f(s, false)
	}
}

func TestIsBareIPv6(t *testing.T) {
	for _, s := range []string{"::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:192.0.2.1", "1:2:3:4:5:6:192.0.2.1", "::1%eth0", "fe80::1%25en0.1", "1:2:3:4:5:6:7:8%1"} {
		if !IsBareIPv6([]byte(s)) {
			t.Errorf("isBareIPv6(%q) is false", s)
		}
	}
	for _, s := range []string{"", "h", "fe", "h:80", "fe:80", "10:20:30", "[::1]", "::1]", "::g", "192.0.2.1", "::1%", "::1%a:80", "::1%[", "h%eth0", "192.0.2.1%eth0"} {
		if IsBareIPv6([]byte(s)) {
			t.Errorf("isBareIPv6(%q) is true", s)
		}
	}
}

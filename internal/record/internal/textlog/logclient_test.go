package textlog

import "testing"

func TestClientSpan(t *testing.T) {
	f := func(head, want string) {
		t.Helper()
		s := clientSpan([]byte(head), 0)
		if got := head[s.Start:s.End]; got != want {
			t.Errorf("%q: got %q, want %q", head, got, want)
		}
	}
	f("192.0.2.1 - - ", "192.0.2.1")
	f("h.example - a b ", "h.example")
	f("h.example ident joe ", "h.example")
	f("192.0.2.1 ident a b ", "192.0.2.1")
	f("- - - ", "-")
	f("192.0.2.1 ", "192.0.2.1")
	f("", "")
	// Names before the address.
	f("INFO:werkzeug:192.0.2.1 - - ", "192.0.2.1")
	f("INFO:werkzeug:2001:db8::1 - - ", "2001:db8::1")
	f("a:192.0.2.1:5000 - - ", "192.0.2.1:5000")
	f("::ffff:192.0.2.1 - - ", "::ffff:192.0.2.1")
	f("h.example:5000 - - ", "h.example:5000")
	f("a: - - ", "a:")
	// A list of addresses.
	f("203.0.113.7, 10.0.0.1 - - ", "203.0.113.7")
	f("203.0.113.7,10.0.0.1 - - ", "203.0.113.7")
	f("2001:db8::7, 10.0.0.2, 10.0.0.1 - joe ", "2001:db8::7")
	f("unknown, 10.0.0.1 - - ", "")
	// A virtual host.
	f("www.example.com 192.0.2.1 - - ", "192.0.2.1")
	f("www.example.com 203.0.113.7, 10.0.0.1 - joe ", "203.0.113.7")
	f("www.example.com [2001:db8::1]:5000 - joe ", "[2001:db8::1]:5000")
	f("www.example.com 192.0.2.1 - ", "192.0.2.1")
	f("www.example.com 192.0.2.1 joe ", "192.0.2.1")
	f("www.example.com 203.0.113.7, 10.0.0.1 - ", "203.0.113.7")
	f("www.example.com fe80::1%eth0 ident a b ", "fe80::1%eth0")
	f("www.example.com client.example - ", "www.example.com")
	f("- 192.0.2.5 - ", "-")                         // lighttpd writes this, too
	f("198.51.100.71 192.0.2.5 - ", "198.51.100.71") // lighttpd writes the virtual host after the client
	// A prefix.
	f("Nov 22 10:00:00 web nginx[12]: 192.0.2.1 - - ", "192.0.2.1")
	f("<13>1 2026-11-22T10:00:00Z h app - - - 192.0.2.1:80 - joe ", "192.0.2.1:80")
	f("2026-11-22T10:00:00.1Z stdout F 2001:db8::1 - - ", "2001:db8::1")
	f("web-1  | 192.0.2.1 - - ", "192.0.2.1")
	f("web-1  | h.example - - ", "")
}

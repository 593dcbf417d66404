package record

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
)

// TestDetectHugeObject checks that the end of a very long object need not be in the
// sample.
func TestDetectHugeObject(t *testing.T) {
	const seen = `{ "url":"http://h.example/a","at":"2026-11-22T10:00:00Z","text":"`
	f := func(head, want string) {
		t.Helper()
		if g, _ := Detect([]byte(head)); g.Format != want {
			t.Errorf("%.80q of %d bytes: got %q, want %q", head, len(head), g.Format, want)
		}
	}
	f(seen+strings.Repeat("x", jsonlines.HugeRecord), "jsonl")
	f(seen+strings.Repeat("x", 100), "log") // a damaged record
	f("{"+strings.Repeat("x", jsonlines.HugeRecord), "")
}

// TestDetectVhost checks that a virtual host needs no port if the address of the client
// follows it.
func TestDetectVhost(t *testing.T) {
	const request = `[22/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 5`
	f := func(head, want string) {
		t.Helper()
		for tail, name := range map[string]string{"": strings.Replace(want, "combined", "common", 1), ` "-" "curl"`: want} {
			if want == "combined" && tail == "" {
				name = "clf"
			}
			if g, _ := Detect([]byte(strings.Repeat(head+" "+request+tail+"\n", 3))); g.Format != name {
				t.Errorf("%q: got %q, want %q", head, g.Format, name)
			}
		}
	}
	f("www.example.com 192.0.2.1 - -", "vhost_combined")
	f("www.example.com 192.0.2.1 - joe smith", "vhost_combined")
	f("www.example.com 2001:db8::1 -", "vhost_combined")
	f("www.example.com 203.0.113.7, 10.0.0.1 - -", "vhost_combined")
	f("www.example.com:80 client.example - -", "vhost_combined")
	f("www.example.com client.example - -", "combined")
	f("web 192.0.2.1 - -", "combined") // the first word may come from a log collector
	f("1795341600.123 192.0.2.1 - -", "combined")
	f("2026-11-22T10:00:00.123Z 192.0.2.1 - -", "combined")
	f("203.0.113.7 10.0.0.1 - -", "combined")
	f("192.0.2.1 www.example.com -", "combined") // lighttpd
	f("www.example.com ident joe", "combined")
	f("www.example.com - joe", "combined")
	f("www.example.com. 192.0.2.1 - -", "combined")
}

package record

import (
	"strings"
	"testing"
)

// TestGuessPrefixed checks that the prefix of an access log is found if all records that
// fit have it.
func TestGuessPrefixed(t *testing.T) {
	const request = `[22/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 5`
	const clf, combined = "192.0.2.1 - - " + request + "\n", "192.0.2.1 - - " + request + ` "-" "curl"` + "\n"
	f := func(text, want string, fit int) {
		t.Helper()
		g, _ := Detect([]byte(text))
		got, ok := g.Prefixed([]byte(text))
		if want == "" && (ok || got != g) || want != "" && (!ok || got != Guess{Format: want, Records: g.Records, Fit: fit}) {
			t.Errorf("%q: %+v is %+v, %t, want %q", text, g, got, ok, want)
		}
	}
	for kind, list := range prefixes {
		for _, prefix := range list {
			if kind == "any" {
				f(prefix+combined, "", 0)
				continue
			}
			f(prefix+clf, kind+"+clf", 1)
			f(prefix+combined+prefix+"started\n"+prefix+combined, kind+"+combined", 2)
			f(prefix+"www.example.com "+combined, kind+"+vhost_combined", 1)
			f(prefix+"-:80 "+combined+prefix+combined+prefix+combined, kind+"+combined", 3)
			f(prefix+combined+combined, "", 0)
			f(prefix+"http://h/\n", "", 0)
		}
	}
	f(combined, "", 0)
	f("www.example.com:80 "+combined, "", 0)
	f(strings.Repeat("syslog ", 3)+combined, "", 0)
}

package record

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// TestRequestInLog checks the method, target, status and time that the format log finds in
// a line, and that the line has the same bytes around the rewritten target.
func TestRequestInLog(t *testing.T) {
	c := Config{Format: "log", Render: RenderTSV, Fields: []string{"method", "url", "status", "time"}, Zone: func(_, _, _, _, _ int) int { return 0 }}
	for _, tc := range []struct{ name, before, target, after, want string }{
		{"raw quotes before the version", `request: "GET `, `/%7e?q="x"`, ` HTTP/1.1", host: "h"`, "GET\t/%7e?q=\"x\"\t\t"},
		{"a quoted status", `"GET `, `/%7e`, ` HTTP/1.1" "200" "5"`, "GET\t/%7e\t200\t"},
		{"morgan, dev", "\x1b[0mGET ", `/%7e`, " \x1b[32m200\x1b[0m 1.2 ms - 5\x1b[0m", "GET\t/%7e\t200\t"},
		{"morgan, dev, without a color", "\x1b[0mGET ", `/%7e`, " \x1b[0m304\x1b[0m 1.2 ms - -\x1b[0m", "GET\t/%7e\t304\t"},
		{"gin", "|\x1b[97;42m 200 \x1b[0m| 1ms | 192.0.2.7 |\x1b[97;44m GET     \x1b[0m \"", `/%7e`, `"`, "GET\t/%7e\t\t"},
		{"chi", "\x1b[36m\"\x1b[0m\x1b[1;35mGET \x1b[0m\x1b[36m", `http://h/%7e`, " HTTP/1.1\" \x1b[0mfrom 192.0.2.7:1 - \x1b[1;32m200\x1b[0m", "GET\thttp://h/%7e\t\t"},
		{"Flask", "\"\x1b[33mGET ", `/%7e`, " HTTP/1.1\x1b[0m\" 404 -", "GET\t/%7e\t404\t"},
		{"Django", "[02/Nov/2026 06:25:00] \"GET ", `/%7e`, ` HTTP/1.1" 200 5`, "GET\t/%7e\t200\t2026-11-02T06:25:00Z"},
		{"no colors", "mGET /no \x1b[1GET /no [1mGET /no \x1b[0m\"PUT ", `/%7e`, `"`, "PUT\t/%7e\t\t"},
	} {
		line := []byte(tc.before + tc.target + tc.after + "\n")
		if got := string(runStream(t, c, line, 1<<20)); got != tc.want+"\n" {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
		out := runStream(t, Config{Format: "log"}, line, 1<<20)
		if !bytes.HasPrefix(out, []byte(tc.before)) || !bytes.HasSuffix(out, []byte(tc.after+"\n")) || bytes.Contains(out, []byte("%7e")) {
			t.Errorf("%s: rewritten as %q", tc.name, out)
		}
	}
}

// TestClientBeforeRequest checks the client that the format log finds before a request.
func TestClientBeforeRequest(t *testing.T) {
	c := Config{Format: "log", Render: RenderTSV, Fields: []string{"client"}}
	for line, want := range map[string]string{
		`INFO:     192.0.2.7:52782 - "GET /a HTTP/1.1" 200 OK`:      "192.0.2.7",
		`INFO:     2001:db8::7:52782 - "GET /a HTTP/1.1" 200 OK`:    "2001:db8::7",
		`2001:db8::7 - GET /a HTTP/1.1 200 5 - 1.2 ms`:              "2001:db8::7",
		`x client: 192.0.2.8, 192.0.2.7 - "GET /a HTTP/1.1" 200 OK`: "192.0.2.8",
		`upstream 192.0.2.7 "GET /a HTTP/1.1" 200 OK`:               "",
		`app.py - "GET /a HTTP/1.1" 200 OK`:                         "",
		`GET /a`:                                                    "",
	} {
		if got := string(runStream(t, c, []byte(line+"\n"), 1<<20)); got != want+"\n" {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// TestFindRequest compares FindRequest with that of a walk.
func TestFindRequest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	b := locate.Walk{Marks: (&foundKeeper{anyLog: new(textlog.AnyLogReader)}).Marks()}
	if b.Marks == nil {
		t.Skip("skipped: comparing vectors with loops; it needs a processor with AVX2, and GODEBUG without cpu.avx2=off")
	}
	lines := append(seeds(), strings.Split(anyLogLines, "\n")...)
	lines = append(lines, strings.Repeat("a", 62)+"T GET /", strings.Repeat("a", 60)+"GET /a", strings.Repeat("a", 61)+" GET /a", "")
	for _, line := range lines {
		for range 50 {
			line, _, _ = strings.Cut(line, "\n")
			block := []byte("GET /\n" + line + "\n")
			b.Begin(block)
			if b.Line(len("GET /\n"), len(block)) == 0 {
				t.Fatalf("%q has no line end", block)
			}
			got, ok := textlog.MarkedRequest(&b)
			if want, found := textlog.FindRequest(b.Body()); got != want || ok != found {
				t.Fatalf("findRequest(%q) = %+v, %v, want %+v, %v", line, got, ok, want, found)
			}
			line = string(mutate(rnd, []byte(line+"\n")))
		}
	}
}

// TestLogPages checks which absolute URLs of a line without a request are pages. With
// TargetAll, all are listed.
func TestLogPages(t *testing.T) {
	for line, want := range map[string]string{
		// Method, host and target are apart: the absolute URL is the referer.
		`[2025-09-09T10:00:00+02:00] - one.example.com - 192.0.2.7 - 200 - - - GET - HTTP/2.0 - 1234 - 0.010 - "https://example.com/" - "Mozilla/5.0 (X11)" - "/%7ea?b=c d"`: "",
		"one.example.com\tPOST\t/a\t200\thttps://example.com/\tcurl/8.9.1":                                                                                                   "",
		`GET|one.example.com|HTTP/1.1|/a|https://example.com/|-`:                                                                                                             "",
		`10:00:00 "/a" 404 "https://example.com/b" "Mozilla/5.0 (X11)"`:                                                                                                      "",
		`{GET, /a, 302, https://example.com/b}`:                                                                                                                              "",
		`10:00:00 Mozilla/5.0 HTTP/1.1 /a https://example.com/b`:                                                                                                             "",
		// One sign of a request is not enough, and without a path no signs
		// are.
		`10:00:00 ERROR /var/log/a.log: cannot fetch https://example.com/b`:     "https://example.com/b",
		`10:00:00 DELETE failed for https://example.com/b (see /var/log/a.log)`: "https://example.com/b",
		`10:00:00 200 https://example.com/b "Mozilla/5.0 (X11)"`:                "https://example.com/b",
		`10:00:00 GET 200 HTTP/1.1 https://example.com/b`:                       "https://example.com/b",
		`10:00:00 fetched /a, GETS 2000 60 https://example.com/b`:               "https://example.com/b",
		// Addresses of bots in agents.
		`10:00:00 https://example.com/b "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"`: "https://example.com/b",
		`10:00:00 agent="Mozilla/5.0 (compatible; bingbot/2.0; http://www.bing.com/bingbot.htm)"`:                   "",
		`10:00:00 blocked facebookexternalhit/1.1 (http://www.facebook.com/externalhit_uatext.php)`:                 "",
		`10:00:00 blocked "WordPress/6.4.2; https://blog.example.com"`:                                              "",
		`10:00:00 blocked ia_archiver (+http://www.alexa.com/site/help/webmasters)`:                                 "",
		`10:00:00 worker (job 3) fetched https://example.com/b`:                                                     "https://example.com/b",
		`10:00:00 nginx/1.28 fetched https://example.com/b`:                                                         "https://example.com/b",
		`10:00:00 sent HTTP/1.1 (to https://example.com/b)`:                                                         "https://example.com/b",
		`10:00:00 on 22/11 (of https://example.com/b)`:                                                              "https://example.com/b",
		`10:00:00 a/b (of https://example.com/b)`:                                                                   "https://example.com/b",
		// Labels.
		`10:00:00 client: 192.0.2.7, referrer: "https://example.com/b"`:                  "",
		`10:00:00 Referer=https://example.com/b url=https://example.com/c`:               "https://example.com/c",
		`10:00:00 {"url": "https://example.com/c", "Referrer": "https://example.com/b"}`: "https://example.com/c",
		`10:00:00 preferer https://example.com/c`:                                        "https://example.com/c",
		// The request of a client is "-", and its agent pretends to be one.
		`192.0.2.7 10:00:00 "www.example.com" "-" 400 0 "-" "GET /evil HTTP/1.1"`: "",
		`192.0.2.7 10:00:00 "-" "-" 400 0 "GET http://evil.example/ HTTP/1.1"`:    "",
		`192.0.2.7 10:00:00 "-" 400 0 "http://example.com/b" "curl/8.9.1"`:        "",
		`http-Referer: https://example.com/b`:                                     "",
		`192.0.2.7 10:00:00 "-" "curl/8.9.1" "GET /a HTTP/1.1" 200`:               "/a",
		`192.0.2.7 10:00:00 "-" - "GET /a HTTP/1.1" 200`:                          "/a",
		`192.0.2.7 10:00:00 "-" 5000 "GET /a HTTP/1.1" 200`:                       "/a",
	} {
		got := strings.TrimSuffix(string(runStream(t, Config{Format: "log", Render: RenderTSV, Fields: []string{"url"}}, []byte(line+"\n"), 1<<20)), "\n")
		if got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
		all := string(runStream(t, Config{Format: "log", Target: TargetAll, Render: RenderTSV, Fields: []string{"url"}}, []byte(line+"\n"), 1<<20))
		if n := strings.Count(all, "\n"); n < strings.Count(line, "://") {
			t.Errorf("%s: %d URLs with TargetAll", line, n)
		}
	}
}

package record

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
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

// TestColors checks both ends of the escape sequences of colors.
func TestColors(t *testing.T) {
	for _, tc := range []struct {
		text       string
		end, start int // colorsEnd at 0, and colorsStart at the end
	}{
		{"\x1b[1;31mGET", 7, 10},
		{"GET\x1b[m", 0, 3},
		{"\x1b[0m\x1b[32m", 9, 0},
		{"\x1b[0", 0, 3},
		{"[0m", 0, 3},
		{"m", 0, 1},
		{"\x1b[2J", 0, 4},
		{"", 0, 0},
	} {
		if end, start := colorsEnd([]byte(tc.text), 0), colorsStart([]byte(tc.text), len(tc.text)); end != tc.end || start != tc.start {
			t.Errorf("%q: got %d and %d, want %d and %d", tc.text, end, start, tc.end, tc.start)
		}
	}
}

// FuzzUsualRequest: what usualRequest and hostAfter find, anyRequest and labeled find as
// well.
func FuzzUsualRequest(f *testing.F) {
	for _, line := range []string{
		`x, request: "GET /a HTTP/1.1", host: "h", referrer: "-"`, `"POST /a?q="x" HTTP/1.0" 200`, `"HEAD / HTTP/1.1", host: "h`,
		`192.0.2.7 "GET /a\" HTTP/1.1", host: h`, `"GET / HTTP/1.1"`, `"GET  HTTP/1.1"`, `x"GET /\ HTTP/1.1"GET /a HTTP/1.1"`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		for end, c := range line {
			if c != ' ' {
				continue
			}
			got, ok := usualRequest(line, end)
			if want, _ := anyRequest(line, end); ok && got != want {
				t.Errorf("request of %q before %d: %+v, want %+v", line, end, got, want)
			}
			if got, want := hostAfter(line, end), labeled(line, end, "host"); got != want {
				t.Errorf("host of %q after %d: %v, want %v", line, end, got, want)
			}
		}
	})
}

// TestFindRequest compares findRequest with that of a walk.
func TestFindRequest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	b := walk{marks: (&foundKeeper{anyLog: new(anyLogReader)}).marks()}
	if b.marks == nil {
		t.Skip("skipped: comparing vectors with loops; it needs a processor with AVX2, and GODEBUG without cpu.avx2=off")
	}
	lines := append(seeds(), strings.Split(anyLogLines, "\n")...)
	lines = append(lines, strings.Repeat("a", 62)+"T GET /", strings.Repeat("a", 60)+"GET /a", strings.Repeat("a", 61)+" GET /a", "")
	for _, line := range lines {
		for range 50 {
			line, _, _ = strings.Cut(line, "\n")
			block := []byte("GET /\n" + line + "\n")
			b.begin(block)
			if b.line(len("GET /\n"), len(block)) == 0 {
				t.Fatalf("%q has no line end", block)
			}
			got, ok := b.findRequest()
			if want, found := findRequest(b.body()); got != want || ok != found {
				t.Fatalf("findRequest(%q) = %+v, %v, want %+v, %v", line, got, ok, want, found)
			}
			line = string(mutate(rnd, []byte(line+"\n")))
		}
	}
}

// TestRequestOfLine compares walk.request with cleanRequest for damaged lines.
func TestRequestOfLine(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	b := walk{marks: new(logReader).marks()}
	if b.marks == nil {
		t.Skip("skipped: comparing vectors with loops; it needs a processor with AVX2, and GODEBUG without cpu.avx2=off")
	}
	line := []byte(`h - [x [02/Nov/2026:06:25:15 +0100] "POST /a?b HTTP/1.1" 200 5 "-" "[a]"` + "\n")
	found := 0
	for range 100_000 {
		block := append(bytes.Clone(line), mutate(rnd, line)...)
		b.begin(block)
		for pos, size := 0, 0; pos < len(block); pos += size {
			if size = b.line(pos, len(block)); size == 0 {
				break
			}
			target, request := b.request()
			if wantTarget, want := cleanRequest(block[pos : pos+size]); request != want || target != wantTarget {
				t.Fatalf("request of %q is at %v, %v, want %v, %v", block[pos:pos+size], target, request, wantTarget, want)
			}
			if pos > 0 && request.end > 0 {
				found++
			}
		}
	}
	if found < 10_000 {
		t.Errorf("%d damaged lines had a request", found)
	}
}

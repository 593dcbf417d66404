package record

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// locateIn finds the URLs of a record that is not the first one of the stream.
func (w *Worker) locateIn(body, head []byte) (Reason, int) {
	w.found.Reset()
	return w.locator.Locate(&w.found, body, &Position{Head: head, Off: 1})
}

// sitesOf returns the URLs that a job finds in a record as role=text, or the
// reason and offset of the rejection.
func sitesOf(t testing.TB, j *Job, rec string) string {
	t.Helper()
	w := j.NewWorker()
	if why, at := w.locateIn([]byte(rec), nil); why != 0 {
		return fmt.Sprintf("%v at %d", why, at)
	}
	var b strings.Builder
	for i, s := range w.found.Sites[:w.found.N] {
		if i > 0 {
			b.WriteByte('|')
		}
		b.Write(s.In([]byte(rec)))
	}
	if w.found.Form != locate.FormNone {
		b.WriteString("<" + w.found.Form.String() + ">")
	}
	return b.String()
}

// TestLocateCLF checks clf, whose records have only the URL of the request.
// Additional fields in a line are ignored.
func TestLocateCLF(t *testing.T) {
	j := newJob(t, Config{Format: "clf", Target: TargetAll})
	const head = `h - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 1`
	for rec, want := range map[string]string{head: "/a", head + ` "http://r/" "agent"`: "/a|http://r/"} {
		if got := sitesOf(t, j, rec); got != want {
			t.Errorf("%q: got %q, want %q", rec, got, want)
		}
	}
}

func TestLocateLog(t *testing.T) {
	j := newJob(t, Config{Format: "combined", Target: TargetAll})
	f := func(rec, want string) {
		t.Helper()
		if got := sitesOf(t, j, rec); got != want {
			t.Errorf("%q: got %q, want %q", rec, got, want)
		}
	}
	const head = `h - - [10/Oct/2000:13:55:36 -0700] "`
	f(head+`GET /a HTTP/1.0" 200 1 "http://r/" "agent"`, "/a|http://r/")
	f(head+`GET /a HTTP/1.0" 200 1 "-" "agent"`, "/a")
	f(head+`GET /a HTTP/1.0" 200 1 "" "agent"`, "/a")
	// Missing and additional fields.
	f(head+`GET /a HTTP/1.0" 200`, "/a")
	f(head+`GET /a HTTP/1.0" 200 1`, "/a")
	f(head+`GET /a HTTP/1.0" - -`, "/a")
	f(head+`GET /a HTTP/1.0" 200 1 "http://r/"`, "/a|http://r/")
	f(head+`GET /a HTTP/1.0" 200 1 "http://r/" "agent" 0.004 "x"`, "/a|http://r/")
	f(head+`GET /a HTTP/1.0" 200 1 2 3 "http://r/" "agent"`, "/a|http://r/")
	f(`h [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 1`, "/a")
	f(`www.h 1.2.3.4 - - [t] "GET /a HTTP/1.0" 200 1`, "/a")
	// The client and the user can be any text.
	f(`2001:db8::1 - a user [t] "GET /a HTTP/1.0" 200 1`, "/a")
	f(`[::1] - [x] [t] "GET /a HTTP/1.0" 200 1`, "/a")
	f(`h - a\"] \"b [t] "GET /a HTTP/1.0" 200 1`, "/a")
	// Quotes, both escaped and raw; old servers wrote raw ones.
	f(head+`GET /\" 200 1 HTTP/1.0" 404 1`, `/\" 200 1`)
	f(head+`GET /a\\" 404 1`, `/a\\`)
	f(head+`GET /a\" 404 1`, `/a\`)
	f(head+`GET /a"b"c HTTP/1.0" 404 1`, `/a"b"c`)
	f(head+`GET /a HTTP/1.0" 200 1 "http://r/?q="x"" "agent"`, `/a|http://r/?q="x"`)
	f(head+`GET /a HTTP/1.0" 200 1 "http://r/?q=\" \"x" "agent"`, `/a|http://r/?q=\" \"x`)
	f(head+`GET /a HTTP/1.0" 200 1 "http://r/" "an "agent" of sorts"`, "/a|http://r/")
	f(head+`GET /a HTTP/1.0" 200 1 "http://r/`, "/a")
	f(head+`-" 400 0 "-" "-"`, "<dash>")
	f(head+`" 400 0 "-" "-"`, "<empty>")
	f(head+`\x16\x03" 400 0 "-" "-"`, "<garbage>")
	// A version without its name, as Hypercorn writes it.
	f(head+`GET /a 1.1" 200 1`, "/a")
	f(head+`GET /a b 1.0" 200 1`, "/a b")
	f(head+`GET /a?b=1 2" 200 1`, "/a?b=1")
	f(head+`GET http://h/a 3" 200 1`, "http://h/a")
	f(head+`GET /a b 2" 200 1`, "/a b 2")
	f(head+`GET /a 1.2" 200 1`, "/a 1.2")
	f(head+`GET /a 4" 200 1`, "/a 4")
	f(head+`GET 1.1" 200 1`, "1.1")
	f(head+`PATCH 1.1" 200 1`, "1.1")
	f(head+`CONNECT h:443 1.1" 200 1`, "h:443 1.1")
	// Colors around the request, as Flask writes them.
	f(head+"\x1b[33mGET /a HTTP/1.0\x1b[0m\" 404 -", "/a")
	f(head+"\x1b[31m\x1b[1mGET /a HTTP/1.0\x1b[0m\" 400 -", "/a")
	f(head+"\x1b[33m\x1b[0m\" 404 -", "<empty>")
	f(head+"\x1b[33GET /a HTTP/1.0\" 404 -", "<garbage>")
	// The only quoted field after the request.
	f(head+`GET /a HTTP/1.0" 200 - 1 12 "agent/1.0 (of sorts)" [qtp-1]`, "/a")
	f(head+`GET /a HTTP/1.0" 200 1 "agent/1.0"`, "/a")
	f(head+`GET /a HTTP/1.0" 200 1 "http://r/" [qtp-1]`, "/a|http://r/")
	f(head+`GET /a HTTP/1.0" 200 1 "-" [qtp-1]`, "/a")
	// Records of other formats.
	f("", "unparsed at 0")
	f(`GET /a HTTP/1.0`, "unparsed at 0")
	f(`[t] "GET /a HTTP/1.0" 200 1`, "unparsed at 0")
	f(head+`GET /a HTTP/1.0`, "unparsed at 36")
	f(head+`GET /a HTTP/1.0" OK 1`, "unparsed at 36")
	f(head+`GET /a HTTP/1.0" "www.example.com" 200 1`, "unparsed at 36")
	f(head+`GET /a HTTP/1.0" 2000 1`, "unparsed at 36")
}

// TestFieldBeforeRequest checks lines with quoted fields between the time and the
// request. The request is the one before the status, and the field before it is the
// virtual host if it is a host name.
func TestFieldBeforeRequest(t *testing.T) {
	c := Config{Format: "combined", Target: TargetAll, Render: RenderTSV, Fields: []string{"url", "vhost", "status", "time", "client"}}
	const head = `192.0.2.1 - - [31/Jul/2019:06:33:06 +0000] `
	const tail = ` 200 5 "-" "GET /x HTTP/1.1"`
	for fields, want := range map[string]string{
		`"localhost" "GET /a HTTP/1.1"`:                         "/a\tlocalhost",
		`"www.example.com" "GET /a HTTP/1.1"`:                   "/a\twww.example.com",
		`"www.example.com:8443" "POST /a b HTTP/2.0"`:           "/a b\twww.example.com",
		`"-" "GET /a HTTP/1.1"`:                                 "/a\t",
		`"" "GET /a HTTP/1.1"`:                                  "/a\t",
		`"198.51.100.7" "GET /a HTTP/1.1"`:                      "/a\t",
		`"2001:db8::1" "GET /a HTTP/1.1"`:                       "/a\t",
		`"[2001:db8::1]:80" "GET /a HTTP/1.1"`:                  "/a\t",
		`"web" "GET /a HTTP/1.1"`:                               "/a\t",
		`"curl/8.9.1 (x)" "GET /a HTTP/1.1"`:                    "/a\t",
		`"203.0.113.9" "www.example.com" "GET /a HTTP/1.1"`:     "/a\twww.example.com",
		`"www.example.com" "TLSv1.3" "GET http://h/a HTTP/1.1"`: "http://h/a\t",
		`"www.example.com" "GET /a" "b HTTP/1.1"`:               `/a" "b` + "\twww.example.com",
		`"www.example.com" "GET /a\" \"b HTTP/1.1"`:             `/a" "b` + "\twww.example.com",
		`"GET /a" "b HTTP/1.1"`:                                 `/a" "b` + "\t",
		`"www.example.com" "-"`:                                 "",
		`"localhost" ""`:                                        "",
		`"www.example.com" "\x16\x03"`:                          "",
		`"-"`:                                                   "",
		`"\x16\"`:                                               "", // the backslash escapes nothing
		`"GET /a\"`:                                             `/a\\` + "\t",
		`"GET /a HTTP/1.1" "www.example.com"`:                   "unparsed",
	} {
		if want != "" && want != "unparsed" {
			want += "\t200\t2019-07-31T06:33:06Z\t192.0.2.1\n"
		}
		got, _, st := runJob(t, newJob(t, c), []byte(head+fields+tail+"\n"))
		if text := string(got); text != want && (want != "unparsed" || st.Rejects[Unparsed] != 1) || st.NoURL+st.URLs+st.Rejected != 1 {
			t.Errorf("%s: got %q, want %q; %+v", fields, got, want, st)
		}
	}
}

// TestOddStatus checks that lines with a status or a size that no server means are
// records, and that the fields show only those of HTTP.
func TestOddStatus(t *testing.T) {
	for _, format := range []string{"combined", "clf", `%h %l %u %t "%r" %>s %b`} {
		c := Config{Format: format, Render: RenderTSV, Fields: []string{"url", "status", "bytes"}}
		for numbers, want := range map[string]string{
			"200 5": "200\t5", "100 0": "100\t0", "599 5": "599\t5", "304 -": "304\t",
			"0 0": "\t0", "000 5": "\t5", "-1 5": "\t5", "99 5": "\t5", "600 5": "\t5", "999 5": "\t5", "099 5": "\t5", "1 2": "\t2", "- -": "\t", "-99 7": "\t7",
			"200 -1": "200\t", "0 -": "\t", "-1 -1": "\t",
		} {
			line := `192.0.2.1 - - [23/Dec/2024:18:36:57 +0100] "GET /a HTTP/1.1" ` + numbers
			if got, _, st := runJob(t, newJob(t, c), []byte(line+"\n")); string(got) != "/a\t"+want+"\n" || st.Rejected > 0 {
				t.Errorf("%s: %s: got %q, want %q; %+v", format, numbers, got, want, st)
			}
		}
	}
}

// TestOnlyQuotedField checks whether the only quoted field after the request is the
// referer or the agent. Nexus Repository writes only the agent.
func TestOnlyQuotedField(t *testing.T) {
	const head = `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 `
	c := Config{Format: "combined", Target: TargetAll, Render: RenderTSV, Fields: []string{"url", "referer", "agent"}}
	for rest, want := range map[string]string{
		`- 1 12 "curl/8.9.1" [qtp-1]`:       "/a\t\tcurl/8.9.1\n",
		`1 "curl/8.9.1"`:                    "/a\t\tcurl/8.9.1\n",
		`1 "Mozilla/5.0 (a "b" c)" [qtp-1]`: "/a\t\tMozilla/5.0 (a \"b\" c)\n",
		`1 "http://r/"`:                     "/a\thttp://r/\t\nhttp://r/\thttp://r/\t\n",
		`1 "-"`:                             "/a\t\t\n",
		`1 "http://r/" "curl/8.9.1"`:        "/a\thttp://r/\tcurl/8.9.1\nhttp://r/\thttp://r/\tcurl/8.9.1\n",
	} {
		if got := string(runStream(t, c, []byte(head+rest+"\n"), 1<<20)); got != want {
			t.Errorf("%s: got %q, want %q", rest, got, want)
		}
	}
}

// slowLog matches the format combined as documented, with quotes escaped by
// Apache. It is the reference implementation of LogReader.Locate for records
// that follow the format.
var slowLog = regexp.MustCompile(`^[^ "]+ [^"\[]* \[[^\]\["]+\] "((?:[^"\\]|\\.)*)" (?:-|\d{3}) (?:-|\d+) "((?:[^"\\]|\\.)*)" "((?:[^"\\]|\\.)*)"$`)

func FuzzLocateLog(f *testing.F) {
	f.Add("GET /a HTTP/1.1", "http://r/", "agent")
	f.Add(`GET /\"\\ HTTP/1.1`, `http://r/\" \"`, `\\`)
	f.Add(`-`, ``, `" 200 `)
	f.Add(`GET /a 1.1`, `agent`, ``)
	j := newJob(f, Config{Format: "combined", Target: TargetAll})
	f.Fuzz(func(t *testing.T, request, referer, agent string) {
		rec := `1.2.3.4 - a b [10/Oct/2000:13:55:36 -0700] "` + request + `" 200 - "` + referer + `" "` + agent + `"`
		m := slowLog.FindStringSubmatch(rec)
		if m == nil {
			return
		}
		var fd Found
		fd.AddRequest([]byte(m[1]), textlog.WithoutNumber([]byte(m[1]), locate.Between(0, len(m[1]))), locate.UnionDialect)
		want := ""
		if fd.N > 0 {
			want = string(fd.Sites[0].In([]byte(m[1])))
		}
		if m[2] != "" && m[2] != "-" {
			if fd.N > 0 {
				want += "|"
			}
			want += m[2]
		}
		if fd.Form != locate.FormNone {
			want += "<" + fd.Form.String() + ">"
		}
		if got := sitesOf(t, j, rec); got != want {
			t.Fatalf("%q\n got %q\nwant %q", rec, got, want)
		}
	})
}

package record

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/internal/record/internal/locate"

	_ "time/tzdata"
)

// the tests need no zone data of the system

func TestAppendTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text, clock string
		loc         *time.Location // nil: no zone is set
		year        int
		want        string // "" if absent
	}{
		{text: "10/Oct/2000:13:55:36 -0700", want: "2000-10-10T13:55:36-07:00"},
		{text: "10/Oct/2000:13:55:36 +0000", want: "2000-10-10T13:55:36Z"},
		{text: "10/Oct/2000:13:55:36.123 +0530", want: "2000-10-10T13:55:36.123+05:30"},
		{text: "10/Oct/2000:13:55:36", want: ""},
		{text: "10/Oct/2000:13:55:36", loc: berlin, want: "2000-10-10T13:55:36+02:00"},
		{text: "10/Dec/2000:13:55:36", loc: berlin, want: "2000-12-10T13:55:36+01:00"},
		{text: "10/Oct/2000 13:55:36", loc: berlin, want: "2000-10-10T13:55:36+02:00"},
		{text: "10/Oct/2000 13:55:36 -0700", want: "2000-10-10T13:55:36-07:00"},
		{text: "10/Oct/2000-13:55:36 -0700", want: ""},
		{text: "31/Feb/2000:13:55:36 +0000", want: ""},
		{text: "29/Feb/2000:13:55:36 +0000", want: "2000-02-29T13:55:36Z"},
		{text: "29/Feb/1900:13:55:36 +0000", want: ""},
		{text: "10/Okt/2000:13:55:36 +0000", want: ""},
		{text: "10/Oct/2000:24:00:00 +0000", want: ""},
		{text: "31/Dec/2016:23:59:60 +0000", want: "2016-12-31T23:59:60Z"},
		{text: "2024-05-01T10:00:00Z", want: "2024-05-01T10:00:00Z"},
		{text: "2024-05-01T10:00:00.000123456+02:00", want: "2024-05-01T10:00:00.000123456+02:00"},
		{text: "2024-05-01T10:00:00,5+0200", want: "2024-05-01T10:00:00.5+02:00"},
		{text: "2024-05-01 10:00:00 +0100", want: "2024-05-01T10:00:00+01:00"},
		{text: "2024/05/01 10:00:00", want: ""},
		{text: "2024/05/01 10:00:00", loc: time.UTC, want: "2024-05-01T10:00:00Z"},
		{text: "2024-05-01", clock: "10:00:00", want: "2024-05-01T10:00:00Z"},
		{text: "2024-05-01", want: ""},
		{text: "2024-05-01T10:00:00Zx", want: ""},
		{text: "2024-05-01T10:00:00+1", want: "2024-05-01T10:00:00+01:00"},
		{text: "2024-05-01T10:00:00+01:99", want: ""},
		{text: "1066036250.603", want: "2003-10-13T09:10:50.603Z"},
		{text: "1066036250", want: "2003-10-13T09:10:50Z"},
		{text: "1066036250603", want: "2003-10-13T09:10:50.603Z"},
		{text: "1066036250603123", want: "2003-10-13T09:10:50.603123Z"},
		{text: "1066036250603123456", want: "2003-10-13T09:10:50.603123456Z"},
		{text: "106603625060", want: ""},
		{text: "1066036250.", want: ""},
		{text: "20001010205536", want: "2000-10-10T20:55:36Z"},
		{text: "Tue Oct 10 13:55:36 2000", want: ""},
		{text: "Tue Oct 10 13:55:36 2000", loc: time.UTC, want: "2000-10-10T13:55:36Z"},
		{text: "Sun Mar  3 22:49:12 2016", loc: time.UTC, year: 2025, want: "2016-03-03T22:49:12Z"},
		{text: "Sun Mar  3 22:49:12 016", loc: time.UTC, year: 2025, want: ""},
		{text: "Oct 10 13:55:36", want: ""},
		{text: "Oct 10 13:55:36", loc: time.UTC, want: ""},
		{text: "Oct 10 13:55:36", loc: time.UTC, year: 2025, want: "2025-10-10T13:55:36Z"},
		{text: "Oct  1 13:55:36", loc: time.UTC, year: 2025, want: "2025-10-01T13:55:36Z"},
		{text: "Nov 22 2026 10:00:00", want: ""},
		{text: "Nov 22 2026 10:00:00", loc: berlin, want: "2026-11-22T10:00:00+01:00"},
		{text: "Oct 04 2026 13:15:29.123 UTC", want: "2026-10-04T13:15:29.123Z"},
		{text: "Oct  4 2026 13:15:29 GMT", want: "2026-10-04T13:15:29Z"},
		{text: "Oct 10 13:55:36 UTC", year: 2025, want: "2025-10-10T13:55:36Z"},
		{text: "Oct 10 13:55:36.5 +0200", year: 2025, want: "2025-10-10T13:55:36.5+02:00"},
		{text: "Oct 10 2026 13:55:36 CET", loc: berlin, want: ""},
		{text: "Oct 10 2026", loc: time.UTC, want: ""},
		{text: "Oct 10 202 13:55:36", loc: time.UTC, want: ""},
		{text: "Tue Oct 10 13:55:36 UTC 2000", want: "2000-10-10T13:55:36Z"},
		{text: "2024-05-01 10:00:00 UTC", want: "2024-05-01T10:00:00Z"},
		{text: "2024-05-01 10:00:00 UTCx", want: ""},
		{text: "yesterday", loc: time.UTC, year: 2025, want: ""},
		{text: "", want: ""},
	} {
		var zone ZoneFunc
		if test.loc != nil {
			zone = func(year, month, day, hour, minute int) int {
				_, east := time.Date(year, time.Month(month), day, hour, minute, 0, 0, test.loc).Zone()
				return east / 60
			}
		}
		got, ok := appendTime(nil, []byte(test.text), []byte(test.clock), zone, test.year)
		if string(got) != test.want || ok != (test.want != "") {
			t.Errorf("appendTime(%q, %q, %v, %d) = %q, %v; want %q", test.text, test.clock, test.loc, test.year, got, ok, test.want)
		}
		if !ok {
			continue
		}
		at, err := time.Parse(time.RFC3339, string(got))
		if err != nil && got[17] != '6' { // time has no leap seconds
			t.Errorf("appendTime(%q) = %q: %v", test.text, got, err)
		}
		var s locate.Stamp
		if ok := s.Parse([]byte(test.text), []byte(test.clock)) && s.Complete(zone, test.year); !ok || err == nil && s.Seconds() != at.Unix() {
			t.Errorf("%q: %d s since 1970, want %d", test.text, s.Seconds(), at.Unix())
		}
	}
}

// TestFactTime: a fact has the time of its record if the job wants it, without
// an allocation.
func TestFactTime(t *testing.T) {
	w := newJob(t, Config{Format: "combined", Base: "http://h", Identity: Identity{By: "syntax", Time: true}}).NewWorker()
	var st Stats
	var out []byte
	for _, c := range []struct {
		clock, page string
		want        int64
		has         bool
	}{
		{"10/Oct/2000:13:55:36 -0700", "/a", 971211336, true},
		{"10/Oct/2000:13:55:36 -0700", "/b", 971211336, true},
		{"10/Oct/2000:13:55:37 -0700", "/b", 971211337, true},
		{"31/Dec/1969:23:59:59 +0000", "/b", -1, true},
		{"10/Okt/2000:13:55:36 -0700", "/b", 0, false},
		{"10/Okt/2000:13:55:36 -0700", "/b", 0, false},
		{"10/Oct/2000:13:55:36 -0700", "", 0, false}, // there is no URL
	} {
		rec := []byte(`192.0.2.7 - - [` + c.clock + `] "GET ` + c.page + ` HTTP/1.0" 200 1 "-" "-"`)
		if c.page == "" {
			rec = []byte(`192.0.2.7 - - [` + c.clock + `] "-" 400 1 "-" "-"`)
		}
		one := func() { out, _ = w.Append(out[:0], nil, rec, Position{}, &st) }
		n := testing.AllocsPerRun(10, one)
		if got := w.Time(); got != (Time{Seconds: c.want, Known: c.has}) || n != 0 {
			t.Errorf("%s, %q: %+v, %v allocations", c.clock, c.page, got, n)
		}
	}
}

// TestEpoch compares the calendar with that of package time.
func TestEpoch(t *testing.T) {
	for seconds := int64(0); seconds < 1e10; seconds += 86400*5 + 12345 {
		got, ok := appendTime(nil, strconv.AppendInt(nil, seconds, 10), nil, nil, 0)
		want := time.Unix(seconds, 0).UTC().Format(time.RFC3339)
		if seconds >= 1e5 && (!ok || string(got) != want) {
			t.Fatalf("got %q for %d, want %q", got, seconds, want)
		}
	}
}

func TestAppendSeconds(t *testing.T) {
	for _, test := range []struct {
		text string
		unit int
		want string // "" if absent
	}{
		{"0.005", 0, "0.005"},
		{"12", 0, "12"},
		{"0.000", 0, "0"},
		{"0012", 0, "12"},
		{"12.50", 0, "12.5"},
		{"1500", 3, "1.5"},
		{"1000", 3, "1"},
		{"5", 3, "0.005"},
		{"0", 3, "0"},
		{"0.25", 3, "0.00025"},
		{"1234567", 6, "1.234567"},
		{"1", 9, "0.000000001"},
		{"-1", 3, ""},
		{"-", 0, ""},
		{"1.", 0, ""},
		{"0.1, 0.2", 0, ""},
	} {
		got, ok := appendSeconds(nil, []byte(test.text), test.unit)
		if string(got) != test.want || ok != (test.want != "") {
			t.Errorf("appendSeconds(%q, %d) = %q, %v; want %q", test.text, test.unit, got, ok, test.want)
		}
	}
}

func TestAppendMixed(t *testing.T) {
	for text, want := range map[string]string{
		"1m2.5s": "62.5", "1h0m0s": "3600", "2h3m4.250s": "7384.25", "1h1s": "3601", "5m": "300", "1h": "3600", "1m0.000000001s": "60.000000001",
		"m1s": "", "1m-2s": "", "1m2": "", "1m1m": "", "1m2h": "", "1m2.s": "", "1234567890m": "", "1m1e3s": "", "1m2ms": "",
	} {
		got, ok := appendMixed(nil, []byte(text))
		if ok != (want != "") || ok && string(got) != want {
			t.Errorf("appendMixed(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
	check(t, Config{Format: "logfmt", Render: RenderJSONL, Fields: []string{"duration"}}, "url=http://a/ duration=1m2.5s\nurl=http://a/ duration=61ms\n", "{\"duration\":62.5}\n{\"duration\":0.061}\n")
	check(t, Config{Format: "caddy", Render: RenderJSONL, Fields: []string{"duration"}},
		`{"level":"info","request":{"host":"h","uri":"/","method":"GET","proto":"HTTP/1.1","remote_ip":"192.0.2.1"},"duration":"1h2m3s","status":200}`+"\n", "{\"duration\":3723}\n")
}

// attrFields are the output fields that show attributes, in the order of the
// tests' rows.
var attrFields = []string{"time", "status", "bytes", "duration", "client", "agent", "referer", "vhost", "request_id"}

func TestAttrs(t *testing.T) {
	const (
		combined = `192.0.2.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326 "http://example.com/\x22q\x22" "Mozilla/4.08 [en] (Win98)"`
		iis      = "#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status time-taken\n"
		edge     = "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) x-edge-request-id x-host-header time-taken\n"
	)
	for _, test := range []struct{ name, format, in, want string }{
		{"combined", "combined", combined,
			`{"time":"2000-10-10T13:55:36-07:00","status":200,"bytes":2326,"client":"192.0.2.7","agent":"Mozilla/4.08 [en] (Win98)","referer":"http://example.com/\"q\""}`},
		{"absent", "combined", `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 304 - "-" "-"`,
			`{"time":"2000-10-10T13:55:36-07:00","status":304,"client":"192.0.2.7"}`},
		{"vhost", "vhost_combined", "www.example.com:443 " + combined,
			`{"time":"2000-10-10T13:55:36-07:00","status":200,"bytes":2326,"client":"192.0.2.7","agent":"Mozilla/4.08 [en] (Win98)","referer":"http://example.com/\"q\"","vhost":"www.example.com"}`},
		{"traefik", "combined", `192.0.2.7 - joe [10/Oct/2000:13:55:36 -0700] "GET /b HTTP/2.0" 404 19 "http://r/" "Mozilla/5.0 (X)" 43 "web@docker" "http://10.0.0.2:80" 3ms`,
			`{"time":"2000-10-10T13:55:36-07:00","status":404,"bytes":19,"client":"192.0.2.7","agent":"Mozilla/5.0 (X)","referer":"http://r/"}`},
		{"no agent, more fields", "combined", `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /b HTTP/2.0" 404 19 "-" "-" rt=0.003 uct="0.000" uht="0.003"`,
			`{"time":"2000-10-10T13:55:36-07:00","status":404,"bytes":19,"client":"192.0.2.7"}`},
		{"escaped quotes, more fields", "combined", `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /b HTTP/2.0" 404 19 "-" "a \"b\" c" 0.012 "203.0.113.7"`,
			`{"time":"2000-10-10T13:55:36-07:00","status":404,"bytes":19,"client":"192.0.2.7","agent":"a \"b\" c"}`},
		{"raw quotes", "combined", `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /b HTTP/2.0" 404 19 "-" "a "b" c" "d"`,
			`{"time":"2000-10-10T13:55:36-07:00","status":404,"bytes":19,"client":"192.0.2.7","agent":"a \"b\" c"}`},
		{"client with a port", "combined", `192.0.2.7:51234 - - [10/Oct/2000:13:55:36 -0700] "GET /b HTTP/2.0" 404 19 "-" "-"`,
			`{"time":"2000-10-10T13:55:36-07:00","status":404,"bytes":19,"client":"192.0.2.7"}`},
		{"client after a list of proxies", "vhost_combined", "www.example.com:443 203.0.113.7, " + combined,
			`{"time":"2000-10-10T13:55:36-07:00","status":200,"bytes":2326,"client":"203.0.113.7","agent":"Mozilla/4.08 [en] (Win98)","referer":"http://example.com/\"q\"","vhost":"www.example.com"}`},
		{"client after a prefix", "combined", "web-1  | " + combined,
			`{"time":"2000-10-10T13:55:36-07:00","status":200,"bytes":2326,"client":"192.0.2.7","agent":"Mozilla/4.08 [en] (Win98)","referer":"http://example.com/\"q\""}`},
		{"no vhost", "vhost_combined", combined,
			`{"time":"2000-10-10T13:55:36-07:00","status":200,"bytes":2326,"client":"192.0.2.7","agent":"Mozilla/4.08 [en] (Win98)","referer":"http://example.com/\"q\""}`},
		{"unnamed vhost", "vhost_combined", "_:80 " + combined,
			`{"time":"2000-10-10T13:55:36-07:00","status":200,"bytes":2326,"client":"192.0.2.7","agent":"Mozilla/4.08 [en] (Win98)","referer":"http://example.com/\"q\""}`},
		{"truncated", "clf", `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200`,
			`{"time":"2000-10-10T13:55:36-07:00","status":200,"client":"192.0.2.7"}`},
		{"nginx", `$remote_addr [$time_iso8601] "$request" $status $request_time $request_id`, `2001:db8::1 [2024-05-01T10:00:00+02:00] "GET /a HTTP/1.1" 200 0.012 0123456789abcdef`,
			`{"time":"2024-05-01T10:00:00+02:00","status":200,"duration":0.012,"client":"2001:db8::1","request_id":"0123456789abcdef"}`},
		{"adjacent", `$remote_addr$pipe "$request" $status`, `192.0.2.7p "GET /a HTTP/1.1" 200`, `{"status":200}`},
		{"apache", `%h %t "%r" %>s %b %D %v`, `192.0.2.7 [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 10 1500 www.example.com`,
			`{"time":"2000-10-10T13:55:36-07:00","status":200,"bytes":10,"duration":0.0015,"client":"192.0.2.7","vhost":"www.example.com"}`},
		{"iis", "w3c", iis + "2024-05-01 10:00:00 192.0.2.1 GET /a b=c 192.0.2.7 Mozilla/5.0+(Windows+NT) 200 15",
			`{"time":"2024-05-01T10:00:00Z","status":200,"duration":0.015,"client":"192.0.2.7","agent":"Mozilla/5.0 (Windows NT)"}`},
		{"cloudfront", "w3c", edge + "2024-05-01\t10:00:00\tFRA2-C1\t99\t192.0.2.7\tGET\td111.cloudfront.net\t/a\t200\t-\tcurl%2520x\tabc==\twww.example.com\t0.5",
			`{"time":"2024-05-01T10:00:00Z","status":200,"bytes":99,"duration":0.5,"client":"192.0.2.7","agent":"curl%20x","vhost":"www.example.com","request_id":"abc=="}`},
		{"warc", "warc", "WARC/1.0\r\nWARC-Target-URI: http://example.com/\r\nWARC-Date: 2024-05-01T10:00:00Z\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
			`{"time":"2024-05-01T10:00:00Z"}`},
		{"jsonl", "jsonl", `{"u":"http://example.com/"}`, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Config{Format: test.format, Render: RenderJSONL, Fields: attrFields}
			if test.format == "jsonl" {
				c.URLField = "u"
			}
			check(t, c, test.in+"\n", test.want+"\n")
		})
	}
}

// TestAttrBeforeDiagnostics checks that an attribute with escapes does not move
// the diagnostics after it.
func TestAttrBeforeDiagnostics(t *testing.T) {
	const line = `192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] "GET /a%zz HTTP/1.0" 200 1 "-" "a \x22b\x22"` + "\n"
	c := Config{Format: "combined", Render: RenderJSONL, Fields: []string{"agent", "record", "diagnostics"}}
	out, _, _ := runJob(t, newJob(t, c), []byte(line))
	if want := `"flag":"non-hex","at":2,"record_at":` + strconv.Itoa(strings.Index(line, "%zz")); !strings.Contains(string(out), want) {
		t.Errorf("%s, want %s in it", out, want)
	}
}

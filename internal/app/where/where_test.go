package where

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record"
)

// apache is a combined log with the virtual host, the duration in microseconds
// and the request's identifier.
const apache = `%v %h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D %{UNIQUE_ID}e`

// logLines are records of that log.
var logLines = []string{
	`www.example.com 192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] "GET /a?q=1 HTTP/1.1" 200 2326 "-" "curl/8.9.1" 12000 -`,
	`shop.example.co.uk 2001:db8::1 - - [02/Nov/2026:05:25:00 +0000] "POST /b%zz HTTP/1.1" 404 - "http://www.example.com/" "ExampleBot/2.1 (+https://bot.example.org/)" 1500000 Zx1`,
	`- 198.51.100.23 - bob [31/Dec/2025:23:59:59 -0800] "CONNECT h:443 HTTP/1.1" 405 0 "-" "-" 0 -`,
	`[:: 192.0.2.8 - - [02/Nov/2026:06:25:01 +0100] "GET http://a:b:c/ HTTP/1.1" 400 10 "-" "x" 999 -`,
	`not a record of this log`,
}

// newConfig returns a configuration for the log, with base and renders.
func newConfig(t testing.TB, render record.Render, fields ...string) record.Config {
	t.Helper()
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return record.Config{Format: apache, Render: render, Fields: fields, Normalizer: n}
}

// run returns the output for the lines, and the counts.
func run(t testing.TB, c record.Config, lines []string) (string, record.Stats) {
	t.Helper()
	j, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var st record.Stats
	var out, dead []byte
	w := j.NewWorker()
	for i, line := range lines {
		out, dead = w.Append(out, dead, []byte(line+"\n"), record.Position{Name: "f", Line: int64(i + 1), Off: int64(100 * i)}, &st)
	}
	if !st.Balanced() || len(dead) > 0 && c.OnRejected != record.DispositionDead {
		t.Fatalf("%+v, dead %s", st, dead)
	}
	return string(out), st
}

// compile compiles an expression that must be valid.
func compile(t testing.TB, text string) *Expression {
	t.Helper()
	e, err := Compile(text, time.UTC)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// kept returns the numbers of the lines that the expression keeps.
func kept(t *testing.T, text string) string {
	t.Helper()
	c := newConfig(t, record.RenderRewrite)
	c.Where = compile(t, text)
	out, st := run(t, c, logLines)
	var list strings.Builder
	for i, line := range logLines {
		if strings.Contains(out, line[len(line)-16:]) {
			list.WriteString(string(rune('1' + i)))
		}
	}
	if int(st.Filtered) != len(logLines)-len(list.String()) || int(st.Emitted) != len(list.String()) {
		t.Errorf("%s keeps lines %s, but counts %d as filtered", text, list.String(), st.Filtered)
	}
	return list.String()
}

func TestKeep(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		// Numbers.
		{`status == 200`, "15"},
		{`status != 200`, "2345"},
		{`status < 405`, "1245"},
		{`status <= 404 && status >= 400`, "245"},
		{`400 <= status`, "2345"},
		{`404 > status`, "145"},
		{`status in [404, 405]`, "235"},
		{`status not in [404, 405]`, "145"},
		{`bytes >= 0`, "1345"}, // line 2 has no size
		{`bytes > -1`, "1345"},
		{`bytes == 2326.0`, "15"},
		{`bytes == 2_326 || bytes == 0x0`, "135"},
		{`duration >= 0.012`, "125"},
		{`duration == 1.5`, "25"},
		{`duration in [1.5, 0]`, "235"},
		{`duration < 1e-3`, "345"},
		{`duration < 0.001`, "345"},
		{`line > 1 && line < 4`, "235"},
		{`bytes > line`, "145"},
		// Bots.
		{`bot`, "125"},
		{`!bot`, "345"},
		{`bot || agent == "x"`, "1245"},
		{`bot == (agent contains "curl")`, "1345"},
		{`(bot && status == 404) || method == "CONNECT"`, "235"},
		// Networks.
		{`client in "192.0.2.0/24"`, "145"},
		{`client in "192.0.2.7"`, "15"},
		{`client not in "192.0.2.0/24"`, "235"},
		{`client in ["2001:db8::/32", "198.51.100.23"]`, "235"},
		{`client in ["192.0.2.0/29", "x"]`, "15"},
		{`client in "0.0.0.0/0"`, "1345"},
		{`agent in "::/0"`, "5"},
		// Regular expressions.
		{`agent matches "(?i)bot|spider"`, "25"},
		{`agent matches "^curl/8|^x$"`, "145"},
		{`!(agent matches "Bot" || agent matches "^x$")`, "135"},
		{`agent matches "Bot" || referer matches "example"`, "25"},
		{`not (agent matches "[Bb]ot") && agent matches "."`, "145"},
		// Texts.
		{`method == "GET"`, "145"},
		{`method != ""`, "12345"},
		{`method in ["POST", "CONNECT"]`, "235"},
		{`method < "GET"`, "35"},
		{`agent contains "Bot"`, "25"},
		{`!(agent contains "Bot")`, "1345"},
		{`agent not contains "Bot"`, "1345"},
		{`agent startsWith "curl/" or agent endsWith ")"`, "125"},
		{`agent matches "(?i)bot/[0-9]"`, "25"},
		{`path == "/a"`, "15"},
		{`query == "q=1"`, "15"},
		{`site == "example.com"`, "15"},
		{`site == "example.co.uk"`, "25"},
		{`host == vhost`, "125"},
		{`referer contains "example"`, "25"},
		{`client == "2001:db8::1"`, "25"},
		{`request_id == "Zx1"`, "25"},
		{`form == "authority"`, "35"},
		{`flags contains "non-hex"`, "25"},
		// Times are points in time, and texts for the operators of texts.
		{`time == "2026-11-02T06:25:00+01:00"`, "125"},
		{`time == "2026-11-02T05:25:00Z"`, "125"},
		{`time > "2026-11-02T05:25:00Z"`, "45"},
		{`time >= "2026-01-01"`, "12345"}, // the zone of line 3 puts it into that year
		{`time <= "2026-01-01 08:00"`, "35"},
		{`"2026-01-01" > time`, "5"},
		{`time in ["2026-11-02 05:25:00", "2026-11-02T05:25:01Z"]`, "1245"},
		{`time startsWith "2025-12-31"`, "35"},
		{`time != time`, "5"},
		// Absent fields.
		{`bytes != 2326`, "2345"}, // line 2 has no size
		{`bytes != -1`, "12345"},
		{`host != "www.example.com"`, "2345"},
		{`host != vhost`, "345"},
		// Conditions.
		{`flag("non-hex")`, "25"},
		{`!flag("non-hex")`, "1345"},
		{`changed`, "5"},
		{`!changed == true`, "12345"},
		{`true`, "12345"},
		{`false`, "5"},
		{`has(referer)`, "25"},
		{`not has(bytes)`, "25"},
		{`has(norm)`, "125"},
		// A record that cannot be parsed is kept, unless the expression reads its
		// error.
		{`has(error)`, "45"},
		{`!has(error)`, "123"},
		{`error == "unparsed"`, "5"},
		{`error == "unparsed" && record contains "not a"`, "5"},
		{`status == 200 && !has(error)`, "1"},
		{`status == 200 || error == "unparsed"`, "15"},
		// Precedence.
		{`status == 404 || status == 405 && method == "GET"`, "25"},
		{`(status == 404 || status == 405) && method == "GET"`, "5"},
		{"status == 404\n  || status == 405", "235"},
	} {
		if got := kept(t, test.expression); got != test.want {
			t.Errorf("%s keeps lines %s, want %s", test.expression, got, test.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{``, "empty expression"},
		{" \n", "empty expression"},
		{"\xff", "not valid UTF-8"},
		{strings.Repeat("(", maxLength+1), "too long"},
		{strings.Repeat("(", maxLength), "unexpected end"},
		{`stauts == 200`, `column 1: unknown name "stauts" (did you mean "status"?); names: url, norm, `},
		{`status == 200 && site == foo`, `column 26: unknown name "foo"; names: url,`},
		{"status == 200 &&\n  foo == 1", `line 2, column 3: unknown name "foo"`},
		{`agent == "é" && foo == 1`, `column 17: unknown name "foo"`},
		{`status = 200`, `column 8: unexpected "="; use == to compare`},
		{`status ==`, "column 10: unexpected end of the expression: a value or a closing parenthesis is missing"},
		{`(status == 200`, "column 15: unexpected end of the expression: a value or a closing parenthesis is missing"},
		{"status == 200 && \n", "column 17: unexpected end of the expression: a value or a closing parenthesis is missing"},
		{"status == 200 &&\n  agent == \n", "line 2, column 11: unexpected end of the expression: a value or a closing parenthesis is missing"},
		{`agent == "é" &&`, "column 16: unexpected end of the expression: a value or a closing parenthesis is missing"},
		{`status == 1e400`, `column 11: invalid number 1e400: value out of range`},
		{`status == 99999999999999999999`, `column 11: invalid number 99999999999999999999: value out of range`},
		{`agent == "é" && duration < 1e400 && line > 1`, "column 28: invalid number 1e400: value out of range"},
		{`status == null`, `column 11: unknown name "null": test whether a field exists with has(FIELD), or is absent with !has(FIELD)`},
		{`status is null`, `column 8: unexpected "is"; test whether a field exists with has(status), or is absent with !has(status)`},
		{`method == "GET" && agent IS NOT NULL`, `column 26: unexpected "IS"; test whether a field exists with has(agent),`},
		{`status exists`, `column 8: unexpected "exists"; test whether a field exists with has(status),`},
		{`(status) is null`, `unexpected "is"; test whether a field exists with has(status),`},
		{`"é" is null`, `column 5: unexpected "is"; test whether a field exists with has(FIELD),`},
		{`status <> 200`, `unexpected ">"; use != to compare`},
		{`agent =~ "bot"`, `use matches`},
		{`agent LIKE "bot%"`, `column 7: unexpected "LIKE"; use contains, startsWith, endsWith or matches`},
		{`status between 1 and 2`, `column 8: unexpected "between"; use >= and <=`},
		{`status == 200 AND agent == "x"`, `column 15: unexpected "AND"; use &&`},
		{`status == 200 & agent == "x"`, `use &&`},
		{`agent != None`, `column 10: unknown name "None": test`},
		{`status == 200)`, `column 14: unexpected ")"`},
		{`agent == "x`, "literal not terminated"},
		{`status == "200"`, "column 8: status is a number and cannot be compared with a text: write 200 without quotes"},
		{`status == "ok"`, "column 8: status is a number and cannot be compared with a text"},
		{`agent == 5`, `column 7: agent is a text and cannot be compared with a number: write "5"`},
		{`port == 8080`, `write "8080"`},
		{`status == agent`, "status is a number and agent is a text: they cannot be compared"},
		{`time > 5`, "time is a time and cannot be compared with a number: write a time such as"},
		{`time >= "2024-13-01"`, `column 6: invalid time "2024-13-01": must be a date such as "2024-01-31"`},
		{`time in ["yesterday"]`, `column 10: invalid time "yesterday"`},
		{`agent`, "column 1: agent is a text, not a condition: compare it, or test it with has(agent)"},
		{`status && true`, "status is a number, not a condition"},
		{`"x"`, "column 1: expected a condition"},
		{`5`, "expected a condition"},
		{`-status`, "expected a condition"},
		{`1 == 1`, "column 3: comparison of two constants"},
		{`status == nil`, "test a field with has(FIELD)"},
		{`status + 1 == 2`, "column 8: unknown operator +"},
		{`status == -agent`, "a sign needs a number"},
		{`status < 1 < 2`, "column"},
		{`flag("non-hxe")`, `column 6: unknown flag "non-hxe" (did you mean "non-hex"?)`},
		{`flag("zzzzzzzz")`, `unknown flag "zzzzzzzz"; 'urlfold help flags' lists all`},
		{`flag(agent)`, "flag takes the name of a flag in quotes"},
		{`flag`, `unknown name "flag" (flag is a function: write flag(…))`},
		{`has("agent")`, "column 5: has takes the name of a field, without quotes"},
		{`has(agent, url)`, "has takes one argument, not 2"},
		{`has(changed)`, "changed is a condition, not a field"},
		{`hass(agent)`, `column 1: unknown function "hass"; functions: has(FIELD), flag("NAME")`},
		{`len(agent) > 3`, `unknown function "len"`},
		{`any([1], true)`, `unknown function "any"`},
		{`agent matches "("`, "column 15: invalid regular expression"},
		{`agent matches url`, "matches needs a regular expression in quotes"},
		{`status matches "2.."`, "matches needs a field with text on the left"},
		{`status contains "2"`, "column 8: contains requires strings, but status is a number"},
		{`agent contains 2`, "contains requires strings, but 2 is a number"},
		{`agent contains line`, "contains requires strings, but line is a number"},
		{`"abc" contains agent`, "the field must be on the left of contains"},
		{`status in 200`, "in needs a list on the right"},
		{`bot == "Googlebot"`, "column 8: expected a condition"},
		{`has(bot)`, "bot is a condition, not a field"},
		{`client in "192.0.2.1/24"`, `column 11: invalid network "192.0.2.1/24": its address has bits beyond the first 24: write "192.0.2.0/24"`},
		{`client in "192.0.2"`, `invalid network "192.0.2": must be an address and a number of bits such as "192.0.2.0/24"`},
		{`client in "fe80::1%eth0"`, `invalid network`},
		{`200 in [status]`, "in needs a field on the left"},
		{`status in [agent]`, "a list holds strings or numbers, not fields"},
		{`status in ["200"]`, "column 12: status is a number, and the list has a text"},
		{`agent.name == 1`, "expected a field"},
		{`agent[0] == "a"`, "expected a field"},
		{`status == 200 ? true : false`, "expected a condition"},
		{`let x = 1; x == 1`, "expected a condition"},
		{`status == 200; true`, "expected a condition"},
		{`status | len() == 1`, "unknown function"},
		{`{} == 1`, "expected a field"},
		{`(status == 200) == 5`, "expected a condition"},
		{`status == (status == 200)`, "status is a number, not a condition"},
	} {
		if _, err := Compile(test.expression, time.UTC); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40s: %v, want %q in it", test.expression, err, test.want)
		}
	}
}

// TestKinds checks that the fields are numbers in expressions that are numbers
// in JSON.
func TestKinds(t *testing.T) {
	out, _ := run(t, newConfig(t, record.RenderJSONL, fieldNames...), logLines[:2])
	for _, name := range fieldNames {
		i := strings.Index(out, `"`+name+`":`)
		if i < 0 {
			continue
		}
		if is := out[i+len(name)+3]-'0' <= 9; is != (kindOf(name) == number) {
			t.Errorf("%s is %v, but its value in JSON is %.10s", name, kindOf(name), out[i+len(name)+3:])
		}
	}
}

// TestRedacted checks that expressions see what the output shows.
func TestRedacted(t *testing.T) {
	c := newConfig(t, record.RenderURLs)
	c.Format, c.Redact = "lines", []string{"passwords"}
	c.Where = compile(t, `url contains "secret" || norm contains "secret"`)
	if out, st := run(t, c, []string{"http://u:secret@h/"}); out != "" || st.Filtered != 1 {
		t.Errorf("out %q, %+v", out, st)
	}
}

// TestZone checks times without a zone, in the log and in the expression.
func TestZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones on this system")
	}
	e, err := Compile(`time == "2026-07-01"`, berlin)
	if err != nil {
		t.Fatal(err)
	}
	c := newConfig(t, record.RenderURLs)
	c.Where = e
	line := strings.Replace(logLines[0], "02/Nov/2026:06:25:00 +0100", "30/Jun/2026:22:00:00 +0000", 1)
	if out, _ := run(t, c, []string{line}); out == "" {
		t.Error("the start of a day in Berlin is not two hours before that in UTC")
	}
}

// TestMoment compares the arithmetic of times with that of package time.
func TestMoment(t *testing.T) {
	for at := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 9999; at = at.Add(3_333_333_333 * time.Millisecond) {
		zone := time.FixedZone("", (at.Nanosecond()/1e6%48-24)*1800)
		text := at.In(zone).Format(time.RFC3339Nano)
		m := parseMoment([]byte(text))
		fraction := strings.TrimRight(fmt.Sprintf("%09d", at.Nanosecond()), "0")
		if m.seconds != at.Unix() || string(m.fraction) != fraction {
			t.Fatalf("%s: %d.%s, want %d.%s", text, m.seconds, m.fraction, at.Unix(), fraction)
		}
	}
	a, b := parseMoment([]byte("2000-10-10T13:55:36.50Z")), parseMoment([]byte("2000-10-10T13:55:36.5000001Z"))
	if a.compare(b) != -1 || b.compare(a) != 1 || a.compare(parseMoment([]byte("2000-10-10T15:55:36.5+02:00"))) != 0 {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestCompareDecimal(t *testing.T) {
	sorted := []string{"-10", "-9.5", "-9", "0", "0.01", "0.1", "0.15", "1", "1.5", "2", "10", "10.25", "99999999999999999999", "100000000000000000000"}
	for i, a := range sorted {
		for j, b := range sorted {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := compareDecimal([]byte(a), []byte(b)); got != want {
				t.Errorf("compareDecimal(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
}

// TestNoAllocs checks that evaluating an expression allocates nothing.
func TestNoAllocs(t *testing.T) {
	c := newConfig(t, record.RenderRewrite)
	c.Where = compile(t, `status < 600 && method != "" && bytes >= 0 && time > "2024-01-01" && !(agent matches "bot|crawl") && `+
		`host == vhost && !flag("credentials") && duration in [0.012] && !changed && site == "example.com" && client startsWith "192" && record contains "GET"`)
	j, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w, line, out := j.NewWorker(), []byte(logLines[0]+"\n"), make([]byte, 0, 1<<10)
	var st record.Stats
	if n := testing.AllocsPerRun(100, func() { w.Append(out, nil, line, record.Position{}, &st) }); n != 0 || st.Filtered != 0 {
		t.Errorf("%v allocations, %d records filtered", n, st.Filtered)
	}
}

// TestUntested: fields that has tests somewhere do not count.
func TestUntested(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{`status == 200 && agent contains "a"`, "[status agent]"},
		{`has(status) && status == 200 && host == vhost`, "[host vhost]"},
		{`status >= 400 || !has(status)`, "[]"},
		{`changed`, "[]"},
	} {
		e, err := Compile(test.expression, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, i := range e.Untested() {
			names = append(names, fieldNames[i])
		}
		if got := fmt.Sprint(names); got != test.want {
			t.Errorf("%s: %s, want %s", test.expression, got, test.want)
		}
	}
}

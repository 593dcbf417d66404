package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// textCase is a line of a text log and what is read from it.
type textCase struct {
	name   string
	line   string
	url    string // as the client sent it; "" if the line has no URL
	norm   string
	fields string // form, method, and the attributes, separated by '|'
	now    string // the part of the line that replaces url; "" if the line stays
}

// textFieldNames are the names of textCase.fields.
var textFieldNames = []string{"form", "method", "time", "status", "bytes", "duration", "client", "agent", "vhost", "request_id", "flags"}

// TestTextLogs checks what is read from lines in the form of each vendor, and
// that rewriting changes the URL and nothing else.
func TestTextLogs(t *testing.T) {
	for format, cases := range textCases {
		t.Run(format, func(t *testing.T) {
			if len(cases) < 8 {
				t.Errorf("%d cases", len(cases))
			}
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) { checkTextCase(t, format, c) })
			}
		})
	}
	for _, f := range textlog.FixedLogs {
		if len(textCases[f.ID]) == 0 {
			t.Errorf("no cases for %s", f.ID)
		}
	}
}

func checkTextCase(t *testing.T, format string, c textCase) {
	config := Config{Format: format, Target: TargetRequest, Render: RenderTSV, Fields: append([]string{"url", "norm"}, textFieldNames...)}
	got, _, st := runJob(t, newJob(t, config), []byte(c.line+"\n"))
	want := c.url + "\t" + c.norm + "\t" + strings.ReplaceAll(c.fields, "|", "\t") + "\n"
	switch {
	case c.fields == "unparsed":
		if st.Rejects[Unparsed] != 1 {
			t.Errorf("not unparsed: %q, %+v", got, st)
		}
	case c.url == "":
		if len(got) > 0 || st.NoURL != 1 {
			t.Errorf("got %q and %d lines without a URL", got, st.NoURL)
		}
	case string(got) != want:
		t.Errorf("got\n%q, want\n%q", got, want)
	}
	config = Config{Format: format, Target: TargetRequest}
	got, _, _ = runJob(t, newJob(t, config), []byte(c.line+"\n"))
	line := c.line + "\n"
	if c.now != "" {
		old, now, _ := strings.Cut(c.now, " => ")
		line = strings.Replace(line, old, now, 1)
	}
	if string(got) != line {
		t.Errorf("rewritten:\n%q, want\n%q", got, line)
	}
	again, _, _ := runJob(t, newJob(t, config), got)
	if !bytes.Equal(again, got) {
		t.Errorf("rewritten again:\n%q, want\n%q", again, got)
	}
}

// textLines returns the lines of all cases of a format.
func textLines(format string) [][]byte {
	var lines [][]byte
	for _, c := range textCases[format] {
		lines = append(lines, []byte(c.line))
	}
	return lines
}

// TestTextLogDetect checks that the lines of each format are detected as that
// format and are no lines of another one.
func TestTextLogDetect(t *testing.T) {
	for _, f := range textlog.FixedLogs {
		if g, ok := Detect(bytes.Join(textLines(f.ID), locate.LineFeed)); !ok || g.Format != f.ID {
			t.Errorf("%s: detected as %+v", f.ID, g)
		}
		for _, other := range textlog.FixedLogs {
			_, _, st := runJob(t, newJob(t, Config{Format: other.ID}), []byte(f.Sample+"\n"))
			if parsed := st.Rejected == 0 && st.URLs == 1; parsed != (f.ID == other.ID) {
				t.Errorf("the sample of %s as %s: %+v", f.ID, other.ID, st)
			}
		}
	}
}

// TestTextLogReferer checks that the referers of two logs are read, and that the
// other formats refuse to look for one.
func TestTextLogReferer(t *testing.T) {
	const line = `o b [06/Feb/2019:00:00:38 +0000] 192.0.2.3 r 3E57427F3EXAMPLE WEBSITE.GET.OBJECT k "GET /%7e HTTP/1.1" 200 - 1 - 7 - "http://www.example.com/a "b"" "x" -`
	for target, want := range map[Target]string{
		TargetRequest: strings.Replace(line, "%7e", "~", 1),
		TargetReferer: strings.Replace(line, `/a "b"`, "/a%20%22b%22", 1),
		TargetAll:     strings.NewReplacer("%7e", "~", `/a "b"`, "/a%20%22b%22").Replace(line),
	} {
		got, _, _ := runJob(t, newJob(t, Config{Format: "aws-s3", Target: target}), []byte(line))
		if string(got) != want {
			t.Errorf("target %v: got\n%s, want\n%s", target, got, want)
		}
	}
	const unquoted = `[18/Dec/2020:12:57:26 +1100] bob exec-6 192.0.2.7 GET /a HTTP/1.1 200 5ms 7 http://h.example/%7e\"\u00e9 Mozilla`
	check(t, Config{Format: "confluence", Target: TargetReferer}, unquoted, strings.Replace(unquoted, `%7e\"\u00e9`, "~%22%C3%A9", 1))
	for _, f := range textlog.FixedLogs {
		c := Config{Format: f.ID, Target: TargetReferer, Normalizer: newNormalizer(t, "equiv")}
		if _, err := New(c); (err == nil) != slices.Contains([]string{"aws-s3", "confluence", "nginx-proxy-manager"}, f.ID) {
			t.Errorf("%s: %v", f.ID, err)
		}
	}
}

// TestMaybeTruncated checks that a URL whose end can be missing has a normal
// form and flags, but no key.
func TestMaybeTruncated(t *testing.T) {
	const front = `192.0.2.7:51940 [18/Jul/2011:17:05:24.339] fe be/s1 0/0/0/0/5 200 1 - - ---- 1/1/0/0/0 0/0 {h.example} `
	c := Config{Format: "haproxy", Render: RenderJSONL, Fields: []string{"norm", "host", "key", "syntax", "equivalent", "fetch", "page", "surt", "flags"}}
	got, _, _ := runJob(t, newJob(t, c), []byte(front+`"GET /a`))
	if want := `{"norm":"http://h.example/a","host":"h.example","flags":["maybe-truncated"]}` + "\n"; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c = Config{Format: "haproxy", Render: RenderKeys}
	got, _, _ = runJob(t, newJob(t, c), []byte(front+`"GET /a`+"\n"+front+`"GET /a HTTP/1.1"`))
	key, rest, _ := strings.Cut(string(got), "\n")
	if key != "\thttp://h.example/a" || len(rest) != len("0123456789abcdef0123456789abcdef\thttp://h.example/a\n") {
		t.Errorf("keys: %q", got)
	}
	c.Facts = true
	w := newJob(t, c).NewWorker()
	var st Stats
	for line, want := range map[string]bool{`"GET /a"`: false, `"GET /a HTTP/1.1"`: true} {
		w.Append(nil, nil, []byte(front+line), Position{}, &st)
		if f := fact(w); f.Key.IsZero() == want || f.Host == 0 || f.Flags.Has(codec.FlagMaybeTruncated) == want {
			t.Errorf("%s: %+v", line, f)
		}
	}
}

func TestAppendSum(t *testing.T) {
	for text, want := range map[string]string{
		"0.086 0.048 0.037":          "0.171",
		"0.000086 0.001048 0.001337": "0.002471",
		"0.000 0.000 0.000":          "0",
		"1 2.5 0":                    "3.5",
		"-1 -1 -1":                   "",
		"0.1 -1 0.1":                 "",
		"0.1 x 0.1":                  "",
		"0.1 0. 0.1":                 "",
		"0.1 0.0.1 0.1":              "",
		"9999999999 0 0":             "",
		"0.0000000001 0 0":           "",
	} {
		got, ok := appendSum(nil, []byte(text))
		if !ok {
			got = nil
		}
		if string(got) != want || ok != (want != "") {
			t.Errorf("appendSum(%q) = %q, %v; want %q", text, got, ok, want)
		}
	}
}

// TestTextLogMutations changes lines at random and checks that rewriting never
// panics, changes only bytes of URLs, and changes nothing the second time. For
// the number of lines see TestMutations.
func TestTextLogMutations(t *testing.T) {
	count := 2000
	if n, err := strconv.Atoi(os.Getenv("URLFOLD_MUTATIONS")); err == nil {
		count = n
	}
	for _, f := range textlog.FixedLogs {
		t.Run(f.ID, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			j := newJob(t, Config{Format: f.ID, Target: TargetAll, Normalizer: newNormalizer(t, "equiv")})
			lines := textLines(f.ID)
			if len(lines) == 0 {
				t.Fatal("no lines: add cases to textlog_cases_test.go")
			}
			for range count {
				checkMutated(t, j, mutateLine(random, lines))
			}
		})
	}
}

// mutateLine returns a line with up to four random changes.
func mutateLine(random *rand.Rand, lines [][]byte) []byte {
	line := bytes.Clone(lines[random.IntN(len(lines))])
	for range random.IntN(4) + 1 {
		at := random.IntN(len(line) + 1)
		const bytesThatMatter = "\"\" \\#{}|[]/-:?%x2\x00\xff\t"
		switch random.IntN(4) {
		case 0:
			line = line[:at]
		case 1:
			line = append(line[:at:at], line[min(len(line), at+random.IntN(8)):]...)
		case 2:
			line = append(append(line[:at:at], bytesThatMatter[random.IntN(len(bytesThatMatter))]), line[at:]...)
		case 3:
			other := lines[random.IntN(len(lines))]
			from := random.IntN(len(other))
			line = append(append(line[:at:at], other[from:from+random.IntN(min(16, len(other)-from))]...), line[at:]...)
		}
	}
	return line
}

// checkMutated checks that rewriting a line changes nothing but its URLs, and
// that the result is stable.
func checkMutated(t *testing.T, j *Job, line []byte) {
	t.Helper()
	w := j.NewWorker()
	var st Stats
	got, _ := w.Append(nil, nil, line, Position{}, &st)
	if st.Panics > 0 || !st.Balanced() {
		t.Fatalf("%q: %+v", line, st)
	}
	checkKept(t, j, line, got)
	again, _ := w.Append(nil, nil, got, Position{}, &st)
	if !bytes.Equal(again, got) {
		t.Fatalf("%q became %q, and then %q", line, got, again)
	}
}

// TestTextLogAllocs checks that reading a line of each format allocates nothing,
// with all attributes.
func TestTextLogAllocs(t *testing.T) {
	for _, f := range textlog.FixedLogs {
		c := Config{Format: f.ID, Render: RenderTSV, Fields: append([]string{"norm", "key"}, textFieldNames...)}
		w := newJob(t, c).NewWorker()
		var st Stats
		var out []byte
		lines := textLines(f.ID)
		if n := testing.AllocsPerRun(100, func() {
			for _, line := range lines {
				out, _ = w.Append(out[:0], nil, line, Position{Line: 1}, &st)
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations for %d lines", f.ID, n, len(lines))
		}
	}
}

// TestTextLogCorpora checks how many lines of other people's logs are read.
func TestTextLogCorpora(t *testing.T) {
	for name, want := range map[string]struct {
		format           string
		urls, noURL, bad int64
	}{
		"../attack/crowdsec/aws-alb-http-bad-user-agent__aws-alb-http-bad-user-agent.log": {"aws-alb", 4, 0, 0},
		"aws/plaso_aws_elb_access.log": {"aws-alb", 10, 0, 6}, // four lines of a Classic and two of a Network Load Balancer
		"aws/webreadr_s3.log":          {"aws-s3", 6, 0, 0},
		"proxy/webreadr_log.squid":     {"squid", 121, 0, 0},
	} {
		in := readFile(t, corpora(t, filepath.Join("logs", name))[0])
		g, _ := Detect(in)
		if g.Format != want.format {
			t.Errorf("%s: detected as %+v", name, g)
		}
		_, _, st := runJob(t, newJob(t, Config{Format: want.format}), in)
		if st.URLs != want.urls || st.NoURL != want.noURL || st.Rejected != want.bad {
			t.Errorf("%s: %d URLs, %d lines without, %d rejected; want %+v", name, st.URLs, st.NoURL, st.Rejected, want)
		}
	}
}

// TestTextLogMessages checks as what the messages of logstash's pattern tests
// and the examples of Vector's parser are detected.
func TestTextLogMessages(t *testing.T) {
	got := map[string]int{}
	for line := range bytes.Lines(readFile(t, corpora(t, "logs/logstash_patterns_messages.jsonl")[0])) {
		var m struct{ Spec, Message string }
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		if g, ok := Detect([]byte(m.Message)); ok && slices.ContainsFunc(textlog.FixedLogs, func(f textlog.FixedLog) bool { return f.ID == g.Format }) {
			got[m.Spec+" "+g.Format]++
		}
	}
	// The others are a line that ends before the request, one of CloudFront, and
	// one of option tcplog.
	want := map[string]int{"aws aws-elb": 4, "aws aws-s3": 2, "haproxy haproxy": 7, "squid squid": 4}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	var doc struct{ Examples []struct{ Source string } }
	if err := json.Unmarshal(readFile(t, corpora(t, "logs/vrl/parse_aws_alb_log.json")[0]), &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.Examples {
		_, line, _ := strings.Cut(e.Source, `"`)
		line, _, _ = strings.Cut(line, "\n")
		if g, ok := Detect([]byte(strings.ReplaceAll(line, `\"`, `"`))); !ok || g.Format != "aws-alb" {
			t.Errorf("%s: detected as %+v", line, g)
		}
	}
}

// TestTextLogDocs checks that the page on formats has a row for each text
// log.
func TestTextLogDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/reference/access-logs.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range textlog.FixedLogs {
		row := "| `" + f.ID + "` | [" + f.Product + "](" + f.Reference + ") | " + f.URL + " | " + f.Escapes + " |\n"
		if !bytes.Contains(page, []byte(row)) {
			t.Errorf("docs/reference/access-logs.md lacks the row\n%s", row)
		}
	}
}

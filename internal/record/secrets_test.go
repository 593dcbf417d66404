package record

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/formats"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// secretValue is what no output may contain. "***" cannot be confused with it.
const secretValue = "sEcRet17"

// secretURL returns a URL that hides secretValue as a parameter named token, in one
// of many places and spellings.
func secretURL(of func(...string) string) string {
	name := of("token", "TOKEN", "tok%65n", "%2574oken", "a[token]", "a%5Btoken%5D", "token[]", "token%5B0%5D", "token[0][x]")
	value := secretValue + of("", "", "%26"+secretValue, "/"+secretValue, "="+secretValue)
	param := name + "=" + value
	nested := of("", "http://h/?", "http://h/?q=1&")
	switch of("plain", "once", "twice") {
	case "once":
		nested = url.QueryEscape(nested + strings.ReplaceAll(name, "%2574", "t") + "=" + secretValue)
		param = "u=" + nested
	case "twice":
		param = "u=" + url.QueryEscape(url.QueryEscape("http://h/?a[token]="+secretValue))
	case "plain":
		if nested != "" {
			param = "u=" + nested + name + "=" + secretValue
		}
	}
	end := of("", "&y=2", "&amp;y=2", "#f", "&u=http://x:"+secretValue+"@h/", "&u=http%3A%2F%2Fx%3A"+secretValue+"%40h%2F")
	before := of("?", "?x=1&", "?x=1&amp;", "?x=1;", "?&", "#", "#/login?", "#!x?a=1&", "?x#", ";", ";v=1;")
	if before[0] == ';' {
		param, end = name+"="+secretValue, of("", "/seg", ";w=2", "/seg?q=1")
	}
	return of("http://h", "HTTP://H", "http://u:"+secretValue+"@h", "http://[bad", "http://h:x", "//h", "", "https:\\\\h") + "/p" + before + param + end
}

// secretFormats are formats, with records that hold a URL, and secretValue in text
// besides.
var secretFormats = []struct {
	config Config
	record func(url string) string
}{
	{Config{Format: "lines"}, func(u string) string { return u }},
	{Config{Format: "lines", Base: "http://base.example/?token=" + secretValue}, func(u string) string { return u }},
	{Config{Format: "combined", Target: TargetAll}, combinedWith},
	{Config{Format: "combined", Target: TargetRequest}, combinedWith},
	{Config{Format: "combined", Target: TargetReferer}, combinedWith},
	{Config{Format: "combined"}, func(u string) string { return "unparsed " + u + " token=" + secretValue + ";" }},
	{Config{Format: "jsonl", URLField: "u"}, func(u string) string { return jsonWith(u) }},
	{Config{Format: "jsonl", URLField: "none"}, func(u string) string { return jsonWith(u) }},
	{Config{Format: "jsonl", URLField: "u"}, func(u string) string { return jsonWith(u) + " is not JSON" }},
	{Config{Format: "csv", URLField: "1"}, func(u string) string { return `"` + u + `","see token=` + secretValue + `"` }},
	{Config{Format: "tsv", URLField: "1"}, func(u string) string { return u + "\tsee token=" + secretValue }},
	{Config{Format: "logfmt"}, func(u string) string { return `url="` + u + `" msg="x&token=` + secretValue + `"` }},
	{Config{Format: "ltsv"}, func(u string) string { return "uri:" + u + "\tua:token=" + secretValue }},
	{Config{Format: "text"}, func(u string) string { return "see " + u + " and token=" + secretValue + " too" }},
	{Config{Format: "html"}, func(u string) string {
		return `<a href="` + u + `">x</a><a href='` + strings.ReplaceAll(u, "=", "&#61;") + `'>y</a>`
	}},
}

func combinedWith(u string) string {
	return `192.0.2.7 - - [02/Nov/2026:06:25:00 +0100] "GET ` + u + ` HTTP/1.1" 200 5 "` + u + `" "Bot (see ` + u + `) \x22token=` + secretValue + `\x22"`
}

func jsonWith(u string) string {
	a, _ := json.Marshal(u)
	return `{"u":` + string(a) + `,"ref":` + strings.ReplaceAll(string(a), "=", `\u003d`) + `,"msg":"a \"token=` + secretValue + `\" b"}`
}

// hiddenKinds are what a job hides: the values of the parameter token, or values that
// a pattern matches.
var hiddenKinds = []struct{ redact, value string }{
	{"", secretValue}, {"email", "jo.e+x@mail.example"}, {"ipv4", "192.0.2.7"}, {"ipv6", "2001:db8::77"},
	{"jwt", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJqb2UifQ.c2ln"}, {"/order-\\d+/", "order-4711"}, {"/(?i)Joe Doe/", "Joe Doe"},
}

// spelled returns a value as URLs spell it, with escapes of any depth.
func spelled(value string, of func(...string) string) string {
	var b strings.Builder
	for _, c := range []byte(value) {
		fmt.Fprintf(&b, "%%%02X", c)
	}
	all := b.String()
	once := url.QueryEscape(value)
	plain := strings.ReplaceAll(value, " ", "+")
	return of(plain, plain, strings.ReplaceAll(plain, "@", "%40"), once, url.QueryEscape(once), all, strings.ReplaceAll(all, "%", "%25"))
}

// hostWith returns the start of a URL whose host or user a pattern matches.
func hostWith(redact, value string) string {
	switch redact {
	case "email":
		return "http://" + value
	case "ipv6":
		return "http://[" + value + "]:80"
	}
	return "http://" + strings.ReplaceAll(value, " ", "+")
}

// reveals returns the part of out, or of base64 text in it, that holds a value, also
// in escapes.
func reveals(out, value string) string {
	for text := out; ; {
		if i := strings.Index(strings.ToLower(text), strings.ToLower(value)); i >= 0 {
			return text[max(0, i-80):]
		}
		before := text
		text = escapedByte.ReplaceAllStringFunc(text, func(s string) string {
			n, _ := strconv.ParseUint(s[len(s)-2:], 16, 8)
			return string(rune(n))
		})
		if strings.ReplaceAll(text, "+", " ") != text && strings.Contains(value, " ") {
			text = strings.ReplaceAll(text, "+", " ")
		}
		if text == before {
			break
		}
	}
	for _, m := range base64Text.FindAllString(out, -1) {
		if raw, err := base64.StdEncoding.DecodeString(m); err == nil && strings.Contains(string(raw), value) {
			return string(raw)
		}
	}
	return ""
}

var escapedByte = regexp.MustCompile(`(?:%|\\u00|\\x)[0-7][0-9A-Fa-f]`)

var base64Text = regexp.MustCompile(`[A-Za-z0-9+/]{8,}={0,2}`)

// TestSecretsEverywhere: no output, dead letter or field of any rendering has the
// value of a secret, or what a pattern matches, wherever it is in a record, also if
// the URL or the record cannot be parsed.
func TestSecretsEverywhere(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 2))
	of := func(list ...string) string { return list[rnd.IntN(len(list))] }
	profiles := []string{"equiv", "rfc3986", "logclean", "analytics"}
	renders := []Render{RenderRewrite, RenderJSONL, RenderTSV, RenderURLs, RenderKeys, RenderExtend, RenderParquet, RenderCSV}
	checked, masked := 0, 0
	for range 4000 {
		f := secretFormats[rnd.IntN(len(secretFormats))]
		c := f.config
		kind := hiddenKinds[rnd.IntN(len(hiddenKinds))]
		if c.Redact = []string{kind.redact}; kind.redact == "" {
			c.Secrets, c.Redact = []string{"Token"}, nil
		}
		c.Render, c.OnRejected = renders[rnd.IntN(len(renders))], DispositionPass+Disposition(rnd.IntN(2))
		c.Normalizer, c.Level = newNormalizer(t, profiles[rnd.IntN(len(profiles))]), codec.Level(rnd.IntN(4))
		switch {
		case c.Render.HasFields():
			c.Fields = FieldNames()
		case c.Render == RenderExtend:
			c.Extend = []Extension{{Name: "a1", Field: "norm"}, {Name: "a2", Field: "params"}, {Name: "a3", Field: "url"}, {Name: "a4", Field: "query"}}
		}
		if rnd.IntN(4) == 0 {
			c.Repairs = allRepairs
		}
		j, err := New(c)
		if err != nil {
			continue // the format has no such rendering
		}
		u := secretURL(of)
		if rnd.IntN(5) == 0 {
			u += "&x=\xff"
		}
		if kind.redact != "" {
			u = strings.ReplaceAll(u, secretValue, spelled(kind.value, of))
			if host := strings.TrimPrefix(u, "http://h/"); host != u && rnd.IntN(2) == 0 {
				u = hostWith(kind.redact, kind.value) + "/" + host
			}
		}
		text := strings.ReplaceAll(f.record(u)+"\n", secretValue, kind.value)
		masks := strings.Count(text, stars)
		out, dead, _ := runJob(t, j, []byte(text))
		for _, got := range []string{string(out), string(dead)} {
			if found := reveals(got, kind.value); found != "" {
				t.Fatalf("%s %s, %v, %v, rejected %v, repairs %v\nin  %q\nout %q\nreveals %q", kind.redact, c.Format, c.Render, c.Normalizer.Profile().Name, c.OnRejected, c.Repairs, text, got, found)
			}
			masked += strings.Count(got, stars) - masks
		}
		checked++
	}
	if checked < 2000 || masked < checked {
		t.Errorf("%d records, %d masks", checked, masked)
	}
}

// TestSecretsFixed: a masked normal form is its own normal form, and masked
// text stays as it is.
func TestSecretsFixed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 3))
	of := func(list ...string) string { return list[rnd.IntN(len(list))] }
	for i := range 7000 {
		kind := hiddenKinds[i%len(hiddenKinds)]
		c := Config{Format: "lines", Render: RenderURLs, Redact: []string{kind.redact}, Normalizer: newNormalizer(t, "equiv")}
		if kind.redact == "" {
			c.Secrets, c.Redact = []string{"token"}, nil
		}
		j := newJob(t, c)
		u := strings.ReplaceAll(secretURL(of), secretValue, spelled(kind.value, of))
		out, _, _ := runJob(t, j, []byte(u+"\n"))
		if again, _, _ := runJob(t, j, out); string(again) != string(out) {
			t.Fatalf("%q becomes %q, and then %q", u, out, again)
		}
	}
}

// TestSecretText masks text of unknown structure.
func TestSecretText(t *testing.T) {
	var s secrets
	s.set([][]byte{[]byte("token"), []byte("a b"), []byte("o[key]")})
	for in, want := range map[string]string{
		"x token=abc y": "x token=*** y", "mytoken=abc my_token=x my-token=y": "mytoken=abc my_token=x my-token=y", `"token=abc"`: `"token=***"`,
		`'token=a;b`: `'token=***;b`, "token=a&token=b": "token=***&token=***", "token%3Da%26b%3Dc&d": "token%3D***%26b%3Dc&d", "token=a%26b c": "token=*** c",
		"token%253Da%2526b": "token%253D***%2526b", `{"a":"\"token=x\""}`: `{"a":"\"token=***\""}`, `a\u0026token\u003dx\u0026b`: `a\u0026token\u003d***\u0026b`,
		"a+b=c a%20b=d": "a+b=*** a%20b=***", "o[key]=x o[other]=y token[1]=z": "o[key]=*** o[other]=y token[1]=***", "token = a": "token = a", "token": "token", "token=": "token=***",
		"%%%25 token=a%": "%%%25 token=***", `\`: `\`, `token=a\`: `token=***`, "token=<b>": "token=***<b>", strings.Repeat("x", 2000) + "&token=a": strings.Repeat("x", 2000) + "&token=***",
	} {
		if got := string(s.append(nil, []byte(in), inText)); got != want {
			t.Errorf("%.80q became %.80q, want %.80q", in, got, want)
		}
	}
}

// TestSecretCells: no mask goes beyond the cell of a table, and one in quotes ends
// where the quotes do.
func TestSecretCells(t *testing.T) {
	for _, c := range []Config{{Format: "csv", URLField: "2"}, {Format: "csv", URL: URLParts{Absolute: []string{"2"}}}} {
		c.Secrets, c.Normalizer = []string{"token"}, newNormalizer(t, "equiv")
		check(t, c, "1 token=a,HTTP://H,token=b,c\n", "1 token=***,http://h/,token=***,c\n")
		check(t, c, "\"token=a,b\",HTTP://H,\"x,token=a,b\"\r\n", "\"token=***\",http://h/,\"x,token=***\"\r\n")
		check(t, c, "http://x:80,http://h/,http://x:80,u@h,//u:p@h\n", "http://x:80,http://h/,http://x:80,u@h,//u:***@h\n")
		check(t, c, "\xef\xbb\xbf\"token=a,b\",HTTP://H,c\n", "\xef\xbb\xbf\"token=***\",http://h/,c\n")
		check(t, c, "token=a,,b\n", "token=***,,b\n")                                 // there is no URL
		check(t, c, "a,http://h/,token=a,\"b\"c\n", "a,http://h/,token=***,\"b\"c\n") // the last cell is not read
		check(t, c, "token=a,\"b\"c,d\n", "token=***\"b\"c,d\n")                      // text that is not read
		c.Format, c.Delimiter = "csv", "|"
		check(t, c, "1 token=a|HTTP://H|token=b|c\n", "1 token=***|http://h/|token=***|c\n")
	}
	c := Config{Format: "csv", URLField: "2", Secrets: []string{"token"}, Render: RenderExtend, Extend: []Extension{{Name: "n", Field: "norm"}}}
	check(t, c, "token=a,HTTP://H,b\n", "token=***,HTTP://H,b,http://h/\n")
	c.Render, c.Extend, c.Fields = RenderJSONL, nil, []string{"record"}
	check(t, c, "token=a,HTTP://H,b\n", `{"record":"token=***,HTTP://H,b"}`+"\n")
}

// TestSecretPieces: a secret that two pieces of an oversize record share is masked
// in both.
func TestSecretPieces(t *testing.T) {
	text := "http://h/?a=1&token=" + secretValue + secretValue + "&b=2 end\n"
	for cut := 1; cut < len(text)-1; cut++ {
		w := newJob(t, Config{Format: "lines", Secrets: []string{"token"}, MaxRecord: 10, Normalizer: newNormalizer(t, "equiv")}).NewWorker()
		var st Stats
		out, _ := w.Piece(nil, nil, []byte(text[:cut]), PieceFirst, Position{}, &st)
		out, _ = w.Piece(out, nil, []byte(text[cut:]), PieceLast, Position{Off: int64(cut)}, &st)
		if rest := string(out); strings.Contains(rest, "sEc") || strings.Contains(rest, "17") || !strings.Contains(rest, "http://h/?a=") && cut > 12 {
			t.Errorf("cut at %d: %q", cut, out)
		}
	}
}

// TestSecretFields: a mask in a field of a log ends where the field does, so that the
// masked record has the same fields, and those without a secret are unchanged.
func TestSecretFields(t *testing.T) {
	n := newNormalizer(t, "rfc3986")
	rnd := rand.New(rand.NewPCG(10, 4))
	of := func(list ...string) string { return list[rnd.IntN(len(list))] }
	const hidden = "token=" + secretValue
	literals := []string{"|", "]", " - ", ",", ";", ")", "~", "} {", " [", "::", "/*", "\"", "<>"}
	for range 3000 {
		at, kinds := rnd.IntN(4), rnd.Perm(4)
		layout, in, want := "", "", ""
		for i, k := range kinds {
			lit := of(literals...)
			value := of("x", "1.2.3.4", "a b", "-", "q=1")
			if k == 0 {
				value = "/a?b"
			}
			masked := value
			if i == at {
				value, masked = hidden, "token=***"
				if k == 0 {
					value, masked = "/a?"+hidden, "/a?token=***"
				}
			}
			if i == len(kinds)-1 {
				lit = of("", lit)
			}
			layout += []string{"%U", "%h", "%u", "%{X}i"}[k] + lit
			in, want = in+value+lit, want+masked+lit
		}
		c := Config{Format: layout, Dialect: "none", Secrets: []string{"token"}, Normalizer: n}
		if _, st := runJobStats(t, newJob(t, c), in); st.Rejected > 0 {
			continue // a value has the literal after it
		}
		check(t, c, in+"\n", want+"\n")
	}
	for _, f := range formats.Builtin {
		log, ok := f.(*textlog.FixedLog)
		if !ok {
			continue
		}
		j := newJob(t, Config{Format: log.ID, Secrets: []string{"token"}, Normalizer: n})
		split := func(line string) (fields []string) {
			l := j.reader.Locator().(*textlog.FixedLocator)
			l.Locate(&Found{}, []byte(line), nil)
			n, _ := l.Compiled[0].Split(l.Spans[:len(l.Compiled[0].Fields)], []byte(line), l.Marks, l.Cuts)
			for _, s := range l.Spans[:n] {
				fields = append(fields, line[s.Start:s.End])
			}
			return fields
		}
		checked, all := 0, split(log.Sample)
		for i := range all {
			at := strings.Index(log.Sample, all[i])
			line := log.Sample[:at] + hidden + log.Sample[at+len(all[i]):]
			before := split(line)
			if len(before) != len(all) || before[i] != hidden {
				continue // the field has another form than the others
			}
			out, _, _ := runJob(t, j, []byte(line+"\n"))
			after := split(strings.TrimSuffix(string(out), "\n"))
			before[i] = "token=***"
			if !slices.Equal(before, after) {
				t.Errorf("%s: %q became %q", log.ID, line, out)
			}
			checked++
		}
		if checked < 2 {
			t.Errorf("%s: %d fields checked of %q", log.ID, checked, all)
		}
	}
	for in, want := range map[string]string{
		"combined": `h token=X u [token=X] "GET / HTTP/1.1" 200 5 "-" "a"`, "syslog+combined": `<34>Oct 11 22:14:15 host token=X: h - - [token=X] "GET / HTTP/1.1" 200 5 "-" "a"`,
		"cef": `token=X CEF:0|token=X|p|1|token=X|n|5|request=/ token=X src=1.2.3.4`, "csv-pipe": `/a|token=X|b`, "compose+combined": `web-1 | h - - [token=X] "GET / HTTP/1.1" 200 5 "-" "a"`,
	} {
		c := Config{Format: in, Secrets: []string{"token"}, Normalizer: n}
		if in == "csv-pipe" {
			c.URLField = "1"
		}
		check(t, c, strings.ReplaceAll(want, "X", secretValue)+"\n", strings.ReplaceAll(want, "X", "***")+"\n")
	}
}

// TestSecretColumns is TestSecretFields for the formats whose fields end at a byte or a
// quote: the mask of a value ends with its field, wherever the field is and whatever
// follows the value in it.
func TestSecretColumns(t *testing.T) {
	n := newNormalizer(t, "rfc3986")
	for _, log := range []struct {
		config Config
		head   string
		line   []string // texts before, between and after the values
		values []string
	}{
		{Config{Format: "w3c"}, "#Fields: date time cs-uri-stem cs-uri-query c-ip cs(User-Agent) x-note\n",
			[]string{"", " ", " ", " ", " ", " ", " ", ""}, []string{"2026-11-28", "10:00:00", "/p", "q=1", "1.2.3.4", "agent", "note"}},
		{Config{Format: "w3c"}, "#Fields: date\ttime\tcs-uri-stem\tcs-uri-query\tx-note\n",
			[]string{"", "\t", "\t", "\t", "\t", ""}, []string{"2026-11-28", "10:00:00", "/p", "q=1", "note"}},
		{Config{Format: "ltsv"}, "", []string{"time:", "\treq:GET ", " HTTP/1.1\tua:", "\treferer:", "\tx:", ""},
			[]string{"28/Nov/2026:10:00:00 +0000", "/p", "agent", "http://r/", "y"}},
		{Config{Format: "logfmt", URLField: "url"}, "", []string{"ts=", " url=", ` msg="`, `" x=`, ` y="`, `"`}, []string{"1", "http://h/p", "a b", "y", "z"}},
		{Config{Format: "cdx"}, " CDX N b a m s k r M S V g\n", []string{"", " ", " ", " ", " ", " ", " ", " ", " ", " ", " ", ""},
			[]string{"com,h)/p", "20261128100000", "http://h/p", "text/html", "200", "A", "-", "-", "1", "2", "f"}},
		{Config{Format: "cdxj"}, "", []string{"", " ", ` {"url": "`, `", "x": "`, `", "mime": "`, `"}`}, []string{"com,h)/p", "20261128100000", "http://h/p", "y", "z"}},
		{Config{Format: "zeek"}, "#separator \\x09\n#fields\thost\turi\tuser_agent\tx\n", []string{"", "\t", "\t", "\t", ""}, []string{"h", "/p", "agent", "y"}},
		{Config{Format: "jsonl", URLField: "url"}, "", []string{`{"a":"`, `","url":"`, `","b":["`, `"],"c":{"d":"`, `"}}`}, []string{"x", "http://h/p", "y", "z"}},
		{Config{Format: "caddy"}, "", []string{`{"request":{"host":"`, `","uri":"`, `","method":"GET","headers":{"User-Agent":["`, `"]}},"msg":"`, `","status":200}`},
			[]string{"h", "/p", "agent", "m"}},
		{Config{Format: "tsv", URLField: "2"}, "", []string{"", "\t", "\t", ""}, []string{"a", "http://h/p", "b"}},
		{Config{Format: "csv", URLField: "2"}, "", []string{"", ",", `,"`, `",`, ""}, []string{"a", "http://h/p", "b", "c"}},
	} {
		c := log.config
		c.Secrets, c.Normalizer = []string{"token"}, n
		if c.Format == "csv" || c.Format == "tsv" {
			c.NoHeader = true
		}
		for i := range log.values {
			for _, shape := range []string{"token=X", "http://r/?token=X", "/p?a=b&token=X", "a=b;token=X", "token=X&a=b", "http%3A%2F%2Fr%2F%3Ftoken%3DX"} {
				var line strings.Builder
				line.WriteString(log.line[0])
				for k, value := range log.values {
					if k == i {
						value = shape
					}
					line.WriteString(value + log.line[k+1])
				}
				out, st := runJobStats(t, newJob(t, c), log.head+strings.ReplaceAll(line.String(), "X", secretValue))
				if want := log.head + strings.ReplaceAll(line.String(), "X", "***") + "\n"; out != want && strings.Contains(out, secretValue) || st.Rejected == 0 && out != want {
					t.Errorf("%s: %q in value %d: %q, want %q", c.Format, shape, i, strings.TrimPrefix(out, log.head), strings.TrimPrefix(want, log.head))
				}
			}
		}
	}
}

// runJobStats runs a job over a record.
func runJobStats(t *testing.T, j *Job, in string) (out string, st Stats) {
	t.Helper()
	text, _, st := runJob(t, j, []byte(in+"\n"))
	return string(text), st
}

package record

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
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

// reveals returns the part of out, or of base64 text in it, that holds the secret.
func reveals(out string) string {
	if i := strings.Index(strings.ToLower(out), strings.ToLower(secretValue)); i >= 0 {
		return out[max(0, i-80):]
	}
	for _, m := range base64Text.FindAllString(out, -1) {
		if raw, err := base64.StdEncoding.DecodeString(m); err == nil && strings.Contains(string(raw), secretValue) {
			return string(raw)
		}
	}
	return ""
}

var base64Text = regexp.MustCompile(`[A-Za-z0-9+/]{8,}={0,2}`)

// TestSecretsEverywhere: no output, dead letter or field of any rendering has the
// value of a secret, wherever it is in a record, also if the URL or the record
// cannot be parsed.
func TestSecretsEverywhere(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 2))
	of := func(list ...string) string { return list[rnd.IntN(len(list))] }
	profiles := []string{"equiv", "rfc3986", "logclean", "analytics"}
	renders := []Render{RenderRewrite, RenderJSONL, RenderTSV, RenderURLs, RenderKeys, RenderExtend, RenderParquet, RenderCSV}
	checked, masked := 0, 0
	for range 1200 {
		f := secretFormats[rnd.IntN(len(secretFormats))]
		c := f.config
		c.Secrets, c.Render, c.Divert = []string{"Token"}, renders[rnd.IntN(len(renders))], rnd.IntN(2) == 0
		c.Normalizer, c.Level = newNormalizer(t, profiles[rnd.IntN(len(profiles))]), codec.Level(rnd.IntN(4))
		switch {
		case c.Render.hasFields():
			c.Fields = FieldNames()
		case c.Render == RenderExtend:
			c.Extend = []Extension{{"a1", "norm"}, {"a2", "params"}, {"a3", "url"}, {"a4", "query"}}
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
		text := f.record(u) + "\n"
		out, dead, _ := runJob(t, j, []byte(text))
		for _, got := range []string{string(out), string(dead)} {
			if found := reveals(got); found != "" {
				t.Fatalf("%s, %v, %v, divert %v, repairs %v\nin  %q\nout %q\nreveals %q", c.Format, c.Render, c.Normalizer.Profile().Name, c.Divert, c.Repairs, text, got, found)
			}
			masked += strings.Count(got, stars)
		}
		checked++
	}
	if checked < 600 || masked < checked {
		t.Errorf("%d records, %d masks", checked, masked)
	}
}

// TestSecretsFixed: a masked normal form is its own, and masked text stays as it is.
func TestSecretsFixed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(10, 3))
	of := func(list ...string) string { return list[rnd.IntN(len(list))] }
	c := Config{Format: "lines", Render: RenderURLs, Secrets: []string{"token"}, Normalizer: newNormalizer(t, "equiv")}
	j := newJob(t, c)
	for range 3000 {
		u := secretURL(of)
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
	c := Config{Format: "csv", URLField: "2", Secrets: []string{"token"}, Render: RenderExtend, Extend: []Extension{{"n", "norm"}}}
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

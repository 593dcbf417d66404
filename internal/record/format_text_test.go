package record

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
)

// proseCases has lines of prose and the URLs in them, separated by spaces.
var proseCases = []struct{ line, want string }{
	// Alone, in sentences, at both ends of a line.
	{"http://example.com/", "http://example.com/"},
	{"see http://example.com/a for details", "http://example.com/a"},
	{"http://a.example/ and https://b.example/ and ftp://c.example/ and ws://d.example/ and wss://e.example/", "http://a.example/ https://b.example/ ftp://c.example/ ws://d.example/ wss://e.example/"},
	{"HTTP://EXAMPLE.COM/A", "HTTP://EXAMPLE.COM/A"},
	{"\thttp://example.com\t", "http://example.com"},
	{"no URL: here, 10:30, a::b, c:/d, e:\\f", ""},
	// Other schemes, and words before a scheme.
	{"sftp://h/ tftp://h/ news://h/ aws://h/ git+https://h/ file:///x mailto:a@b", ""},
	{"seehttp://example.com/a", "http://example.com/a"},
	{"x.http://h/ -http://h/ =http://h/ 见http://h/", "http://h/ http://h/ http://h/ http://h/"},
	{"(compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "http://www.google.com/bot.html"},
	{"view-source:http://h/a feed:https://h/b URL:http://h/c", "http://h/a https://h/b http://h/c"},
	// Punctuation after a URL.
	{"http://h/a. http://h/b, http://h/c; http://h/d: http://h/e! http://h/f? http://h/g...", "http://h/a http://h/b http://h/c http://h/d http://h/e http://h/f http://h/g"},
	{"Is it http://h/a?b=c? Or http://h/a.b.c, d?", "http://h/a?b=c http://h/a.b.c"},
	{"http://h/a/… http://h/b— http://h/c”, http://h/d’", "http://h/a/ http://h/b http://h/c http://h/d"},
	{"http://h: and http://h/?", "http://h http://h/"},
	{"http://h/#a http://h/# http://h/?a= http://h/a-", "http://h/#a http://h/# http://h/?a= http://h/a-"},
	// Brackets.
	{"(http://h/a) [http://h/b] {http://h/c} (see http://h/d).", "http://h/a http://h/b http://h/c http://h/d"},
	{"https://en.wikipedia.org/wiki/Foo_(bar) (https://en.wikipedia.org/wiki/Foo_(bar))", "https://en.wikipedia.org/wiki/Foo_(bar) https://en.wikipedia.org/wiki/Foo_(bar)"},
	{"http://h/a(b(c)d)e) http://h/a(b http://h/a)b(c", "http://h/a(b(c)d)e http://h/a http://h/a"},
	{"http://h/?filter[x]=1&y[]=2 http://h/?a[=1 http://h/([)]", "http://h/?filter[x]=1&y[]=2 http://h/?a http://h/"},
	{"http://h.example(comment) http://h.example[1] http://h.example)", "http://h.example http://h.example http://h.example"},
	// Quotes and delimiters; RFC 3986, appendix C.
	{"<http://h/a.> <URL:ftp://h/b;> \"http://h/c?\" 'http://h/d,' `http://h/e)`", "http://h/a. ftp://h/b; http://h/c? http://h/d, http://h/e)"},
	{"\"see http://h/a.\" 'see http://h/b.' it's http://h/it's", "http://h/a http://h/b http://h/it's"},
	{"http://h.example's page, 'http://h/a", "http://h.example http://h/a"},
	{"http://h/a\"b http://h/a<b http://h/a>b http://h/a\\b http://h/a^b http://h/a`b http://h/a{b http://h/a|b http://h/a}b", strings.Repeat("http://h/a ", 9)},
	{"“http://h/a” ‘http://h/b’ «http://h/c» „http://h/d“", "http://h/a http://h/b http://h/c http://h/d"},
	// Markup.
	{"[text](http://h/a) [t](http://h/b_(c) \"title\") ![i](http://h/d)x <http://h/e> [1]: http://h/f", "http://h/a http://h/b_(c) http://h/d http://h/e http://h/f"},
	{"**http://h/a** _http://h/b_ ~~http://h/c~~ *http://h/d*, `http://h/e`", "http://h/a http://h/b http://h/c http://h/d http://h/e"},
	{"[url]http://h/a[/url] [url=http://h/b]t[/url] [[http://h/c][t]] \\url{http://h/d}", "http://h/a http://h/b http://h/c http://h/d"},
	{`<a href="http://h/a">http://h/b</a> <img src='http://h/c'> <a href=http://h/d>`, "http://h/a http://h/b http://h/c http://h/d"},
	{"&lt;http://h/a&gt; &quot;http://h/b&quot; http://h/?a=1&amp;b=2 http://h/c&hellip; http://h/d&#39;", "http://h/a http://h/b http://h/?a=1&amp;b=2 http://h/c http://h/d"},
	{"> http://h/a\r", "http://h/a"},
	// Lists of URLs.
	{"http://a/,http://b/;https://c/, http://d/", "http://a/ http://b/ https://c/ http://d/"},
	{"http://a/x,y;z http://a/?u=http://b/,http://c/", "http://a/x,y;z http://a/?u=http://b/,http://c/"},
	{"http://web.archive.org/web/2020/http://example.com/", "http://web.archive.org/web/2020/http://example.com/"},
	{"http://a.example,b http://a.example;x http://a.example&y http://a.example=z", "http://a.example http://a.example http://a.example http://a.example"},
	// Escapes of JSON; the URL is that of the string.
	{`{"u":"http:\/\/h\/a?b=1\u0026c=2","v":"https://h/x"}`, `http://h/a?b=1&c=2 https://h/x`},
	{`"{\"u\":\"http://h/a\"}" \nhttp://h/b\n \tftp://h/c\u003e`, `http://h/a http://h/b ftp://h/c`},
	{`"http://h/\u00e9\ud83d\ude00\u3002x"`, `http://h/é😀`},
	// Hosts.
	{"http://[::1]/ http://[2001:db8::1]:8080/a, [http://[fe80::1%25eth0]/] http://[v1.a:b]", "http://[::1]/ http://[2001:db8::1]:8080/a http://[fe80::1%25eth0]/ http://[v1.a:b]"},
	{"http://192.0.2.1:80/ http://localhost http://u:p@h:81/a http://u@h, http://under_score.example/", "http://192.0.2.1:80/ http://localhost http://u:p@h:81/a http://u@h http://under_score.example/"},
	{"http://h:80: http://h:x http://h:80a", "http://h:80 http://h http://h:80a"},
	{"http:// http:///a http://. http://... http://) http://{host}/ http://%s/ http://[a] http://[::1 http://$h/", ""},
	// Beyond ASCII.
	{"http://bücher.example/straße?größe=ä#é.", "http://bücher.example/straße?größe=ä#é"},
	{"请看http://例子.测试/路径。然后（https://example.cn/a），「http://h/b」、http://h/c；", "http://例子.测试/路径 https://example.cn/a http://h/b http://h/c"},
	{"https://ja.wikipedia.org/wiki/ジョン・レノン　を見て", "https://ja.wikipedia.org/wiki/ジョン・レノン"},
	{"http://h/a\u00a0b http://h/c\u200bd http://h/e\u3000f http://h/g\ufeff http://h/h\u202e http://h/1939–1945", "http://h/a http://h/c http://h/e http://h/g http://h/h http://h/1939–1945"},
	{"http://مثال.إختبار/مسار، http://h/हिन्दी।", "http://مثال.إختبار/مسار http://h/हिन्दी"},
	{"http://h/\xe9t\xe9 http://h/%E9", "http://h/\xe9t\xe9 http://h/%E9"},
	// Logs and code.
	{`203.0.113.7 - - [22/Nov/2026:10:00:00 +0000] "GET /a HTTP/1.1" 200 5 "https://h/from" "bot (+https://h/bot)"`, "https://h/from https://h/bot"},
	{`{'url': 'http://h/a', "b": ["http://h/b","http://h/c"]}`, "http://h/a http://h/b http://h/c"},
	{"curl -o x http://h/a\x00http://h/b", "http://h/a http://h/b"},
	{"a=http://h/a&b http://user:pa$$@h/", "http://h/a&b http://user:pa$$@h/"},
}

// textURLs returns the URLs of a line, with their escapes undone.
func textURLs(l Locator, line string) []string {
	var f Found
	_, _ = l.Locate(&f, []byte(line), &Position{})
	var urls []string
	for _, s := range f.Sites[:f.N] {
		text, _, _ := s.Dialect.Unescape(nil, s.In([]byte(line)), nil)
		urls = append(urls, string(text))
	}
	return urls
}

func TestText(t *testing.T) {
	for _, c := range proseCases {
		if got := strings.Join(textURLs(textlog.ProseReader{}, c.line), " "); got != strings.TrimSpace(c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
}

// TestTextPositions checks that line and offset are those of the URL, and that
// a line can have any number of URLs.
func TestTextPositions(t *testing.T) {
	c := Config{Format: "text", Render: RenderTSV, Fields: []string{"line", "offset", "norm", "error"}, Normalizer: normalizers["equiv"]}
	in := "x\nsee http://H/a, http://h:x1/ http:\\/\\/H\\/b\n\nhttp://h:99999/\n"
	out, _, st := runJob(t, newJob(t, c), []byte(in))
	want := "2\t6\thttp://h/a\t\n2\t18\thttp://h/\t\n2\t31\thttp://h/b\t\n4\t46\t\tport-invalid\n"
	if string(out) != want || st.URLs != 4 || st.NoURL != 1 || st.Blank != 1 {
		t.Errorf("got\n%swant\n%s%+v", out, want, st)
	}
	c.Render, c.Fields = RenderURLs, nil
	out, _, st = runJob(t, newJob(t, c), []byte(strings.Repeat("http://h/ ", 1000)+"\n"))
	if string(out) != strings.Repeat("http://h/\n", 1000) || st.URLs != 1000 || st.Records != 1 {
		t.Errorf("got %d bytes, %+v", len(out), st)
	}
}

// TestTextConfig checks the settings that have no meaning for prose.
func TestTextConfig(t *testing.T) {
	for _, c := range []Config{
		{}, {Render: RenderExtend, Extend: []Extension{{Name: "n", Field: "norm"}}}, {Render: RenderURLs, Base: "http://h/"},
		{Render: RenderURLs, URLField: "url"}, {Render: RenderURLs, Dialect: "nginx"},
	} {
		c.Format, c.Normalizer = "text", normalizers["equiv"]
		if _, err := New(c); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
	if _, err := New(Config{Format: "text", Normalizer: normalizers["equiv"]}); err == nil || !strings.Contains(err.Error(), "use the output format urls, keys, jsonl, tsv or csv") {
		t.Errorf("the error does not say what to do: %v", err)
	}
}

// TestTextIsNotDetected checks that prose and lists of URLs are not detected as
// text.
func TestTextIsNotDetected(t *testing.T) {
	for in, want := range map[string]string{
		"http://h/a\nhttp://h/b\n":                                  "lines",
		"see http://h/a,\nand http://h/b, c\n":                      "",
		"Dear all,\n\nsee http://h/a.\n":                            "",
		"> http://h/a\n":                                            "",
		"<p>http://h/a</p>\n<!doctype html>\n":                      "",
		"<!-- x -->\n <!DOCTYPE\tHTML PUBLIC \"-//W3C//DTD\">\n<p>": "html",
		"\xEF\xBB\xBF<?xml version=\"1.0\"?>\n<HTML lang=en>":       "html",
		"<html5>":          "",
		"<!doctype htmlx>": "",
		"<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<!-- x -->\n<DL><p>\n": "html",
		"<!doctype html>":     "html",
		"<!-- <html> -->":     "",
		"<!doctype svg html>": "",
	} {
		if g, _ := Detect([]byte(in)); g.Format != want {
			t.Errorf("%q: detected %q, want %q", in, g.Format, want)
		}
	}
}

// FuzzText checks that every URL found lies in the line, begins with a scheme
// and has a host, that no two overlap, and that a URL is found again where it
// is alone in a line or between white space.
func FuzzText(f *testing.F) {
	for _, c := range proseCases {
		f.Add([]byte(c.line))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		last := 0
		for pos := 0; ; {
			s, ok := locate.FindURL(in, pos)
			if !ok {
				break
			}
			if s.Start < last || s.End <= s.Start || s.End > len(in) {
				t.Fatalf("%q: range %v after %d", in, s, last)
			}
			url := s.In(in)
			colon := bytes.IndexByte(url, ':')
			if colon < 0 || !locate.IsTextScheme(url[:colon]) || locate.SlashesAt(url, colon+1) == 0 || bytes.ContainsAny(url, " \t\n\"<>") {
				t.Fatalf("%q: %q is not a URL", in, url)
			}
			if utf8.Valid(in) && !utf8.Valid(url) {
				t.Fatalf("%q: %q ends within a character", in, url)
			}
			if again, ok := locate.FindURL(url, 0); !ok || again.Start != 0 {
				t.Fatalf("%q: %q alone is %v", in, url, again)
			}
			last, pos = s.End, s.End
		}
		verify(t, Config{Format: "text", Render: RenderJSONL, Fields: FieldNames(), Normalizer: normalizers["equiv"]}, in)
	})
}

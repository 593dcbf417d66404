package record

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

func TestRewrite(t *testing.T) {
	all := Config{Format: "combined", Target: TargetAll}
	f := func(c Config, request, referer, wantRequest, wantReferer string) {
		t.Helper()
		const a, b, z = `::1 - a [t] "`, `" 200 - "`, "\" \"x \"y\" \\\"\" 1\r\n"
		check(t, c, a+request+b+referer+z, a+wantRequest+b+wantReferer+z)
	}
	same := func(c Config, request, referer string) { t.Helper(); f(c, request, referer, request, referer) }
	f(all, "GET /a/./%7Eb%2f?q=%zz HTTP/1.1", "HTTP://H:80", "GET /a/~b%2F?q=%25zz HTTP/1.1", "http://h/")
	f(all, "GET  /a b  HTTP/1.1", "http://h/ ", "GET  /a%20b  HTTP/1.1", "http://h/%20")
	// The escapes of the log are decoded before the URL is parsed (SEMANTICS
	// D5, 44).
	f(all, `GET /\"\x22\\\t HTTP/1.1`, `http://h/\xE9`, `GET /%22%22%5C%09 HTTP/1.1`, `http://h/%E9`)
	f(Config{Format: "combined", Dialect: "nginx"}, `GET /\t\x5C HTTP/1.1`, ``, `GET /%5Ct%5C HTTP/1.1`, ``)
	f(Config{Format: "combined", Dialect: "none"}, `GET /\x22 HTTP/1.1`, ``, `GET /%5Cx22 HTTP/1.1`, ``)
	// A URL that is already in normal form keeps its bytes, however they are
	// escaped.
	same(all, `GET /\x41?a HTTP/1.1`, `-`)
	// An origin-form target is a path and never a host (RFC 9112 §3.2.1),
	// whatever the base.
	f(all, "GET //favicon.ico/../ HTTP/1.1", "", "GET // HTTP/1.1", "")
	same(Config{Format: "combined", Base: "https://b/c/d"}, "GET /a HTTP/1.1", "")
	f(all, "GET HTTP://H HTTP/1.1", "", "GET http://h/ HTTP/1.1", "")
	f(all, "GET /a/..", "", "GET /", "")
	for _, none := range []string{"-", "", "OPTIONS * HTTP/1.1", "CONNECT H:443 HTTP/1.1", `\x16\x03`, "GET %7e HTTP/1.1"} {
		same(all, none, "-")
	}
	// Only the selected URLs change.
	f(Config{Format: "combined"}, "GET /%7e HTTP/1.1", "HTTP://h", "GET /~ HTTP/1.1", "HTTP://h")
	f(Config{Format: "combined", Target: TargetReferer}, "GET /%7e HTTP/1.1", "HTTP://h", "GET /%7e HTTP/1.1", "http://h/")
	// A relative referer is resolved if there is a base.
	f(all, "-", "../%7e", "-", "../~")
	f(Config{Format: "combined", Target: TargetAll, Base: "http://b/c/d"}, "-", "../%7e", "-", "http://b/~")
	// A record whose URL cannot be parsed does not change.
	same(all, "GET http://[h/%7e HTTP/1.1", "-")
	f(Config{Format: "combined", Redact: []string{"passwords"}, Target: TargetAll}, "GET http://u:p@h/ HTTP/1.1", "http://u:p@[/", "GET http://u:***@h/ HTTP/1.1", "http://u:***@[/")

	check(t, Config{Format: "lines"}, "http://\"\u00e9;/", "http://xn--%22;-bja/")
	check(t, Config{Format: "lines"}, " \tHTTP://H \r\n\n \na b", " \thttp://h/ \r\n\n \na%20b")
	check(t, Config{Format: "jsonl", URLField: "u"}, `{"u":"HTTP:\/\/H\/\u00e9\"","x":1}`+"\n", `{"u":"http://h/%C3%A9%22","x":1}`+"\n")
	check(t, Config{Format: "jsonl", URLField: "u"}, `{"u":"http:\/\/h\/"}`, `{"u":"http:\/\/h\/"}`)
	check(t, Config{Format: `escape=json {"u":"$request_uri"}`}, `{"u":"/\u0022\"é"}`, `{"u":"/%22%22%C3%A9"}`)
}

func TestJSONL(t *testing.T) {
	f := func(c Config, in, want string) {
		t.Helper()
		c.Render = RenderJSONL
		check(t, c, in, want)
	}
	k0 := Config{Format: "lines", Normalizer: newNormalizer(t, "rfc3986"), Level: codec.LevelSyntax}
	f(k0, "HTTP://u:p@H:81/a%2f?#\n", `{"url":"HTTP://u:p@H:81/a%2f?#","norm":"http://u:p@h:81/a%2F?#","key":"`+keyHex(t, codec.LevelSyntax, "http://u:p@h:81/a%2F?#")+`","level":"syntax","change":"cosmetic","flags":["lower-hex","credentials"],`+
		`"diagnostics":[{"flag":"credentials","at":7,"component":"username","action":"kept"},{"flag":"lower-hex","at":17,"component":"path","action":"recased"}],"scheme":"http","username":"u","host":"h","port":"81","path":"/a%2F","query":"","fragment":""}`+"\n")
	f(Config{Format: "lines", Fields: []string{"url", "norm"}}, "/\xe9\n", `{"url_b64":"L+k=","norm":"/%E9"}`+"\n")
	f(Config{Format: "lines", Fields: []string{"url", "norm"}}, "/\"\x01é\u2028\n", `{"url":"/\"\u0001é`+"\u2028"+`","norm":"/%22%01%C3%A9%E2%80%A8"}`+"\n")
	// The error is written even if it is not selected. Fields that need a
	// normal form are absent.
	f(Config{Format: "lines", Fields: []string{"norm", "key", "change", "host"}}, "http://[x/\n", `{"error":"host-invalid","at":7}`+"\n")

	const head, tail = `h - - [t] "`, `" 200 1 "`
	fields := []string{"url", "norm", "diagnostics", "scheme", "host", "target", "method", "form", "line", "file"}
	f(Config{Format: "combined", Target: TargetAll, Fields: fields}, head+`GET //\"#x HTTP/1.1`+tail+"b/c\" \"\"\n",
		`{"url":"//\"#x","norm":"//%22#x","diagnostics":[{"flag":"raw-illegal","at":2,"component":"path","action":"encoded"},{"flag":"fragment-in-request","at":3,"component":"fragment","action":"kept"}],"target":"request","method":"GET","form":"origin","line":1,"file":"f"}`+"\n"+
			`{"url":"b/c","norm":"b/c","diagnostics":[],"target":"referer","line":1,"file":"f"}`+"\n")
	f(Config{Format: `"$http_referer" "$request"`, Target: TargetAll, Fields: []string{"url"}}, `"http://r/" "GET /a"`, "{\"url\":\"/a\"}\n{\"url\":\"http://r/\"}\n")
	f(Config{Format: "combined", Base: "https://B/x", Fields: []string{"url", "norm", "host", "change", "rfc"}}, head+"GET //a^ HTTP/1.1"+tail,
		`{"url":"//a^","norm":"https://b//a%5E","host":"b","change":"cosmetic","rfc":"invalid"}`+"\n")
	// record_at is an offset in the raw record, where \x5C stands for one byte
	// of the URL.
	f(Config{Format: "combined", Fields: []string{"diagnostics", "record", "offset"}}, head+`GET /\x5C%zz HTTP/1.1`+tail,
		`{"diagnostics":[{"flag":"raw-backslash","at":1,"record_at":16,"component":"path","action":"encoded"},{"flag":"non-hex","at":2,"record_at":20,"component":"path","action":"encoded"}],"record":"h - - [t] \"GET /\\x5C%zz HTTP/1.1\" 200 1 \"","offset":0}`+"\n")
	f(Config{Format: "combined"}, "x\xff\r\n", `{"error":"unparsed","at":0,"record_b64":"eP8=","file":"f","line":1}`+"\n")
	f(Config{Format: "jsonl", URLField: "u"}, "{}\n", `{"error":"field-missing","record":"{}","file":"f","line":1}`+"\n")
	f(Config{Format: "lines", Redact: []string{"passwords"}, Fields: []string{"url", "norm", "record", "syntax"}}, "//u:p@H/ http://x:y@z\n",
		`{"url":"//u:***@H/ http://x:***@z","norm":"//u:***@h/%20http://x:***@z","record":"//u:***@H/ http://x:***@z","syntax":"//u:***@h/%20http://x:***@z"}`+"\n")
}

// TestRedactEscaped checks that Redact hides passwords in escaped URLs.
func TestRedactEscaped(t *testing.T) {
	c := Config{Format: "jsonl", URLField: "u", Redact: []string{"passwords"}, Fields: []string{"record"}, Render: RenderJSONL}
	check(t, c, `{"u":"http:\u002f/u:p\"w\u0040h","v":"//a:b@c"}`, `{"record":"{\"u\":\"http://u:***@h\",\"v\":\"//a:***@c\"}"}`+"\n")
	c.Render, c.Fields = RenderRewrite, nil
	check(t, c, `{"u":"http:\u002f/u:p\u0040[","v":"//a:b@c"}`, `{"u":"http://u:***@[","v":"//a:***@c"}`)
	c.OnRejected = DispositionDead
	_, dead, _ := runJob(t, newJob(t, c), []byte(`{"u":"http:\u002f/u:p\u0040["}`))
	if !strings.Contains(string(dead), `"record":"{\"u\":\"http://u:***@[\"}"`) {
		t.Errorf("%s", dead)
	}
}

// keyHex returns the key of a canonical string, using only the codec.
func keyHex(t *testing.T, lv codec.Level, url string) string {
	t.Helper()
	var r codec.Result
	n := newNormalizer(t, "rfc3986")
	_, err := n.Append(nil, []byte(url), &r)
	if err != nil {
		t.Fatal(err)
	}
	return r.Key(lv).String()
}

// TestKeyForm checks that the field key and the rendering keys follow KeyForm.
func TestKeyForm(t *testing.T) {
	c := Config{Format: "lines", KeyForm: codec.KeyBase32, Render: RenderKeys}
	out, _, _ := runJob(t, newJob(t, c), []byte("http://h/\n"))
	text, _, _ := strings.Cut(string(out), "\t")
	k, err := codec.KeyBase32.Parse([]byte(text))
	if err != nil || k.String() != keyHex(t, codec.LevelEquivalent, "http://h/") {
		t.Errorf("%q: %v, %v", out, k, err)
	}
	c.Render, c.Fields = RenderTSV, []string{"key"}
	check(t, c, "http://h/", text+"\n")
	c.Render = RenderJSONL
	check(t, c, "http://h/", `{"key":"`+text+`"}`+"\n")
}

// TestKeyWithoutHost checks that a target with an unknown host has the key of a
// relative reference, and not that of a URL with the placeholder as host or,
// with "//", with a host from its path.
func TestKeyWithoutHost(t *testing.T) {
	key := func(format, in string) string {
		t.Helper()
		out, _, _ := runJob(t, newJob(t, Config{Format: format, Render: RenderKeys}), []byte(in))
		k, _, _ := strings.Cut(string(out), "\t")
		return k
	}
	req := func(target string) string { return key(`"$request"`, `"GET `+target+`"`) }
	if req("/a/./b") != req("/a/b") || req("/a") != key("lines", "/a") {
		t.Error("the key of a target is not that of the relative reference")
	}
	if req("/a") == key("lines", "http://h/a") || req("//h/a") == key("lines", "//h/a") || req("//h/a") == req("/h/a") {
		t.Error("a target has the key of something else")
	}
}

func TestOtherRenders(t *testing.T) {
	in := "HTTP://H\n\nhttp://[x\n/\xe9\ta\n"
	check(t, Config{Format: "lines", Render: RenderURLs}, in, "http://h/\n/%E9%09a\n")
	check(t, Config{Format: "lines", Render: RenderTSV, Fields: []string{"norm", "url", "host", "flags"}}, in, "http://h/\tHTTP://H\th\t\n/%E9%09a\t/\xe9\\ta\t\traw-control,raw-non-ascii,relative\n")
	check(t, Config{Format: "lines", Render: RenderTSV, Fields: []string{"error", "line", "diagnostics"}}, in, "\t1\t\nhost-invalid\t3\traw-illegal@7\n\t4\traw-non-ascii@1,raw-control@2\n")
	check(t, Config{Format: "combined", Render: RenderTSV, Fields: []string{"error", "line", "record", "file", "norm"}}, "a\tb\\\n", "unparsed\t1\ta\\tb\\\\\tf\t\n")
	check(t, Config{Format: "combined", Render: RenderTSV, Fields: []string{"line", "record"}}, "x\n", "")
	check(t, Config{Format: `"$request"`, Render: RenderTSV, Fields: []string{"diagnostics"}}, `"GET /#%zz"`, "fragment-in-request@1,non-hex@2\n")

	out, _, st := runJob(t, newJob(t, Config{Format: "lines", Render: RenderKeys}), []byte(in))
	lines := strings.Split(string(out), "\n")
	if len(lines) != 3 || len(lines[0]) != 32+len("\thttp://h/") || st.Dropped != 2 || st.Emitted != 2 || st.Rejected != 1 || st.Blank != 1 {
		t.Errorf("%q %+v", out, st)
	}
}

func TestDivert(t *testing.T) {
	for _, r := range []Render{RenderRewrite, RenderJSONL, RenderURLs} {
		c := Config{Format: "combined", Target: TargetAll, OnRejected: DispositionDead, Render: r}
		if r == RenderJSONL {
			c.Redact = []string{"passwords"}
		}
		in := `h - - [t] "GET /%7e HTTP/1.1" 200 1 "http://u:p@[/" ""` + "\n" + "x\xff\n"
		out, dead, st := runJob(t, newJob(t, c), []byte(in))
		if len(out) != 0 || st.Dead != 2 || st.Rejects[codec.ErrHostInvalid] != 1 || st.Rejects[Unparsed] != 1 {
			t.Errorf("%v: %q %+v", r, out, st)
		}
		var got struct {
			Reason, File, Record string
			At, Line, Offset     int
		}
		line, rest, _ := strings.Cut(string(dead), "\n")
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		want := strings.SplitAfter(in, "\n")[0]
		if len(c.Redact) > 0 {
			want = strings.Replace(want, "u:p", "u:***", 1)
		}
		if got.Reason != "host-invalid" || got.File != "f" || got.Line != 1 || got.Offset != 0 || got.Record != want || got.At != strings.Index(in, "[/") {
			t.Errorf("%v: %s", r, line)
		}
		if want := `{"reason":"unparsed","at":0,"file":"f","line":2,"offset":55,"record_b64":"eP8K"}` + "\n"; rest != want {
			t.Errorf("%v: got %s, want %s", r, rest, want)
		}
	}
}

// TestCSV checks the quoting of RFC 4180, and that an absent field differs from
// an empty one.
func TestCSV(t *testing.T) {
	c := Config{Format: "lines", Render: RenderCSV, Fields: []string{"url", "query", "error"}}
	check(t, c, "http://h/?a,\"b\"\nhttp://h/?\nhttp://h/\nhttp://[\n", "\"http://h/?a,\"\"b\"\"\",\"a,%22b%22\",\nhttp://h/?,\"\",\nhttp://h/,,\nhttp://[,,host-invalid\n")
	if header := string(newJob(t, c).Header()); header != "url,query,error\n" {
		t.Errorf("header %q", header)
	}
	c.Render = RenderTSV
	if header := string(newJob(t, c).Header()); header != "url\tquery\terror\n" {
		t.Errorf("header %q", header)
	}
	c.Render, c.Fields = RenderURLs, nil
	if header := newJob(t, c).Header(); header != nil {
		t.Errorf("header %q", header)
	}
}

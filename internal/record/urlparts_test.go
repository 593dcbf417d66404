package record

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
)

// composedJSON is a configuration of jsonl with a composed URL.
var composedJSON = Config{Format: "jsonl", URL: URLParts{
	Absolute: []string{"url"}, Scheme: []string{"scheme"}, Host: []string{"host", "req.vhost"}, Port: []string{"port"},
	Path: []string{"req.uri", "path"}, Query: []string{"query"},
}}

// TestComposedZone checks that an IPv6 address with a zone is one, and that its field
// keeps the notation of the log. Browsers do not parse such an address.
func TestComposedZone(t *testing.T) {
	profile, _ := codec.Lookup("rfc3986")
	n, err := codec.New(profile)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{"FE80::1%Eth0": "fe80::1%eth0", "FE80::1%25Eth0": "fe80::1%25eth0", "[FE80::1%25Eth0]": "[fe80::1%25eth0]"} {
		c := composedJSON
		c.Normalizer = n
		check(t, c, `{"host":"`+host+`","path":"/%7e"}`+"\n", `{"host":"`+want+`","path":"/~"}`+"\n")
		c.Render, c.Fields = RenderTSV, []string{"norm"}
		check(t, c, `{"host":"`+host+`","path":"/%7e"}`+"\n", "http://[fe80::1%25eth0]/~\n")
	}
}

// TestComposedJSON checks how the parts of a URL are found, and how they are
// written back.
func TestComposedJSON(t *testing.T) {
	f := func(rec, norm, rewritten string) {
		t.Helper()
		c := composedJSON
		c.Render, c.Fields = RenderTSV, []string{"norm"}
		check(t, c, rec+"\n", strings.TrimSuffix(norm, "\n")+"\n")
		c.Render, c.Fields = RenderRewrite, nil
		check(t, c, rec+"\n", rewritten+"\n")
		check(t, c, rewritten+"\n", rewritten+"\n")
	}
	same := func(rec, norm string) {
		t.Helper()
		f(rec, norm, rec)
	}
	// Which fields are used.
	same(`{"url":"http://a.example/x","host":"b.example","path":"/y"}`, "http://a.example/x")
	same(`{"url":"","scheme":"https","host":"b.example","path":"/y"}`, "https://b.example/y")
	same(`{"url":"-","scheme":"https","host":null,"req":{"vhost":"v.example","uri":"/u"},"path":"/y"}`, "https://v.example/u")
	same(`{"scheme":"https","host":"b.example","port":8443,"path":"/y"}`, "https://b.example:8443/y")
	same(`{"scheme":"https","host":"b.example","port":"443","path":"/y"}`, "https://b.example/y")
	same(`{"host":"b.example","port":443,"path":"/y"}`, "https://b.example/y")
	same(`{"host":"b.example:8080","port":80,"path":"/y"}`, "http://b.example:8080/y")
	same(`{"path":"/y"}`, "/y")
	same(`{"host":"a/b","path":"/y"}`, "/y")
	same(`{"host":"[2001:db8::1]","path":"/y"}`, "http://[2001:db8::1]/y")
	same(`{"host":"2001:db8::1","path":"/y"}`, "http://[2001:db8::1]/y")
	same(`{"scheme":"https","host":"2001:db8::1","port":8443,"path":"/y"}`, "https://[2001:db8::1]:8443/y")
	f(`{"host":"2001:DB8:0::1","path":"/%7e"}`, "http://[2001:db8::1]/~", `{"host":"2001:db8::1","path":"/~"}`)
	same(`{"host":"b.example","path":"http://c.example/"}`, "http://c.example/")
	// Absent differs from empty.
	same(`{"scheme":"http","host":"h","path":"/y","query":"a=b"}`, "http://h/y?a=b")
	same(`{"scheme":"http","host":"h","path":"/y","query":"?a=b"}`, "http://h/y?a=b")
	same(`{"scheme":"http","host":"h","path":"/y","query":""}`, "http://h/y")
	same(`{"scheme":"http","host":"h","path":"/y","query":"-"}`, "http://h/y")
	same(`{"scheme":"http","host":"h","path":"/y","query":null}`, "http://h/y")
	same(`{"scheme":"http","host":"h","path":"/y","query":"?"}`, "http://h/y?")
	same(`{"scheme":"http","host":"h","path":"/y?a=b","query":"a=b"}`, "http://h/y?a=b")
	// Each part is written into its own field, in the order of the record.
	f(`{"query":"%7e","path":"/a/../b","n":1,"host":"B.Example:80","scheme":"HTTP"}`, "http://b.example/b?~",
		`{"query":"~","path":"/b","n":1,"host":"b.example","scheme":"http"}`)
	f(`{"path":"\/%7e","query":"?\u0025\u0037e","host":"h"}`, "http://h/~?~", `{"path":"/~","query":"?~","host":"h"}`)
	f(`{"host":"\u0042","path":"/","scheme":"http"}`, "http://b/", `{"host":"b","path":"/","scheme":"http"}`)
	f(`{"host":"B","port":"80","path":"/","scheme":"http"}`, "http://b/", `{"host":"b","port":"80","path":"/","scheme":"http"}`)
	// Without a scheme the port stays, because the scheme is guessed from it.
	f(`{"host":"B:443","path":"/"}`, "https://b/", `{"host":"b:443","path":"/"}`)
	f(`{"url":"HTTP://A/%7e","host":"B","path":"/"}`, "http://a/~", `{"url":"http://a/~","host":"B","path":"/"}`)
}

// TestComposedTable checks how the parts of a URL are found in the columns of a
// table, and how they are written back.
func TestComposedTable(t *testing.T) {
	c := Config{Format: "csv", URL: URLParts{
		Absolute: []string{"url"}, Scheme: []string{"scheme"}, Host: []string{"vhost", "host"}, Port: []string{"port"}, Path: []string{"path"}, Query: []string{"query"},
	}}
	const head = "id,query,host,path,port,scheme,x\n" // without two of the alternatives
	c.URL.Absolute = nil
	f := func(rec, norm, rewritten string) {
		t.Helper()
		c.Render, c.Fields = RenderTSV, []string{"norm"}
		check(t, c, head+rec+"\n", norm+"\n")
		c.Render, c.Fields = RenderRewrite, nil
		check(t, c, head+rec+"\n", head+rewritten+"\n")
		check(t, c, head+rewritten+"\n", head+rewritten+"\n")
	}
	f("1,a=%7e,B.Example,/a/../b,443,,x", "https://b.example/b?a=~", "1,a=~,b.example,/b,443,,x")
	f(`1,"a=""%7e","B.Example",/b,,HTTPS,x`, "https://b.example/b?a=%22~", `1,"a=%22~","b.example",/b,,https,x`)
	f(`1,"a=1,%7e",b,/b,8080,http,x`, "http://b:8080/b?a=1,~", `1,"a=1,~",b,/b,8080,http,x`)
	f("1,-,-,/%7e?,,,x", "/~?", "1,-,-,/~?,,,x")
	f("1,a,-,/%7e?b,,,x", "/~?b", "1,a,-,/~?b,,,x")
	f("1,?,h,/%7e,,http,x", "http://h/~?", "1,?,h,/~,,http,x")

	c.Render, c.Extend = RenderExtend, []Extension{{Name: "n", Field: "norm"}}
	check(t, c, head+"1,q,B,/,,http,x\n", "id,query,host,path,port,scheme,x,n\n1,q,B,/,,http,x,http://b/?q\n")
	j := newJob(t, Config{Format: "tsv", URL: URLParts{Path: []string{"pth", "2"}, Host: []string{"hots"}}})
	if err := j.CheckHead([]byte("host\tpath\n")); err == nil || err.Error() != `no column "hots" in the header, for host (did you mean "host"?)` {
		t.Error(err)
	}
	check(t, Config{Format: "tsv", URL: URLParts{Path: []string{"2"}, Host: []string{"1"}}}, "H\t/%7e\n\"H\"\t/%7e", "h\t/~\n\"h\"\t/~")
}

// TestComposedRejects checks records without a URL and malformed ones.
func TestComposedRejects(t *testing.T) {
	f := func(rec string, want Reason, noURL int64) {
		t.Helper()
		out, _, st := runJob(t, newJob(t, composedJSON), []byte(rec))
		if string(out) != rec || st.NoURL != noURL || want != 0 && st.Rejects[want] != 1 || want == 0 && st.Rejected != 0 {
			t.Errorf("%q became %q: %+v", rec, out, st)
		}
	}
	f(`{"path":null}`, 0, 1)
	f(`{"path":"*","host":"h"}`, 0, 1)
	f(`{"path":""}`, 0, 1)
	f(`{"host":"h"}`, NoField, 0)
	f(`{"path":{}}`, NoField, 0)
	f(`[]`, NoField, 0)
	f(`{"path":"/a"`, Unparsed, 0)
	f(`{"path":"/a`, Unparsed, 0)
	f(`{"path":"/a"} x`, Unparsed, 0)
}

// TestComposedUnwritten checks that a record stays unchanged, and is counted, if
// its fields cannot hold the parts of the normal form.
func TestComposedUnwritten(t *testing.T) {
	for _, rec := range []string{
		`{"host":"B","path":"/%7e","query":"%2d"}`,   // "-" would mean that there is no query
		`{"host":"B","path":"/a#%7e","query":"%7e"}`, // the query belongs to the fragment
	} {
		out, _, st := runJob(t, newJob(t, composedJSON), []byte(rec))
		if string(out) != rec || st.Unwritten != 1 {
			t.Errorf("%q became %q, %d unwritten", rec, out, st.Unwritten)
		}
	}
}

// TestComposedExtend checks that the added fields are those of the composed
// URL, wherever its parts are.
func TestComposedExtend(t *testing.T) {
	c := composedJSON
	c.Render, c.Extend = RenderExtend, []Extension{{Name: "n", Field: "norm"}}
	check(t, c, `{"host":"B","query":"x","path":"/%7e"}`, `{"host":"B","query":"x","path":"/%7e","n":"http://b/~?x"}`)
}

// TestComposedErrors checks the errors for invalid parts.
func TestComposedErrors(t *testing.T) {
	f := func(c Config, want string) {
		t.Helper()
		c.Normalizer = newNormalizer(t, "equiv")
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	path := URLParts{Path: []string{"p"}}
	f(Config{Format: "jsonl", URL: URLParts{Host: []string{"h"}}}, "must name a field for absolute or for path")
	f(Config{Format: "jsonl", URL: path, URLField: "u"}, "cannot be combined with the URL field")
	f(Config{Format: "jsonl", URL: path, BaseField: "u"}, "cannot be combined with a base field")
	f(Config{Format: "jsonl", URL: path, Base: "https://{host}/"}, "no host for the base URL")
	f(Config{Format: "jsonl", URL: URLParts{Path: []string{"a[x"}}}, "invalid field path")
	f(Config{Format: "jsonl", URL: URLParts{Path: []string{""}}}, "empty name of a field for path")
	f(Config{Format: "combined", URL: path}, "can be composed only of the fields")
}

// TestJSONLogExtend checks that fields are added to each record of a line.
func TestJSONLogExtend(t *testing.T) {
	c := Config{Format: "azure-front-door", Render: RenderExtend, Extend: []Extension{{Name: "n", Field: "norm"}, {Name: "s", Field: "status"}}}
	check(t, c, `{"records":[{"properties":{"requestUri":"http://H/","httpStatusCode":"200"},"n":1} , {}]}`+"\n",
		`{"records":[{"properties":{"requestUri":"http://H/","httpStatusCode":"200"},"n":"http://h/","s":200} , {}]}`+"\n")
	c.Extend = []Extension{{Name: "l", Field: "line"}}
	check(t, c, `{"records":[{"a":1},{ }]}`+"\n", `{"records":[{"a":1,"l":1},{"l":2 }]}`+"\n")
	check(t, c, "{}\n", `{"l":1}`+"\n")
}

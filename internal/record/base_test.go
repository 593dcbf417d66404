package record

import (
	"bytes"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// hostValues maps values of a host field to the host in the base. The host is
// empty for values that would change the host of the base, or leave it without
// one.
var hostValues = []struct{ value, host string }{
	{"Example.com", "example.com"}, {"h:8443", "h:8443"}, {"[::1]:80", "[::1]:80"}, {"2001:DB8::1", "[2001:db8::1]"}, {"1.2.3.4", "1.2.3.4"}, {"h:443", "h"},
	{"", ""}, {"-", ""}, {"_", ""},
	{"evil/", ""}, {"evil/x", ""}, {"a@evil", ""}, {"a:b@evil", ""}, {"evil?", ""}, {"evil#", ""}, {`evil\`, ""}, {"h evil", ""}, {"h\tx", ""}, {"h\nx", ""},
	{"h:", ""}, {"h:x", ""}, {"h:1:2", ""}, {":80", ""}, {":::1", ""}, {"::1/", ""}, {"::1@", ""}, {"[::1", ""}, {"[::1]x", ""}, {"h:99999", ""}, {"1.2.3.256", ""}, {"evil%2Fx", ""}, {"/", ""}, {"//evil", ""},
	{"http://evil", ""}, {"{host}", ""}, {"[x]", ""}, {"evil\uFF0Fx", ""}, {"evil\u2100", ""},
}

func TestBaseTemplate(t *testing.T) {
	for _, tt := range hostValues {
		want := "/a"
		if tt.host != "" {
			want = "https://" + tt.host + "/a"
		}
		f := func(c Config, in string) {
			t.Helper()
			c.Render, c.Normalizer, c.Base = RenderURLs, newNormalizer(t, "logclean"), "https://{host}/x/y"
			check(t, c, in+"\n", want+"\n")
		}
		f(Config{Format: "jsonl", URLField: "u"}, `{"host":"`+string(locate.AppendString(nil, []byte(tt.value)))+`","u":"/a"}`)
		f(Config{Format: "jsonl", URLField: "u"}, `{"u":"/a","host":"`+string(locate.AppendASCIIString(nil, []byte(tt.value)))+`"}`)
		if !strings.Contains(tt.value, "\n") {
			check(t, Config{Format: "csv", URLField: "2", Base: "https://{1}/x/y", Render: RenderURLs, Normalizer: newNormalizer(t, "logclean")},
				string(locate.CellDialect.Escape(nil, []byte(tt.value), ','))+",/a\n", want+"\n")
		}
	}
}

func TestBaseTemplateForms(t *testing.T) {
	f := func(c Config, in, want string) {
		t.Helper()
		c.Render = RenderURLs
		check(t, c, in, want)
	}
	j := Config{Format: "jsonl", URLField: "u", Base: "https://{h.name}"}
	f(j, `{"u":"/a","h":{"name":"x"}}`+"\n", "https://x/a\n")
	// Without the field, or with a value of another type, there is no base.
	f(j, `{"u":"/a"}`+"\n"+`{"u":"/a","h":1}`+"\n"+`{"u":"/a","h":{"name":1}}`+"\n"+`{"u":"/a","h":{"name":null}}`+"\n", "/a\n/a\n/a\n/a\n")
	// A record that is not valid JSON is rejected here too.
	_, _, st := runJob(t, newJob(t, j), []byte(`{"h":tru,"u":"/a"}`))
	if st.Rejects[Unparsed] != 1 {
		t.Errorf("%+v", st)
	}
	// The record's own base takes precedence.
	f(Config{Format: "jsonl", URLField: "u", BaseField: "b", Base: "https://{h}"}, `{"u":"/a","h":"x","b":"http://b"}`+"\n"+`{"u":"/a","h":"x"}`+"\n", "http://b/a\nhttps://x/a\n")
	f(Config{Format: "csv", URLField: "u", Base: "https://{Host Name}"}, "u,Host Name\n/a,\"x\"\n/b,\n", "https://x/a\n/b\n")
	// The field is a part of the host, or precedes a port.
	part := Config{Format: "jsonl", URLField: "u", Base: "https://www.{h}.example:81/?q"}
	f(part, `{"u":"a","h":"x"}`+"\n"+`{"u":"a","h":"evil:80"}`+"\n"+`{"u":"a","h":"evil:80#"}`+"\n", "https://www.x.example:81/a\na\na\n")
	f(Config{Format: "jsonl", URLField: "u", Base: "https://{h}:81"}, `{"u":"a","h":"x:1"}`+"\n", "a\n")
	// An absolute URL needs no base, whether the base is valid or not.
	w := j
	w.Normalizer, w.Level = newNormalizer(t, "crawler"), codec.LevelFetch
	f(w, `{"u":"HTTP://Y:80","h":{"name":"h:99999"}}`+"\n", "http://y/\n")
	_, _, st = runJob(t, newJob(t, w), []byte(`{"u":"/a","h":{"name":"h:99999"}}`+"\n"))
	if st.Rejects[codec.ErrRelative] != 1 {
		t.Errorf("%+v", st)
	}
}

func TestBaseTemplateLogs(t *testing.T) {
	f := func(c Config, in, want string) {
		t.Helper()
		c.Render, c.Target, c.Normalizer = RenderURLs, TargetAll, newNormalizer(t, "logclean")
		check(t, c, in, want)
	}
	const rest = ` - - - [t] "GET /a HTTP/1.1" 200 1 "b" ""` + "\n"
	v := Config{Format: "vhost_combined", Base: "https://{host}/x/"}
	f(v, "V.example:8443"+rest+"a@evil"+rest+"-"+rest, "https://v.example:8443/a\nhttps://v.example:8443/x/b\n/a\nb\n/a\nb\n")
	f(Config{Format: `$host$request_uri "$http_referer" $server_port`, Base: "https://{vhost}"}, `h/a "b" 81`+"\n", "https://h:81/a\nhttps://h:81/b\n")
	f(Config{Format: `%v "%r" "%{Referer}i"`, Base: "https://{host}"}, `h:99999 "GET /a" "b"`+"\n", "https://h:99999/a\nb\n")
}

func TestBaseTemplateErrors(t *testing.T) {
	f := func(format, base, want string) {
		t.Helper()
		c := Config{Format: format, Base: base, Normalizer: newNormalizer(t, "equiv")}
		if format == "jsonl" || format == "csv" {
			c.URLField = "u"
		}
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q in it", base, err, want)
		}
	}
	f("jsonl", "https://{host", "closing brace")
	f("jsonl", "https://{a}{b}/", "more than one field")
	f("jsonl", "https://{a}}/", "more than one field")
	f("jsonl", "https://{a..b}/", "a..b")
	f("csv", "https://{0}/", "counted from 1")
	for _, base := range []string{"https://h/{a}", "https://u:{a}@h/", "https://u@{a}/", "https://h/?{a}", "https://h/#{a}", "{a}://h/", "h{a}://h/"} {
		f("jsonl", base, "can only be in the host")
	}
	for _, base := range []string{"{a}", "/{a}", "https:{a}", "//{a}/"} {
		f("jsonl", base, "invalid base URL")
	}
	f("jsonl", "https://h:{a}/", "the port is invalid")
	f("lines", "https://{host}/", "records have no fields")
	f("vhost_combined", "https://{name}/", "{host}")
	f("vhost_combined", "https://www.{host}/", "whole authority")
	f("combined", "https://{host}/", "no host")
	f(`"$request"`, "https://{host}/", "no host")
}

// FuzzBaseTemplate checks that the base has exactly the host in the value, or
// does not exist, whatever the value.
func FuzzBaseTemplate(f *testing.F) {
	for _, tt := range hostValues {
		f.Add(tt.value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, name := range []string{"rfc3986-scheme", "equiv", "crawler"} {
			j := newJob(t, Config{Format: "jsonl", URLField: "u", Base: "https://www.{h}.example/x", Normalizer: newNormalizer(t, name)})
			base, ok := j.base.template.append(nil, []byte(value))
			if !ok {
				continue
			}
			var r codec.Result
			if err := codec.Parse(base, &r); err != nil {
				continue
			}
			host := r.In.Bytes(base, codec.Host)
			if r.In.Has(codec.Username) || !bytes.HasPrefix(host, []byte("www.")) || string(r.In.Bytes(base, codec.Path)) != "/x" || !bytes.HasSuffix(host, []byte(".example")) {
				t.Fatalf("value %q: got base %q with the host %q", value, base, host)
			}
			norm, err := j.norm.Append(nil, base, &r)
			if err == nil && (!bytes.HasSuffix(norm, []byte(".example/x")) || !bytes.HasPrefix(norm, []byte("https://www."))) {
				t.Fatalf("base %q: got normal form %q", base, norm)
			}
		}
	})
}

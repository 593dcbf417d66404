package record

import (
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// styles returns compiled declarations.
func styles(t testing.TB, decls ...params.Declaration) *params.Styles {
	t.Helper()
	s, err := params.CompileStyles(decls)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	pipeDecl   = params.Declaration{Name: "color", Style: params.StylePipeDelimited}
	deepDecl   = params.Declaration{Name: "o", Style: params.StyleDeepObject}
	simpleDecl = params.Declaration{Name: "id", In: params.InPath, Path: "/u/{id}"}
)

// checkParams reads one URL and compares the fields in jsonl.
func checkParams(t *testing.T, c Config, fields, in, want string) {
	t.Helper()
	if c.Format == "" {
		c.Format = "lines"
	}
	if c.Normalizer == nil {
		c.Normalizer = newNormalizer(t, "equiv")
	}
	c.Render, c.Fields = RenderJSONL, strings.Split(fields, ",")
	check(t, c, in+"\n", want+"\n")
}

func TestParams(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		checkParams(t, Config{}, "params", in, `{"params":[`+want+`]}`)
		// The same in tsv, where a backslash is escaped.
		check(t, Config{Format: "lines", Normalizer: newNormalizer(t, "rfc3986"), Render: RenderTSV, Fields: []string{"params"}}, in+"\n", "["+strings.ReplaceAll(want, `\`, `\\`)+"]\n")
	}
	f("http://h/", "")
	f("http://h/?a=b+c%2B&d", `{"index":0,"in":"query","name":"a","value":"b c+","at":10},{"index":1,"in":"query","name":"d","at":19}`)
	f("http://h/?&&a=", `{"index":2,"in":"query","name":"a","value":"","at":12}`)
	f("http://h/p;v=1+%41/q?x", `{"index":0,"in":"path","name":"v","value":"1+A","at":11},{"index":0,"in":"query","name":"x","at":21}`)
	f("http://h/?%FF=%22%C3%A9%FE", `{"index":0,"in":"query","name_b64":"/w==","value_b64":"IsOp/g==","at":10}`)
	f(`http://h/?"=\`, `{"index":0,"in":"query","name":"\"","value":"\\","at":10}`)
	f("http://h/?%2541", `{"index":0,"in":"query","name":"%41","at":10}`) // decoded once
	f("mailto:a;b@c?subject=x", `{"index":0,"in":"query","name":"subject","value":"x","at":13}`)
}

// TestParamsOffsets checks that offsets count in the original URL, after
// unescaping.
func TestParamsOffsets(t *testing.T) {
	checkParams(t, Config{}, "params", "http://h/\t;a\t=1?\tb\t=2", `{"params":[{"index":0,"in":"path","name":"a","value":"1","at":11},{"index":0,"in":"query","name":"b","value":"2","at":17}]}`)
	checkParams(t, Config{Format: "clf"}, "url,params,diagnostics", `h - - [t] "GET /x;v=1?\x22=%zz&& HTTP/1.1" 200 1`,
		`{"url":"/x;v=1?\"=%zz&&","params":[{"index":0,"in":"path","name":"v","value":"1","at":3},{"index":0,"in":"query","name":"\"","value":"%zz","at":7}],`+
			`"diagnostics":[{"flag":"raw-illegal","at":7,"component":"query","action":"encoded","param":"\""},{"flag":"invalid-URL-unit","at":7,"component":"query","action":"encoded","param":"\""},`+
			`{"flag":"non-hex","at":9,"component":"query","action":"kept","param":"\""},{"flag":"invalid-URL-unit","at":9,"component":"query","action":"kept","param":"\""},`+
			`{"flag":"empty-pair","at":13,"component":"query","action":"kept"}]}`)
	// The part that a base supplies does not count.
	c := Config{Format: "csv", URLField: "2", BaseField: "1"}
	checkParams(t, c, "query,params", "http://b/?q=1,#f", `{"query":"q=1","params":[]}`)
	checkParams(t, c, "params", `http://b/c,?r`, `{"params":[{"index":0,"in":"query","name":"r","at":1}]}`)
}

func TestParamsStyles(t *testing.T) {
	c := Config{Params: styles(t, pipeDecl, deepDecl, simpleDecl)}
	f := func(in, want string) {
		t.Helper()
		checkParams(t, c, "params", in, `{"params":[`+want+`]}`)
	}
	f("http://h/?color=a%7cb|c", `{"index":0,"in":"query","name":"color","style":"pipeDelimited","values":["a","b","c"],"at":10}`)
	f("http://h/?color=", `{"index":0,"in":"query","name":"color","style":"pipeDelimited","values":[],"at":10}`)
	f("http://h/?color=a|%FF", `{"index":0,"in":"query","name":"color","style":"pipeDelimited","values_b64":["YQ==","/w=="],"at":10}`)
	f("http://h/?x&o[a]=1&o%5Bb%5D", `{"index":0,"in":"query","name":"x","at":10},{"index":1,"in":"query","name":"o","style":"deepObject","properties":[{"name":"a","value":"1"},{"name":"b"}],"at":12}`)
	f("http://h/?o", `{"index":0,"in":"query","name":"o","style":"deepObject","properties":[],"at":10}`)
	f("http://h/u/1,2", `{"index":1,"in":"path","name":"id","style":"simple","values":["1","2"],"at":11}`)
	// WHATWG interprets '\' as '/', RFC 3986 does not.
	f(`http://h\u\1`, `{"index":1,"in":"path","name":"id","style":"simple","values":["1"],"at":11}`)
	checkParams(t, Config{Params: c.Params, Normalizer: newNormalizer(t, "rfc3986")}, "params", `http://h/u\1`, `{"params":[]}`)
	// Styles of a policy.
	policy := codec.DefaultPolicy()
	policy.Styles = c.Params
	p, _ := codec.Lookup("equiv")
	n, err := codec.New(p, codec.WithPolicy(policy))
	if err != nil {
		t.Fatal(err)
	}
	checkParams(t, Config{Normalizer: n}, "params", "http://h/?color=a|b", `{"params":[{"index":0,"in":"query","name":"color","style":"pipeDelimited","values":["a","b"],"at":10}]}`)
}

// TestParamFlags checks the flags about parameters, and the parameters named in
// diagnostics.
func TestParamFlags(t *testing.T) {
	c := Config{Params: styles(t, pipeDecl, deepDecl)}
	checkParams(t, c, "flags,diagnostics", "http://h/?&&a=", `{"flags":["empty-pair"],"diagnostics":[{"flag":"empty-pair","at":10,"component":"query","action":"kept"}]}`)
	checkParams(t, c, "flags", "http://h/?a=1&b", `{"flags":[]}`)
	checkParams(t, c, "flags", "http://h/?color=1&color=2", `{"flags":[]}`) // not requested
	checkParams(t, c, "flags,diagnostics,params", "http://h/?color=1&o%5Bx=2&color=3",
		`{"flags":["param-style"],"diagnostics":[{"flag":"param-style","at":18,"component":"query","action":"kept","param":"o"},{"flag":"param-style","at":26,"component":"query","action":"kept","param":"color"}],`+
			`"params":[{"index":0,"in":"query","name":"color","style":"pipeDelimited","values":["1","3"],"at":10},{"index":1,"in":"query","name":"o","style":"deepObject","properties":[{"name":"x","value":"2"}],"at":18}]}`)
	c.RejectFlags = codec.Flags{}.With(codec.FlagParamStyle).With(codec.FlagEmptyPair)
	checkParams(t, c, "url,error", "http://h/?color=1&color=2", `{"url":"http://h/?color=1&color=2","error":"flagged","at":18,"flag":"param-style"}`)
	checkParams(t, c, "url,error", "http://h/?a&", `{"url":"http://h/?a&","error":"flagged","at":12,"flag":"empty-pair"}`)
	// A URL that cannot be parsed has no parameters, and in particular not
	// those of the previous URL.
	c = Config{Format: "lines", Normalizer: newNormalizer(t, "equiv"), Render: RenderJSONL, Fields: []string{"diagnostics", "params"}}
	check(t, c, "http://h/?a=&&\nhttp://h h/?a=1\n", `{"diagnostics":[{"flag":"empty-pair","at":13,"component":"query","action":"kept"}],"params":[{"index":0,"in":"query","name":"a","value":"","at":10}]}`+"\n"+
		`{"diagnostics":[{"flag":"raw-space","at":8,"component":"host","action":"kept"},{"flag":"domain-to-ASCII","at":8,"component":"host","action":"rejected"}],"error":"host-invalid","at":8}`+"\n")
}

// TestParamsSecrets checks that params shows no secret and, with Redact, no
// password that other fields hide.
func TestParamsSecrets(t *testing.T) {
	c := Config{
		Secrets: []string{"token", "o[key]"}, Redact: []string{"passwords"}, Repairs: allRepairs,
		Params: styles(t, deepDecl, params.Declaration{Name: "Token", Style: params.StylePipeDelimited}, params.Declaration{Name: "p", Style: params.StyleForm, Explode: params.ExplodeNo, Type: params.TypeObject}),
	}
	const secret = "hunter2"
	for _, in := range []string{
		"http://h/?token=" + secret, "http://h/?%74oken=" + secret, "http://h/?TOKEN=" + secret, "http://h/?Token=a|" + secret,
		"http://h/?a&amp;token=" + secret, "http://h/?%2574oken=" + secret, "http://h/?x?token=" + secret,
		"http://h/?o[token]=" + secret, "http://h/?o[key]=" + secret, "http://h/?p=token," + secret, "http://h/a;token=" + secret,
		"http://h/?u=http://u:" + secret + "@h/", "http://h/?u=http%3A%2F%2Fu:" + secret + "@h/", "http://h/?http://u:" + secret + "@h/",
		"http://h/?Token=http://u:" + secret + "@h/|x",
	} {
		c.Format, c.Normalizer, c.Render, c.Fields = "lines", newNormalizer(t, "equiv"), RenderJSONL, []string{"params", "diagnostics"}
		out, _, _ := runJob(t, newJob(t, c), []byte(in+"\n"))
		if strings.Contains(string(out), secret) || !strings.Contains(string(out), "***") {
			t.Errorf("%s: %s", in, out)
		}
	}
	checkParams(t, c, "params", "http://h/?o[a]=1&o[token]", `{"params":[{"index":0,"in":"query","name":"o","style":"deepObject","properties":[{"name":"a","value":"1"},{"name":"token"}],"at":10}]}`)
}

// TestParamsKeys checks that styles do not change keys or normal forms.
func TestParamsKeys(t *testing.T) {
	const in = "http://h/u/1?color=b|a&color=c&o[x]=1&&a=1,2\n"
	var want string
	for _, s := range []*params.Styles{nil, styles(t, pipeDecl, deepDecl, simpleDecl)} {
		c := Config{Format: "lines", Params: s, Normalizer: newNormalizer(t, "analytics"), Render: RenderTSV, Fields: []string{"norm", "syntax", "equivalent", "fetch", "page"}}
		out, _, _ := runJob(t, newJob(t, c), []byte(in))
		if want == "" {
			want = string(out)
		}
		if string(out) != want {
			t.Errorf("with styles:\n%s\nwithout:\n%s", out, want)
		}
	}
}

// TestParamsNoAllocs checks that the field params does not allocate after the
// first records.
func TestParamsNoAllocs(t *testing.T) {
	for _, render := range []Render{RenderJSONL, RenderTSV} {
		c := Config{
			Format: "combined", Target: TargetAll, Render: render, Fields: []string{"params", "flags", "diagnostics"}, Redact: []string{"passwords"}, Secrets: []string{"token"},
			Params: styles(t, pipeDecl, deepDecl, simpleDecl), Normalizer: newNormalizer(t, "equiv"),
		}
		w := newJob(t, c).NewWorker()
		rec := []byte(`h - - [t] "GET /u/1,2?color=a%7Cb&o[x]=1&o%5By%5d&&token=x&u=http://a:b@c/%zz&%FF=%FE&color=c HTTP/1.1" 200 1 "http://h/;v=1?a=%41" "x"` + "\n")
		var out []byte
		var st Stats
		f := func() { out, _ = w.Append(out[:0], nil, rec, Position{}, &st) }
		f()
		if n := testing.AllocsPerRun(20, f); n != 0 {
			t.Errorf("%v: got %v allocations, want 0", render, n)
		}
	}
}

// TestParamsExtend checks that the field can be added to records.
func TestParamsExtend(t *testing.T) {
	c := Config{Format: "jsonl", URLField: "u", Render: RenderExtend, Extend: []Extension{{Name: "p", Field: "params"}}, Normalizer: newNormalizer(t, "equiv")}
	check(t, c, `{"u":"http://h/?a=1"}`+"\n", `{"u":"http://h/?a=1","p":[{"index":0,"in":"query","name":"a","value":"1","at":10}]}`+"\n")
	c = Config{Format: "csv", URLField: "1", Render: RenderExtend, Extend: []Extension{{Name: "p", Field: "params"}}, Normalizer: newNormalizer(t, "equiv")}
	check(t, c, "http://h/?a\n", `http://h/?a,"[{""index"":0,""in"":""query"",""name"":""a"",""at"":10}]"`+"\n")
}

// TestParamsStale checks that no result of one URL appears for the next one.
func TestParamsStale(t *testing.T) {
	c := Config{Format: "lines", Normalizer: newNormalizer(t, "equiv"), Render: RenderJSONL, Fields: []string{"params", "diagnostics"}}
	w := newJob(t, c).NewWorker()
	var st Stats
	for _, first := range []string{"http://h/\tlong/path;x=1?\ta=1&&", "http://h/?a=&&b"} {
		for _, second := range []string{"\x01\\", "", " http://h:x/", "x", "/\t?"} {
			fresh, _ := newJob(t, c).NewWorker().Append(nil, nil, []byte(second), Position{}, &st)
			_, _ = w.Append(nil, nil, []byte(first), Position{}, &st)
			got, _ := w.Append(nil, nil, []byte(second), Position{}, &st)
			if string(got) != string(fresh) {
				t.Errorf("%q after %q: got %s, want %s", second, first, got, fresh)
			}
		}
	}
}

package record

import (
	"testing"

	"github.com/urlfold/urlfold/codec"
	pathtemplate "github.com/urlfold/urlfold/codec/template"
)

// show checks the fields of one URL in tsv.
func show(t *testing.T, c Config, profile, fields, in, want string) {
	t.Helper()
	c.Render, c.Fields = RenderTSV, []string{fields}
	if profile != "" {
		c.Normalizer = newNormalizer(t, profile)
		c.Level = c.Normalizer.Profile().Key
	}
	check(t, c, in, want+"\n")
}

func TestSite(t *testing.T) {
	f := func(in, want string) { t.Helper(); show(t, Config{Format: "lines"}, "equiv", "site", in, want) }
	f("http://www.Example.co.uk./", "example.co.uk")
	f("http://a.b.github.io/", "b.github.io") // private suffixes count
	f("http://127.0.0.1/", "")
	f("http://co.uk/", "")
	f("mailto:a@b.example", "")
	// A target without a host has no site; the placeholder is not one.
	show(t, Config{Format: `"$request"`}, "equiv", "site", `"GET /a"`, "")
}

func TestSURT(t *testing.T) {
	f := func(profile, in, want string) {
		t.Helper()
		show(t, Config{Format: "lines"}, profile, "surt", in, want)
	}
	f("equiv", "https://u@www.Example.com:8080/a?b#c", "com,example,www:8080)/a?b#c")
	f("crawler", "https://www.Example.com:8080/a?d&b#c", "com,example,www:8080)/a?b&d")
	f("analytics", "https://www.Example.com/a/index.html", "com,example)/a")
	f("analytics", "http://localhost:8080/a/", "localhost:8080)/a")
	f("analytics", "http://[::1]/", "[::1])/")
	f("analytics", "ftp://h.example/a", "example,h)/a")
	f("analytics", "mailto:a@b", ")mailto:a@b")
	show(t, Config{Format: `"$request"`}, "equiv", "surt", `"GET //a"`, ")/.//a")
	show(t, Config{Format: `"$request"`}, "analytics", "surt", `"GET /a/"`, ")/a")
}

func TestTemplate(t *testing.T) {
	show(t, Config{Format: "lines"}, "equiv", "template", "http://h/user/17/../18/", "/user/{int}/")
	show(t, Config{Format: `"$request"`}, "equiv", "template", `"GET /1?2"`, "/{int}")
	// The templates of the policy take precedence.
	ts, err := pathtemplate.Compile([]string{"/user/{name}"})
	if err != nil {
		t.Fatal(err)
	}
	p := codec.DefaultPolicy()
	p.Templates = ts
	equiv, _ := codec.Lookup("equiv")
	n, err := codec.New(equiv, codec.WithPolicy(p))
	if err != nil {
		t.Fatal(err)
	}
	show(t, Config{Format: "lines", Normalizer: n}, "", "template", "http://h/user/ann\nhttp://h/user/1/2", "/user/{name}\n/user/{int}/{int}")
}

func TestVerdicts(t *testing.T) {
	f := func(in, rfc, whatwg string) {
		t.Helper()
		show(t, Config{Format: "lines"}, "equiv", "rfc", in, rfc)
		show(t, Config{Format: "lines"}, "rfc3986", "rfc", in, rfc)
		show(t, Config{Format: "lines"}, "logclean", "whatwg", in, whatwg)
		show(t, Config{Format: "lines"}, "rfc3986", "whatwg", in, whatwg)
	}
	f("http://h/%7e?a=b", "valid", "valid")
	f("http://h/|", "invalid", "invalid")
	f("http://h/\xC3\xA9", "invalid", "valid") // an IRI: URL code points
	f("http://u@h/", "valid", "invalid")       // invalid-credentials
	f("http://1.2.3.256/", "valid", "failure") // a number that is not a valid address
	f("http:\\\\h/", "invalid", "invalid")
	f("/a", "valid", "failure") // no base
	f("http://[x/", "failure", "failure")
	b := Config{Format: "lines", Base: "http://b/"}
	show(t, b, "equiv", "whatwg", "/a", "valid")
	show(t, b, "equiv", "whatwg", "\\a", "invalid")
	o := Config{Format: `"$request"`}
	show(t, o, "equiv", "whatwg", `"GET /a"`, "valid")
	show(t, o, "equiv", "rfc", `"GET /a|"`, "invalid")
}

func TestKeyStrings(t *testing.T) {
	const in = "https://u@www.h.example:443/a//b/?z&utm_source=x&a=#f"
	for field, want := range map[string]string{
		"syntax":     "https://u@www.h.example/a//b/?z&utm_source=x&a=#f",
		"equivalent": "https://u@www.h.example/a//b/?z&utm_source=x&a=#f",
		"fetch":      "http://www.h.example/a//b/?a&z",
		"page":       "h.example/a/b?a&z",
	} {
		show(t, Config{Format: "lines"}, "equiv", field, in, want)
	}
	show(t, Config{Format: `"$request"`}, "equiv", "page", `"GET //a/"`, "/a")
	show(t, Config{Format: `"$request"`}, "equiv", "fetch", `"GET //a/"`, "/.//a/")
}

func TestIRI(t *testing.T) {
	show(t, Config{Format: "lines"}, "equiv", "iri", "http://xn--bcher-kva.example/%C3%A9%20", "http://bücher.example/é%20")
	show(t, Config{Format: `"$request"`}, "equiv", "iri", `"GET /%C3%A9"`, "/é")
	show(t, Config{Format: "lines", Redact: []string{"passwords"}}, "equiv", "iri", "http://u:p@h/%C3%A9", "http://u:***@h/é")
}

// TestSignedFlag checks that signed URLs are flagged whichever fields are
// selected, in any order.
func TestSignedFlag(t *testing.T) {
	for _, fields := range []string{"flags", "key"} {
		c := Config{Format: "lines", Normalizer: newNormalizer(t, "crawler"), Level: codec.LevelFetch, Render: RenderTSV, Fields: []string{fields}}
		_, _, st := runJob(t, newJob(t, c), []byte("http://h/?X-Amz-Signature=1\nhttp://h/?a\n"))
		if st.Flags[codec.FlagSignedURL] != 1 {
			t.Errorf("%s: got %d signed URLs", fields, st.Flags[codec.FlagSignedURL])
		}
	}
}

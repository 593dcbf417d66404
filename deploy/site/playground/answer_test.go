package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"github.com/urlfold/urlfold/codec"
)

// ask returns the answer to a request.
func ask(t *testing.T, r request) answer {
	t.Helper()
	in, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(respond(in), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAnswer checks the members of the answers that the page reads.
func TestAnswer(t *testing.T) {
	a := ask(t, request{URL: "HTTP://Ex%41mple.com:80/%zz", Width: 80})
	var e struct {
		Norm, Level, Error string
		At                 int
		Flags              []string
		VS                 struct {
			Share bool
			Meet  string
		}
	}
	read := func(a answer) {
		t.Helper()
		if err := json.Unmarshal(a.Explain, &e); err != nil || a.Error != "" {
			t.Fatalf("%v, %q", err, a.Error)
		}
	}
	if read(a); e.Norm != "http://example.com/%zz" || e.Level != "equivalent" || len(e.Flags) == 0 {
		t.Errorf("%s", a.Explain)
	}
	if read(ask(t, request{URL: "http://a b/"})); e.Error != "host-invalid" || e.At != 8 {
		t.Errorf("a host with a space: %q at byte %d", e.Error, e.At)
	}
	if read(ask(t, request{URL: "http://h/#a", VS: "http://h/", Profile: "crawler", Level: "k3"})); !e.VS.Share || e.VS.Meet != "fetch" || e.Level != "page" {
		t.Errorf("two URLs: %+v", e)
	}
	if read(ask(t, request{URL: "../c", Base: "http://h/a/b/"})); e.Norm != "http://h/a/c" {
		t.Errorf("a relative URL: %q", e.Norm)
	}
	if a := ask(t, request{URL: "http://h/", Level: "k9"}); !strings.Contains(a.Error, `"k9"`) {
		t.Errorf("an unknown level: %q", a.Error)
	}
	if got := string(respond([]byte("{"))); !strings.Contains(got, `"error"`) {
		t.Errorf("a request that is not JSON: %s", got)
	}
}

// TestHTML checks that no part of the input becomes an element, that every color is
// closed, and that the text is the one without colors.
func TestHTML(t *testing.T) {
	element := regexp.MustCompile(`<[^>]*>`)
	for _, p := range codec.Profiles() {
		for _, url := range []string{"http://h/<b>&amp;\"'#<img src=x>", "http://a<b>c/", "a\x1b[31mb\x1b[0m\x00<i>"} {
			for _, vs := range []string{"", "http://h/?<script>"} {
				a := ask(t, request{URL: url, VS: vs, Profile: p.Name, Width: 60})
				depth := 0
				for _, e := range element.FindAllString(a.HTML, -1) {
					switch {
					case e == "</span>":
						depth--
					case regexp.MustCompile(`^<span class="[a-z]+">$`).MatchString(e):
						depth++
					default:
						t.Fatalf("%s: %q becomes the element %s", p.Name, url, e)
					}
				}
				text := html.UnescapeString(element.ReplaceAllString(a.HTML, ""))
				if depth != 0 || strings.ContainsRune(text, '\x1b') || strings.ContainsRune(text, 0) {
					t.Errorf("%s: %q: depth %d in %q", p.Name, url, depth, a.HTML)
				}
			}
		}
	}
}

// TestLine checks what the page shows for a log line.
func TestLine(t *testing.T) {
	f := func(in, format, output string, norms ...string) {
		t.Helper()
		l := ask(t, request{Line: in}).Line
		if l == nil || l.Format != format || l.Output != output || len(l.URLs) != len(norms) {
			t.Errorf("%q: %+v", in, l)
			return
		}
		for i, norm := range norms {
			if !strings.Contains(string(l.URLs[i]), `"norm":"`+norm+`"`) {
				t.Errorf("%q: URL %d is %s, want %s", in, i, l.URLs[i], norm)
			}
		}
	}
	f(`192.0.2.7 - - [21/Nov/2026:06:25:00 +0100] "GET /a/../%7e HTTP/1.1" 200 5 "HTTP://h:80" "x"`, "combined",
		`192.0.2.7 - - [21/Nov/2026:06:25:00 +0100] "GET /~ HTTP/1.1" 200 5 "http://h/" "x"`, "/~", "http://h/")
	f("see HTTP://h/%7e, please", "text", "", "http://h/~")
	f("hello", "text", "")
	if a := ask(t, request{Line: "a,b\nhttp://h/,2\n"}); a.Line != nil || !strings.Contains(a.Error, "column") {
		t.Errorf("a table without the name of a column: %+v", a)
	}
}

// TestFirstPage checks what the first page says about its picture, that each of its
// examples has an answer, and that it finds its parts in the README and in the page
// about the installation.
func TestFirstPage(t *testing.T) {
	read := func(file string) []byte {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var keys []string
	for l := range bytes.Lines(read("../questions.jsonl")) {
		var a answer
		var e struct{ URL, Norm, Page string }
		err := errors.Join(json.Unmarshal(respond(l), &a), json.Unmarshal(a.Explain, &e))
		if err != nil || a.Error != "" || e.URL == "" || utf8.RuneCountInString(e.URL) != len(e.URL) {
			t.Fatalf("%s: %v, %s", l, err, a.Error)
		}
		keys = append(keys, e.Page)
	}
	// The first answer is shown in two widths. Three of the other URLs are
	// of one page, and the fourth is not.
	if len(keys) != 6 || keys[2] != keys[3] || keys[2] != keys[4] || keys[2] == keys[5] {
		t.Errorf("the picture shows %q", keys)
	}
	var examples []struct {
		Title  string
		Values request
	}
	if err := yaml.Unmarshal(read("../data/examples.yaml"), &examples); err != nil || len(examples) < 4 {
		t.Fatalf("%v: %+v", err, examples)
	}
	for _, e := range examples {
		if a := ask(t, e.Values); e.Values == (request{}) || a.Error != "" || a.Line == nil && a.Explain == nil {
			t.Errorf("%s: %s", e.Title, a.Error)
		}
	}
	home := string(read("../layouts/home.html"))
	for pattern, file := range map[string]string{
		`(?s)\n## Three users\n.*?\n\n(A \*\*.*?)\n\nA URL has`: "README.md",
		`(?s)^# [^\n]+\n(.*?\n\|.*?)\n\n`:                       "docs/how-to/install.md",
	} {
		if !strings.Contains(home, "`"+pattern+"`") || !regexp.MustCompile(pattern).Match(read("../../../"+file)) {
			t.Errorf("%s, or the template, has not %s", file, pattern)
		}
	}
}

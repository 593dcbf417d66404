package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/ground/scan"
)

// TestResolveRFC checks reference resolution against the tables of RFC 3986
// §5.4.
func TestResolveRFC(t *testing.T) {
	f := func(ref, want string) {
		t.Helper()
		got, err := Resolve(nil, []byte("http://a/b/c/d;p?q"), []byte(ref))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", ref, got, err, want)
		}
	}
	// §5.4.1 Normal examples.
	f("g:h", "g:h")
	f("g", "http://a/b/c/g")
	f("./g", "http://a/b/c/g")
	f("g/", "http://a/b/c/g/")
	f("/g", "http://a/g")
	f("//g", "http://g")
	f("?y", "http://a/b/c/d;p?y")
	f("g?y", "http://a/b/c/g?y")
	f("#s", "http://a/b/c/d;p?q#s")
	f("g#s", "http://a/b/c/g#s")
	f("g?y#s", "http://a/b/c/g?y#s")
	f(";x", "http://a/b/c/;x")
	f("g;x", "http://a/b/c/g;x")
	f("g;x?y#s", "http://a/b/c/g;x?y#s")
	f("", "http://a/b/c/d;p?q")
	f(".", "http://a/b/c/")
	f("./", "http://a/b/c/")
	f("..", "http://a/b/")
	f("../", "http://a/b/")
	f("../g", "http://a/b/g")
	f("../..", "http://a/")
	f("../../", "http://a/")
	f("../../g", "http://a/g")
	// §5.4.2 Abnormal examples.
	f("../../../g", "http://a/g")
	f("../../../../g", "http://a/g")
	f("/./g", "http://a/g")
	f("/../g", "http://a/g")
	f("g.", "http://a/b/c/g.")
	f(".g", "http://a/b/c/.g")
	f("g..", "http://a/b/c/g..")
	f("..g", "http://a/b/c/..g")
	f("./../g", "http://a/b/g")
	f("./g/.", "http://a/b/c/g/")
	f("g/./h", "http://a/b/c/g/h")
	f("g/../h", "http://a/b/c/h")
	f("g;x=1/./y", "http://a/b/c/g;x=1/y")
	f("g;x=1/../y", "http://a/b/c/y")
	f("g?y/./x", "http://a/b/c/g?y/./x")
	f("g?y/../x", "http://a/b/c/g?y/../x")
	f("g#s/./x", "http://a/b/c/g#s/./x")
	f("g#s/../x", "http://a/b/c/g#s/../x")
	f("http:g", "http:g") // strict
}

func TestResolveErrors(t *testing.T) {
	f := func(base, ref string, want error) {
		t.Helper()
		dst := []byte("dst")
		if got, err := Resolve(dst, []byte(base), []byte(ref)); !errors.Is(err, want) || string(got) != "dst" {
			t.Errorf("%q against %q: %q, %v; want %v", ref, base, got, err, want)
		}
	}
	f("", "a", ErrBase)
	f("/a", "b", ErrBase) // §5.1: a base needs a scheme
	f("http://[::1/", "b", ErrBase)
	f("http://a/", "//[::1/", ErrHostInvalid)
}

// TestCPythonURLJoin runs CPython's own cases for urljoin.
func TestCPythonURLJoin(t *testing.T) {
	var cases []struct{ Test, Base, Ref, Want string }
	corpusJSON(t, "rfc3986/cpython_urljoin.json", &cases)
	list := readExceptions(t, "cpython_urljoin.txt")
	for _, c := range cases {
		got, err := Resolve(nil, []byte(c.Base), []byte(c.Ref))
		list.check(c.Base+" "+c.Ref, err == nil && string(got) == c.Want,
			"%s: %q against %q: %q, %v; want %q", c.Test, c.Ref, c.Base, got, err, c.Want)
	}
	list.done()
}

// TestJSONSchema compares the syntax verdict with JSON Schema's cases for the
// formats uri and uri-reference.
func TestJSONSchema(t *testing.T) {
	f := func(file string, valid func(r *Result) bool) {
		t.Helper()
		var groups []struct {
			Tests []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		corpusJSON(t, "rfc3986/json-schema/"+file, &groups)
		for _, g := range groups {
			for _, c := range g.Tests {
				var s string
				if string(c.Data) == "null" || json.Unmarshal(c.Data, &s) != nil {
					continue // formats apply to strings only
				}
				var r Result
				err := Parse([]byte(s), &r)
				if got := err == nil && valid(&r); got != c.Valid {
					t.Errorf("%s: %s: %q: valid is %v, flags %s", file, c.Description, s, got, r.Flags.AppendTo(nil))
				}
			}
		}
	}
	f("uri.json", func(r *Result) bool { return r.Valid() && !r.Flags.Has(FlagRelative) })
	f("uri-reference.json", (*Result).Valid)
}

// TestURLCanonDots runs urlcanon's tables of dot segments. In its table for
// special schemes '\' is a separator, as in browsers; the other table follows
// RFC 3986.
func TestURLCanonDots(t *testing.T) {
	var tables map[string]map[string]string
	corpusJSON(t, "rfc3986/urlcanon/path_dots.json", &tables)
	list := readExceptions(t, "urlcanon_path_dots.txt")
	n := mustCompile("rfc3986")
	for name, table := range tables {
		for in, want := range table {
			var r Result
			prefix := "x:"
			if strings.HasPrefix(in, "/") {
				prefix = "x://h"
			}
			got, err := n.Append(nil, []byte(prefix+in), &r)
			path := r.Out.Bytes(got, Path)
			list.check(name+" "+in, err == nil && string(path) == strings.ReplaceAll(want, "\\", "%5C"),
				"%s: %q: %q, %v; want %q", name, in, path, err, want)
		}
	}
	list.done()
}

// TestURLCanonParsing parses urlcanon's URLs: components and delimiters
// together give the input and, where urlcanon parses by RFC 3986, are those
// that it finds.
func TestURLCanonParsing(t *testing.T) {
	var cases map[string]struct {
		Scheme, Username, Password, Host, Port, Path, Query, Fragment string
	}
	corpusJSON(t, "rfc3986/urlcanon/parsing.json", &cases)
	list := readExceptions(t, "urlcanon_parsing.txt")
	for in, c := range cases {
		var r Result
		if err := Parse([]byte(in), &r); err != nil {
			t.Errorf("%q: %v", in, err)
		}
		if err := r.In.Check([]byte(in)); err != nil {
			t.Errorf("%q is not lossless: %v", in, err)
		}
		want := []string{c.Scheme, c.Username, c.Password, c.Host, c.Port, c.Path, c.Query, c.Fragment}
		var got []string
		for comp := Scheme; comp <= Fragment; comp++ {
			got = append(got, string(r.In.Bytes([]byte(in), comp)))
		}
		list.check(in, strings.Join(got, "\n") == strings.Join(want, "\n"), "%q: %q; urlcanon %q", in, got, want)
	}
	list.done()
}

// TestCorpusURLs compares the fast paths, the full path and the readable twin
// on real URLs.
func TestCorpusURLs(t *testing.T) {
	for _, name := range []string{"urls/kasztp.txt", "urls/isaacs_files.txt", "attack/payloads_Open-Redirect.txt", "urls/blns.txt"} {
		clean, walked := 0, 0
		lines := bytes.Split(corpus(t, name), []byte("\n"))
		for i, line := range lines {
			for _, n := range fuzzNormalizers {
				var r, full Result
				out, err := n.Append(nil, line, &r)
				out2, err2 := n.appendFull(nil, line, &full)
				if err != err2 || !bytes.Equal(out, out2) || r.Flags != full.Flags || r.In != full.In {
					t.Fatalf("%s:%d: fast and full path differ", name, i+1)
				}
				if i%16 == 0 && n.Profile().Standard == RFC3986 {
					want, ok := slowNormalize(string(line), n.level == LevelEquivalent)
					if ok != (err == nil) || ok && want != string(out) {
						t.Fatalf("%s:%d: %q, slow %q", name, i+1, out, want)
					}
				}
			}
			checkParse(t, line)
			var u URL
			_, _, ok := parseClean(line, &u, new(scan.Survey))
			clean += b2i(ok)
			for _, n := range walkNormalizers {
				walked += b2i(checkOnePass(t, n, line) && n.profile.Name == "equiv")
			}
		}
		t.Logf("%s: %d lines, %d of them clean, %d done in one pass", name, len(lines), clean, walked)
	}
}

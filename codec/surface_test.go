package codec

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/params"
	"github.com/urlfold/urlfold/codec/percent"
	"github.com/urlfold/urlfold/codec/template"
)

// keyedLevels are the levels that every URL without a matching profile has a
// key of. Their indexes up to K3 are the levels.
var keyedLevels = []Level{LevelSyntax, LevelEquivalent, LevelFetch, LevelPage, LevelShape}

func TestSurface(t *testing.T) {
	f := func(url, want string) {
		t.Helper()
		if got := canonicalOf(t, byName("equiv"), LevelShape, url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
	f("https://User@Example.com:443/user/17/?b=1&utm_source=x&a=2&b=3#top", "example.com/user/{int}/?a&b")
	f("http://example.com:8080", "example.com:8080/")
	f("http://h/?", "h/")
	f("http://h/?a&a=1&a=", "h/?a")
	f("http://h/?=v", "h/?")
	f("http://h/?=v&a=1", "h/?&a")
	f("http://h/?b%61=1&ba=2&a%20b=&a+b", "h/?a+b&ba")
	f("http://h/o/4F0C0000-0000-4000-8000-000000000000/2026-11-21/0123456789abcdef", "h/o/{uuid}/{date}/{hex}")
	f("http://h/%7Bint%7D", "h/%7Bint%7D")
	f("http://h/index.html", "h/index.html")
	f("http://www.h.example//a", "www.h.example//a")
	f("wss://h/a", "h/a")
	f("ftp://u:p@h:2121/7", "h:2121/{int}")
	f("file:///a/1", "/a/{int}")
	f("mailto:joe@example.com", "mailto:joe@example.com")
	f("tel:117", "tel:{int}")
	f("x:/a/1?b=c", "x:/a/{int}?b")
	// K2 leaves signed queries unsorted.
	f("http://h/f?X-Amz-Signature=s&X-Amz-Date=d&%41=1&&X-Amz-Date=e", "h/f?A&X-Amz-Date&X-Amz-Signature")
	f(`http://evil.com\@good.com/`, "evil.com/@good.com/")
	if got := canonicalOf(t, byName("rfc3986"), LevelShape, `http://evil.com\@good.com/1`); got != "evil.com%5C@good.com/{int}" {
		t.Errorf("RFC 3986, a backslash in userinfo: %q", got)
	}
}

// TestSurfacePolicy checks which options change the surface.
func TestSurfacePolicy(t *testing.T) {
	templates, err := template.Compile([]string{"/user/{name}"})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := Lookup("equiv")
	n, err := New(p, WithPolicy(&Policy{Params: DefaultPolicy().Params, Templates: templates, SPA: []string{"*"}, KeepHTTPS: true, LowerPath: true}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := canonicalOf(t, n, LevelShape, "https://h/user/Ann?B=1#/page"), "h/user/{name}?B"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if n.PolicyVersions(LevelShape) != n.PolicyVersions(LevelFetch) || n.PolicyVersions(LevelShape) == "" {
		t.Errorf("versions %q", n.PolicyVersions(LevelShape))
	}
}

// slowSurface is the readable twin of appendSurface, for the default policy: a
// function of the K2 string.
func slowSurface(k2 string) string {
	src := []byte(k2)
	var u URL
	_, _ = split(src, &u)
	front := k2[:u.spans[Path].Start]
	if u.HasAuthority() {
		_, front, _ = strings.Cut(front, "//")
	}
	out := front + string(template.Append(nil, u.Bytes(src, Path)))
	if !u.Has(Query) {
		return out
	}
	var names []string
	for field := range strings.SplitSeq(string(u.Bytes(src, Query)), "&") {
		if field != "" {
			name, _, _ := strings.Cut(field, "=")
			names = append(names, string(params.AppendName(nil, []byte(name))))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		names[i] = strings.ReplaceAll(string(percent.AppendEncode(nil, []byte(name), percent.WHATWGForm)), "%20", "+")
	}
	return out + "?" + strings.Join(names, "&")
}

func BenchmarkSurface(b *testing.B) {
	lines := bytes.Split(bytes.TrimSpace(corpus(b, "urls/kasztp.txt")), []byte("\n"))
	n := byName("crawler")
	for _, lv := range []Level{LevelFetch, LevelPage, LevelShape} {
		b.Run(lv.String(), func(b *testing.B) {
			var r Result
			out, i := make([]byte, 0, 4096), 0
			b.ReportAllocs()
			for b.Loop() {
				out, _ = n.Append(out[:0], lines[i%len(lines)], &r)
				r.Key(lv)
				i++
			}
		})
	}
}

package template

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestAppend(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		if got := Append([]byte("x "), []byte(path)); string(got) != "x "+want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	f("", "")
	f("/", "/")
	f("//a//", "//a//")
	f("/user/17/orders/2026-11-21", "/user/{int}/orders/{date}")
	f("17", "{int}")
	f("/17/", "/{int}/")
	// Numbers: digits only, of any length, before hex and date.
	f("/0/007/20261121/12345678901234567890123456789012", "/{int}/{int}/{int}/{int}")
	f("/-1/1.5/1e3/17.html/%31", "/-1/1.5/1e3/17.html/%31")
	// UUIDs, RFC 9562 §4, in either case.
	f("/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", "/{uuid}/{uuid}")
	f("/00000000-0000-0000-0000-000000000000", "/{uuid}")
	f("/f81d4fae-7dec-11d0-a765-00a0c91e6bf", "/f81d4fae-7dec-11d0-a765-00a0c91e6bf")
	f("/f81d4fae-7dec-11d0-a765-00a0c91e6bfg", "/f81d4fae-7dec-11d0-a765-00a0c91e6bfg")
	f("/f81d4fae07dec-11d0-a765-00a0c91e6bf6", "/f81d4fae07dec-11d0-a765-00a0c91e6bf6")
	// 16 hex digits.
	f("/deadbeefdeadbee/deadbeefdeadbeef/DEADBEEFdeadbeef0/facade", "/deadbeefdeadbee/{hex}/{hex}/facade")
	f("/d41d8cd98f00b204e9800998ecf8427e", "/{hex}")
	f("/deadbeefdeadbeeg", "/deadbeefdeadbeeg")
	// Valid dates, RFC 3339 §5.6.
	f("/2024-02-29/2026-02-29/2100-02-29/2000-02-29/1900-02-28", "/{date}/2026-02-29/2100-02-29/{date}/{date}")
	f("/2026-04-31/2026-13-01/2026-00-01/2026-01-00/2026-12-31", "/2026-04-31/2026-13-01/2026-00-01/2026-01-00/{date}")
	f("/2026-1-2/2026_11_21/2026-11-2a/12026-11-21", "/2026-1-2/2026_11_21/2026-11-2a/12026-11-21")
	f("/2026/11/21", "/{int}/{int}/{int}")
	// Tokens: base64url of 128 bits, RFC 4648 §5.
	f("/dQw4w9WgXcQ_-aB3xYz9pQ/dQw4w9WgXcQ_-aB3xYz9p", "/{token}/dQw4w9WgXcQ_-aB3xYz9p")
	f("/dQw4w9WgXcQ_-aB3xYz9pQ==/dQw4w9WgXcQ_-aB3xYz9p===", "/{token}/dQw4w9WgXcQ_-aB3xYz9p===")
	f("/the-10-best-restaurants-of-2026/The-10-Best-Restaurants-Of-2026", "/the-10-best-restaurants-of-2026/The-10-Best-Restaurants-Of-2026")
	f("/GettingStartedWithTheCommandLine", "/GettingStartedWithTheCommandLine") // no digit
	f("/dQw4w9WgXcQ.-aB3xYz9pQ/dQw4w9WgXcQ%2DaB3xYz9pQa", "/dQw4w9WgXcQ.-aB3xYz9pQ/dQw4w9WgXcQ%2DaB3xYz9pQa")
	// The template of a template is the template itself.
	f("/user/{int}/{uuid}", "/user/{int}/{uuid}")
}

func TestSet(t *testing.T) {
	ts, err := Compile([]string{
		"/order/{uuid}", "/user/me", "/user/{int}", "/user/{name}", "/blog/{date}/{slug}", "/{lang}/about", "/c/{hex}/{token}", "/", "/a//{b_1}", "/%C3%A4/",
	})
	if err != nil {
		t.Fatal(err)
	}
	f := func(path, want string) {
		t.Helper()
		if got := ts.Append([]byte("x "), []byte(path)); string(got) != "x "+want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	f("/order/f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "/order/{uuid}")
	f("/user/me", "/user/me")
	f("/user/17", "/user/{int}") // the first that matches
	f("/user/ann", "/user/{name}")
	f("/blog/2026-11-21/urls-are-hard", "/blog/{date}/{slug}")
	f("/de/about", "/{lang}/about")
	f("/17/about", "/{lang}/about")
	f("/c/1234567890123456/dQw4w9WgXcQ_-aB3xYz9pQ", "/c/{hex}/{token}") // digits also count as hex
	f("/", "/")
	f("/a//b", "/a//{b_1}")
	f("/%C3%A4/", "/%C3%A4/")
	// None matches: the built-in classes.
	f("/order/17", "/order/{int}")
	f("/order/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/items/3", "/order/{uuid}/items/{int}")
	f("/user/", "/user/")
	f("/user", "/user")
	f("/user/17/", "/user/{int}/")
	f("/blog/2026-11-31/x", "/blog/2026-11-31/x")
	f("user/17", "user/{int}")
	f("", "")

	var zero Templates
	for _, none := range []*Templates{nil, &zero} {
		if got := none.Append(nil, []byte("/user/17")); string(got) != "/user/{int}" {
			t.Errorf("no templates: %q", got)
		}
	}
}

func TestErrors(t *testing.T) {
	f := func(text string, at int, reason string) {
		t.Helper()
		ts, err := Compile([]string{"/a", text})
		var te *Error
		if ts != nil || !errors.As(err, &te) || te.Index != 1 || te.At != at || !strings.Contains(te.Reason, reason) {
			t.Errorf("%q: %v, want byte %d: %s", text, err, at, reason)
		}
	}
	f("", 0, "begin with '/'")
	f("user/{int}", 0, "begin with '/'")
	f("/a", 0, "duplicate of path template 0")
	f("/b/{int", 3, "'{' without '}'")
	f("/b/int}", 6, "whole segment")
	f("/b/}", 3, "'}' without '{'")
	f("/b/x{int}", 4, "whole segment")
	f("/b/{int}x", 8, "whole segment")
	f("/b/{a}{b}", 6, "whole segment")
	f("/b/{}/c", 4, "missing placeholder name")
	f("/b/{Int}", 4, "a-z")
	f("/b/{{int}}", 9, "whole segment")
	f("/b/{a b}", 5, "a-z")
	// RFC 3986 §3.3, §6.2.2: literals that cannot occur in the path of a normal
	// form.
	f("/b/a b", 4, "normal form")
	f("/b/\xc3\xa4", 3, "normal form")
	f("/b/x?y", 4, "normal form")
	f("/b/x#y", 4, "normal form")
	f("/b/%7Ex", 3, "normal form")
	f("/b/%c3", 4, "normal form")
	f("/b/100%", 7, "normal form")
	f("/b/../c", 3, "dot segment")
	f("/.", 1, "dot segment")

	_, err := Compile([]string{"x", "/ok", "/{"})
	if err == nil || err.Error() != "path template 0, byte 0: must begin with '/'\npath template 2, byte 1: '{' without '}'" {
		t.Errorf("all mistakes: %v", err)
	}
}

// slowClasses are the classes as regular expressions, except for conditions
// that those cannot express.
var slowClasses = []struct {
	class segmentClass
	re    *regexp.Regexp
	extra func(string) bool
}{
	{intSegment, regexp.MustCompile(`^[0-9]+$`), nil},
	{uuidSegment, regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), nil},
	{hexSegment, regexp.MustCompile(`^(?i)[0-9a-f]{16,}$`), nil},
	{dateSegment, regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`), func(s string) bool {
		_, err := time.Parse(time.DateOnly, s)
		return err == nil
	}},
	{tokenSegment, regexp.MustCompile(`^[0-9A-Za-z_-]{22,}={0,2}$`), func(s string) bool {
		return regexp.MustCompile(`[0-9]`).MatchString(s) && regexp.MustCompile(`[a-z]`).MatchString(s) &&
			regexp.MustCompile(`[a-z0-9][A-Z]`).MatchString(s)
	}},
}

func slowTemplate(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		for _, c := range slowClasses {
			if c.re.MatchString(s) && (c.extra == nil || c.extra(s)) {
				segments[i] = "{" + segmentNames[c.class] + "}"
				break
			}
		}
	}
	return strings.Join(segments, "/")
}

// FuzzTemplate compares Append with its twin, and checks that the template of a
// template is itself and that a template made from a path matches the path.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"/user/17/2026-11-21", "/f81d4fae-7dec-11d0-a765-00a0c91e6bf6/deadbeefdeadbeef", "/dQw4w9WgXcQ_-aB3xYz9pQ==", "//{int}/{", "2024-02-29",
		"/0000-01-01", "/%C3%A4/a b", "/a/./b", "/aaaaaaaaaaaaaaaaaaaaaaaa1A", "/1234567890123456",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, path []byte) {
		got := Append(nil, slices.Clip(path))
		if want := slowTemplate(string(path)); string(got) != want {
			t.Fatalf("%q: %q, slow %q", path, got, want)
		}
		if again := Append(nil, got); !bytes.Equal(again, got) {
			t.Fatalf("%q -> %q -> %q", path, got, again)
		}
		ts, err := Compile([]string{string(got)})
		if err != nil {
			var te *Error
			if !errors.As(err, &te) || te.At > len(got) {
				t.Fatalf("%q: %v", got, err)
			}
			return
		}
		fits := slices.IndexFunc(ts.list, func(t template) bool { return t.fits(path) }) == 0
		if hasBrace := bytes.IndexByte(path, '{') >= 0; !fits && !hasBrace {
			t.Fatalf("%q does not match its template %q", path, got)
		}
	})
}

func TestNoAllocs(t *testing.T) {
	ts, err := Compile([]string{"/order/{uuid}", "/blog/{date}/{slug}"})
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 0, 256)
	for _, path := range [][]byte{[]byte("/blog/2026-11-21/urls"), []byte("/user/17/dQw4w9WgXcQ_-aB3xYz9pQ=="), []byte("/deadbeefdeadbeef")} {
		if n := testing.AllocsPerRun(100, func() { ts.Append(dst, path) }); n != 0 {
			t.Errorf("%s: %v allocations", path, n)
		}
	}
}

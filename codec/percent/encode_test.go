package percent

import "testing"

func TestAppendEncode(t *testing.T) {
	f := func(s ByteSet, src, want string) {
		t.Helper()
		if got := AppendEncode([]byte("dst"), []byte(src), s); string(got) != "dst"+want {
			t.Errorf("%s of %q: got %q, want %q", s, src, got, "dst"+want)
		}
	}
	f(None, "", "")
	f(None, "a b%", "a b%25") // in data a percent sign is always escaped
	f(RFC3986PathSegment, "my document.pdf", "my%20document.pdf")
	f(RFC3986PathSegment, "a/b", "a%2Fb")
	f(RFC3986Path, "/a b/c?", "/a%20b/c%3F")
	f(RFC3986PathSegment, "100%25", "100%2525") // RFC 3986 §2.4: encoding twice escapes twice
	f(RFC3986Query, "a:b@c/d?e", "a:b@c/d?e")   // RFC 3986 §3.4
	f(RFC3986QueryValue, "Tom&Jerry=1+1", "Tom%26Jerry=1%2B1")
	f(RFC3986QueryName, "a=b", "a%3Db")
	f(RFC3986Userinfo, "me:p@ss", "me:p%40ss")
	f(RFC3986Host, "a b:80", "a%20b%3A80")
	f(RFC3986Fragment, "a#b?/", "a%23b?/")
	f(RFC3986Path, "\xe4\xb8\xad\x00\xff", "%E4%B8%AD%00%FF")

	// URL Standard §1.3.
	f(WHATWGC0, "foo \tbar\x7f", "foo %09bar%7F")
	f(WHATWGPath, "[|]^`{}", "[|]%5E%60%7B%7D")
	f(WHATWGSpecialQuery, "it's|", "it%27s|")
	f(WHATWGQuery, "it's|", "it's|")
	f(WHATWGComponent, "a/b+c!", "a%2Fb%2Bc!")
	f(WHATWGPathSegment, `a\b`, "a%5Cb")
	f(WHATWGHost, "a b{", "a%20b{")
	// URL Standard §5.2: a space becomes '+', and '~' is escaped.
	f(WHATWGForm, "Tom & Jerry~*-._", "Tom+%26+Jerry%7E*-._")

	// RFC 1738 §2.2: '~' and '#' are unsafe. §3.3: ';' is reserved in a path.
	f(RFC1738Path, "/~a;b", "/%7Ea;b")
	f(RFC1738PathSegment, "~a;b", "%7Ea%3Bb")
	f(RFC1738Fragment, "a#~", "a%23%7E")
}

package params

import (
	"strings"
	"testing"
)

func TestSessionOf(t *testing.T) {
	f := func(name, value string, want bool) {
		t.Helper()
		if got := sessionOf(bare([]byte(name)), []byte(value)) == isSession; got != want {
			t.Errorf("%s=%s: %v", name, value, got)
		}
	}
	const id = "D41D8CD98F00B204E9800998ECF8427E"
	f("jsessionid", "", true)
	f("JSESSIONID", id+".node1", true)
	f("?jsessionid", "1", true)
	f("PHPSESSID", "x", true)
	f("ASPSESSIONIDABCDEFGH", "x", true)
	f("ASPSESSIONIDABCDEFG1", "x", false)
	f("ASPSESSIONIDABCDEFG", "x", false)
	f("sessionid", id, true)
	f("session_id", "123e4567-e89b-12d3-a456-426614174000", true)
	f("session_id", "12", false) // conference talks have such IDs
	f("sid", id, true)
	f("sid", id+".node", true)
	f("sid", "abc", false)
	f("sid", "a-long-slug-of-some-page", false)
	f("cfid", "1", false)
	f("cftoken", id, false)
	f("xsid", id, false)
	f("", id, false)
}

func TestCutPathSession(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		got, changed := CutPathSession([]byte("x"), []byte(path))
		if string(got) != "x"+want || changed != (path != want) {
			t.Errorf("%q: got %q, %v, want %q", path, got[1:], changed, want)
		}
	}
	const id24 = "abcdefghij0123456789KLMN"
	f("", "")
	f("/a/b", "/a/b")
	f("/a;jsessionid=1", "/a")
	f("/a;JSESSIONID=F00.node1/b", "/a/b")
	f("/a;x=1;jsessionid=2;y=3/b;phpsessid=4", "/a;x=1;y=3/b")
	f("/a;jsessionid", "/a;jsessionid")
	f("/a;xjsessionid=1", "/a;xjsessionid=1")
	f("/a;sid=1", "/a;sid=1")
	f("/a;sid=0123456789abcdef", "/a")
	f("/a;sessionid=0123456789abcdef", "/a;sessionid=0123456789abcdef")
	f("/a;cfid=1;cftoken=2", "/a")
	f("/a;CFTOKEN=2;x;CFID=1/b", "/a;x/b")
	f("/a;cfid=1/b;cftoken=2", "/a;cfid=1/b;cftoken=2")
	f("/;jsessionid=1", "/")
	f(";jsessionid=1", "")
	f("/("+id24+")/x.aspx", "/x.aspx")
	f("/a/(S("+id24+"))/b/X.ASPX", "/a/b/X.ASPX")
	f("/a/(A("+id24+")F("+id24+"))/x.aspx;v=1", "/a/x.aspx;v=1")
	f("/a/(S("+id24+"));jsessionid=1/x.aspx", "/a/x.aspx")
	f("/a/(S("+id24+"))/x.html", "/a/(S("+id24+"))/x.html")
	f("/a/(S("+id24+"x))/x.aspx", "/a/(S("+id24+"x))/x.aspx")
	f("/a/(S("+id24+")/x.aspx", "/a/(S("+id24+")/x.aspx")
	f("/a/()/x.aspx", "/a/()/x.aspx")
	f("/x.aspx/(S("+id24+"))", "/x.aspx/(S("+id24+"))")
}

func FuzzCutPathSession(f *testing.F) {
	id := strings.Repeat("a1", 12)
	for _, s := range []string{
		"", "/", "/a;jsessionid=1/b", "/a;cfid=1;jsessionid=2;cftoken=3", "/(S(" + id + "));sid=" + id + "/x.aspx;a", "/(" + id + ")/(" + id + ")//y.aspx/z",
		"/;;/;=;sid=/(/()/.aspx", "a/(S(" + id + ")T(" + id + "))/.aspx", "/(" + id + ")",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if path != "" && path[0] != '/' {
			path = "/" + path
		}
		got, changed := CutPathSession(nil, []byte(path))
		if want := slowCutPathSession(path); string(got) != want {
			t.Fatalf("%q: got %q, want %q", path, got, want)
		}
		if changed != (string(got) != path) {
			t.Fatalf("%q: %q, changed %v", path, got, changed)
		}
		if again, changed := CutPathSession(nil, got); changed {
			t.Fatalf("%q: %q, then %q", path, got, again)
		}
	})
}

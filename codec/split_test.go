package codec

import (
	"strings"
	"testing"
	"unsafe"
)

// parts formats the components of src: "-" if absent, otherwise quoted text.
func parts(u *URL, src string) string {
	var s []string
	for c := Scheme; c <= Fragment; c++ {
		if b := u.Bytes([]byte(src), c); b == nil {
			s = append(s, "-")
		} else {
			s = append(s, "<"+string(b)+">")
		}
	}
	return strings.Join(s, " ")
}

func TestSplit(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		var u URL
		if _, err := split([]byte(src), &u); err != 0 {
			t.Errorf("%q: %v", src, err)
		}
		if got := parts(&u, src); got != want {
			t.Errorf("%q:\n got %s\nwant %s", src, got, want)
		}
		if err := u.Check([]byte(src)); err != nil {
			t.Errorf("%q: %v", src, err)
		}
	}
	// RFC 3986 §1.1.2.
	f("ftp://ftp.is.co.za/rfc/rfc1808.txt", "<ftp> - - <ftp.is.co.za> - </rfc/rfc1808.txt> - -")
	f("ldap://[2001:db8::7]/c=GB?objectClass?one", "<ldap> - - <[2001:db8::7]> - </c=GB> <objectClass?one> -")
	f("mailto:John.Doe@example.com", "<mailto> - - - - <John.Doe@example.com> - -")
	f("telnet://192.0.2.16:80/", "<telnet> - - <192.0.2.16> <80> </> - -")
	// §3: absent and empty differ for every component.
	f("", "- - - - - <> - -")
	f("?", "- - - - - <> <> -")
	f("#", "- - - - - <> - <>")
	f("?#", "- - - - - <> <> <>")
	f("//", "- - - <> - <> - -")
	f("//:", "- - - <> <> <> - -")
	f("//@", "- <> - <> - <> - -")
	f("//:@:", "- <> <> <> <> <> - -")
	f("a:", "<a> - - - - <> - -")
	f("x://u@h:1", "<x> <u> - <h> <1> <> - -")
	// §3.1: a scheme starts with a letter and consists of letters, digits, "+",
	// "-", ".".
	f("1a:b", "- - - - - <1a:b> - -")
	f("a+-.9:b", "<a+-.9> - - - - <b> - -")
	f("a_b:c", "- - - - - <a_b:c> - -")
	f(":a", "- - - - - <:a> - -")
	// §3.2: the authority ends at "/", "?" or "#"; userinfo at the last "@".
	f("x://a@b@c:1?q", "<x> <a@b> - <c> <1> <> <q> -")
	f("x://u:p:q@h#f", "<x> <u> <p:q> <h> - <> - <f>")
	f("x://h:12a/", "<x> - - <h:12a> - </> - -")
	f("x://a:b:80", "<x> - - <a:b> <80> <> - -")
	f("x:/a//b", "<x> - - - - </a//b> - -")
	f("http://h/a?b?c#d#e", "<http> - - <h> - </a> <b?c> <d#e>")
	f("\x00\xff?\xfe", "- - - - - <\x00\xff> <\xfe> -")
}

func TestSplitErrors(t *testing.T) {
	f := func(src string, at int) {
		t.Helper()
		var r Result
		if err := Parse([]byte(src), &r); err != ErrHostInvalid || int(r.ErrAt) != at {
			t.Errorf("%q: %v at %d, want %d", src, err, r.ErrAt, at)
		}
		if err := r.In.Check([]byte(src)); err != nil {
			t.Errorf("%q is not lossless: %v", src, err)
		}
	}
	f("http://[::1/", 7)
	f("http://[::1]x/", 12)
	f("http://a]/", 8)
	f("http://a[b]/", 8)
	f("http://[a]]/", 10)
}

func TestHostKinds(t *testing.T) {
	f := func(host string, want HostKind) {
		t.Helper()
		var r Result
		Parse([]byte("x://"+host+"/"), &r)
		if r.In.HostKind() != want {
			t.Errorf("%q is %d, want %d", host, r.In.HostKind(), want)
		}
	}
	f("", HostNone)
	f("a", HostRegName)
	f("1.2.3.4", HostIPv4)
	f("255.255.255.255", HostIPv4)
	// RFC 3986 §3.2.2, dec-octet: no leading zeros, none above 255.
	for _, s := range []string{"01.2.3.4", "256.1.1.1", "1.2.3", "1.2.3.4.", "1.2.3.4.5", "1.2.3.x", "1..3.4"} {
		f(s, HostRegName)
	}
	for _, s := range []string{"::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::1.2.3.4", "1::8", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "AbCd::"} {
		f("["+s+"]", HostIPv6)
	}
	for _, s := range []string{"", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1::", "12345::", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::01.2.3.4", "1:", ":1", "::1.2.3.4:5", "1::2:3:4:5:6:7:8", "::1%25a", "g::"} {
		f("["+s+"]", HostBadLiteral)
	}
	f("[v1.a:b]", HostIPvFuture)
	f("[vFf.!]", HostIPvFuture)
	for _, s := range []string{"v.a", "v1.", "vg.a", "v1.a/"} {
		if !strings.Contains(s, "/") {
			f("["+s+"]", HostBadLiteral)
		}
	}
}

func TestPortNumber(t *testing.T) {
	f := func(src string, want uint16, ok bool) {
		t.Helper()
		var u URL
		split([]byte(src), &u)
		if got, gotOK := u.PortNumber(); got != want || gotOK != ok {
			t.Errorf("%q: %d, %v", src, got, gotOK)
		}
	}
	f("x://h:0", 0, true)
	f("x://h:0080", 80, true)
	f("x://h:65535", 65535, true)
	f("x://h:65536", 0, false)
	f("x://h:99999999999999999999", 0, false)
	f("x://h:", 0, false)
	f("x://h", 0, false)
}

// TestSizes checks the sizes given in the documentation.
func TestSizes(t *testing.T) {
	if s := unsafe.Sizeof(URL{}); s != 72 {
		t.Errorf("URL has %d bytes", s)
	}
	if s := unsafe.Sizeof(Diagnostic{}); s != 8 {
		t.Errorf("Diagnostic has %d bytes", s)
	}
	if s := unsafe.Sizeof(Flags{}); s != 16 {
		t.Errorf("Flags has %d bytes", s)
	}
	if s := unsafe.Sizeof(Key{}); s != 16 {
		t.Errorf("Key has %d bytes", s)
	}
}

// TestBytesCapacity checks that appending to a component does not overwrite the
// bytes after it.
func TestBytesCapacity(t *testing.T) {
	src := []byte("x://h/p?q")
	var u URL
	split(src, &u)
	_ = append(u.Bytes(src, Host), "spoiled"...)
	if string(src) != "x://h/p?q" {
		t.Errorf("%q", src)
	}
}

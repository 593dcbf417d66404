package percent

import (
	"strings"
	"testing"
)

// printable returns the bytes from 20 to 7E in s.
func printable(s ByteSet) string {
	var b []byte
	for c := byte(0x20); c < 0x7F; c++ {
		if s.Has(c) {
			b = append(b, c)
		}
	}
	return string(b)
}

// TestSets compares the sets with lists written by hand, in ASCII order, from
// the clauses named.
func TestSets(t *testing.T) {
	want := map[ByteSet]string{
		None:               "",
		RFC3986Userinfo:    " \"#/<>?@[\\]^`{|}",    // RFC 3986 §3.2.1
		RFC3986Host:        " \"#/:<>?@[\\]^`{|}",   // RFC 3986 §3.2.2
		RFC3986PathSegment: " \"#/<>?[\\]^`{|}",     // RFC 3986 §3.3 pchar
		RFC3986Path:        " \"#<>?[\\]^`{|}",      // RFC 3986 §3.3
		RFC3986Query:       " \"#<>[\\]^`{|}",       // RFC 3986 §3.4
		RFC3986QueryName:   " \"#&+<=>[\\]^`{|}",    // and the delimiters of pairs
		RFC3986QueryValue:  " \"#&+<>[\\]^`{|}",     //
		RFC3986Fragment:    " \"#<>[\\]^`{|}",       // RFC 3986 §3.5
		WHATWGC0:           "",                      // URL Standard §1.3, and so on to WHATWGForm
		WHATWGFragment:     " \"<>`",                //
		WHATWGQuery:        " \"#<>",                //
		WHATWGSpecialQuery: " \"#'<>",               //
		WHATWGPath:         " \"#<>?^`{}",           //
		WHATWGUserinfo:     " \"#/:;<=>?@[\\]^`{|}", //
		WHATWGComponent:    " \"#$%&+,/:;<=>?@[\\]^`{|}",
		WHATWGForm:         " !\"#$%&'()+,/:;<=>?@[\\]^`{|}~",
		WHATWGPathSegment:  " \"#/<>?\\^`{}",         // URL Standard §4.4, path state
		WHATWGQueryName:    " \"#&'+<=>",             // URL Standard §5.1
		WHATWGQueryValue:   " \"#&'+<>",              //
		WHATWGHost:         " #/:<>?@[\\]^|",         // URL Standard §3.2
		RFC1738Userinfo:    " \"#/<>@[\\]^`{|}~",     // RFC 1738 §5, user and password
		RFC1738PathSegment: " \"#/;<>?[\\]^`{|}~",    // RFC 1738 §5 hsegment, §3.3
		RFC1738Path:        " \"#<>?[\\]^`{|}~",      // RFC 1738 §5 hpath
		RFC1738Query:       " \"#/<>?[\\]^`{|}~",     // RFC 1738 §5 search
		RFC1738QueryName:   " \"#&+/;<=>?[\\]^`{|}~", //
		RFC1738QueryValue:  " \"#&+/;<>?[\\]^`{|}~",  //
		RFC1738Fragment:    " \"#<>[\\]^`{|}~",       // RFC 1738 §5 xchar
	}
	if len(want) != numSets {
		t.Errorf("the test has %d sets, want %d", len(want), numSets)
	}
	for s := range ByteSet(numSets) {
		if got := printable(s); got != want[s] {
			t.Errorf("%s:\n got %q\nwant %q", s, got, want[s])
		}
		for c := range 256 {
			if c >= 0x20 && c < 0x7F {
				continue
			}
			if s.Has(byte(c)) != (s != None) {
				t.Errorf("%s.Has(%02X) = %v", s, c, s.Has(byte(c)))
			}
		}
	}
}

// TestSetInclusion checks the statement of the URL Standard §1.3 that each set
// contains the previous one.
func TestSetInclusion(t *testing.T) {
	f := func(small, big ByteSet) {
		t.Helper()
		for c := range 256 {
			if small.Has(byte(c)) && !big.Has(byte(c)) {
				t.Errorf("%s contains %02X, %s does not", small, c, big)
			}
		}
	}
	f(WHATWGC0, WHATWGFragment)
	f(WHATWGC0, WHATWGQuery)
	f(WHATWGQuery, WHATWGSpecialQuery)
	f(WHATWGQuery, WHATWGPath)
	f(WHATWGPath, WHATWGUserinfo)
	f(WHATWGUserinfo, WHATWGComponent)
	f(WHATWGComponent, WHATWGForm)
}

func TestClasses(t *testing.T) {
	const alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	for i := range 256 {
		c := byte(i)
		in := func(set string) bool { return strings.IndexByte(set, c) >= 0 }
		if IsUnreserved(c) != in(alnum+"-._~") { // RFC 3986 §2.3
			t.Errorf("IsUnreserved(%q) = %v", c, IsUnreserved(c))
		}
		if IsReserved(c) != in(":/?#[]@!$&'()*+,;=") { // RFC 3986 §2.2
			t.Errorf("IsReserved(%q) = %v", c, IsReserved(c))
		}
		if IsHex(c) != in("0123456789abcdefABCDEF") {
			t.Errorf("IsHex(%q) = %v", c, IsHex(c))
		}
		want := max(strings.IndexByte("0123456789abcdef", c), strings.IndexByte("0123456789ABCDEF", c), 0)
		if int(Unhex(c)) != want {
			t.Errorf("Unhex(%q) = %d, want %d", c, Unhex(c), want)
		}
	}
}

func TestSetString(t *testing.T) {
	if got := WHATWGPath.String(); got != "WHATWGPath" {
		t.Errorf("got %q", got)
	}
	if got := ByteSet(200).String(); got != "ByteSet(200)" || ByteSet(200).Has(' ') {
		t.Errorf("out-of-range set: got %q, contains a space: %v", got, ByteSet(200).Has(' '))
	}
}

func TestSetIndex(t *testing.T) {
	f := func(s ByteSet, src string, want int) {
		t.Helper()
		if got := s.Index([]byte(src)); got != want {
			t.Errorf("%s in %q: %d, want %d", s, src, got, want)
		}
	}
	f(None, "a b", -1)
	f(RFC3986Path, "/a%20b", -1)
	f(RFC3986Path, "/a%20 b", 5)
	f(WHATWGComponent, "%25", -1)
	f(WHATWGForm, "a+b%20&", 6)
}

func TestLookup(t *testing.T) {
	f := func(standard, component string, want ByteSet) {
		t.Helper()
		got, err := Lookup(standard, component)
		if got != want || err != nil {
			t.Errorf("Lookup(%q, %q) = %s, %v, want %s", standard, component, got, err, want)
		}
	}
	f("rfc3986", "path-segment", RFC3986PathSegment)
	f("rfc3986", "host", RFC3986Host)
	f("whatwg", "query", WHATWGSpecialQuery)
	f("whatwg", "userinfo", WHATWGUserinfo)
	f("rfc1738", "fragment", RFC1738Fragment)
	f("form", "query-value", WHATWGForm)

	fail := func(standard, component, want string) {
		t.Helper()
		if _, err := Lookup(standard, component); err == nil || err.Error() != want {
			t.Errorf("Lookup(%q, %q): error %v, want %s", standard, component, err, want)
		}
	}
	fail("rfc2396", "path", `unknown standard "rfc2396": must be one of rfc3986, whatwg, rfc1738, form`)
	fail("form", "path", `unknown component "path" for standard form: must be one of query-name, query-value`)
	fail("rfc1738", "host", `unknown component "host" for standard rfc1738: must be one of path-segment, path, query, query-name, query-value, fragment, userinfo`)
}

package codec

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestWPT runs web-platform-tests' urltestdata.json: hrefs, components,
// failures.
func TestWPT(t *testing.T) {
	var raw []json.RawMessage
	corpusJSON(t, "whatwg/urltestdata.json", &raw)
	list := readExceptions(t, "wpt_urltestdata.txt")
	cases := 0
	for _, m := range raw {
		var c struct {
			Input                                                                      string
			Base                                                                       *string
			Href, Protocol, Username, Password, Hostname, Port, Pathname, Search, Hash string
			Failure                                                                    bool
			RelativeTo                                                                 string
		}
		if json.Unmarshal(m, &c) != nil {
			continue // a comment
		}
		cases++
		var r Result
		base := []byte(nil)
		if c.Base != nil {
			base = []byte(*c.Base)
		}
		got, err := browser.AppendRef(nil, base, []byte(c.Input), &r)
		name := c.Input + " " + string(base)
		if c.Failure {
			list.check(name, err != nil, "%q against %q: %q; want failure", c.Input, base, got)
			continue
		}
		if err != nil || string(got) != c.Href {
			list.check(name, false, "%q against %q: %q, %v; want %q", c.Input, base, got, err, c.Href)
			continue
		}
		if err := r.Out.Check(got); err != nil {
			t.Errorf("%q: %v", c.Input, err)
		}
		want := []string{c.Protocol, c.Username, c.Password, c.Hostname, c.Port, c.Pathname, c.Search, c.Hash}
		parts := wptParts(&r.Out, got)
		list.check(name, slices.Equal(parts, want), "%q against %q: %q, want %q", c.Input, base, parts, want)
	}
	list.done()
	if cases != 891 {
		t.Errorf("%d cases, not 891", cases)
	}
}

// wptParts returns the components as returned by the getters of the URL class
// (https://url.spec.whatwg.org/#url-class).
func wptParts(u *URL, b []byte) []string {
	part := func(c Component, before string) string {
		if u.Span(c).Len() == 0 {
			return ""
		}
		return before + string(u.Bytes(b, c))
	}
	path := string(u.Bytes(b, Path))
	if !u.HasAuthority() && strings.HasPrefix(path, "/.//") {
		path = path[2:] // the serializer's guard is not part of the path
	}
	return []string{part(Scheme, "") + ":", part(Username, ""), part(Password, ""), part(Host, ""), part(Port, ""), path, part(Query, "?"), part(Fragment, "#")}
}

// TestOracle compares with the results of a browser-grade parser on real
// inputs.
func TestOracle(t *testing.T) {
	total := 0
	for _, name := range []string{"archiveorg2008_refs", "crowdsec_logs", "crs_requests_even", "elastic_apache_logs", "isaacs_files", "kasztp", "open_redirect", "traversal"} {
		z, err := gzip.NewReader(bytes.NewReader(corpus(t, "oracle/"+name+".jsonl.gz")))
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		bad := 0
		for line := range bytes.SplitSeq(bytes.TrimSpace(data), []byte("\n")) {
			var c struct {
				Input   string
				Base    string
				Href    string
				Failure bool
			}
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			total++
			got, err := browser.AppendRef(nil, []byte(c.Base), []byte(c.Input), &r)
			if (err != nil) != (c.Href == "") || err == nil && string(got) != c.Href {
				if bad++; bad < 10 {
					t.Errorf("%s: %q against %q: %q, %v; want %q", name, c.Input, c.Base, got, err, c.Href)
				}
			}
		}
	}
	t.Logf("%d inputs", total)
}

// TestValidationErrors compares the names of the validation errors with
// jsdom's, and checks that their offsets lie in the input.
func TestValidationErrors(t *testing.T) {
	data := corpus(t, "vectors/jsdom-whatwg-url.jsonl")
	list := readExceptions(t, "jsdom_validation.txt")
	p := browser.profile
	p.MaxDiagnostics = 1000
	n, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.SplitSeq(bytes.TrimSpace(data), []byte("\n")) {
		var c struct {
			In      string
			InB64   []byte `json:"in_b64"`
			Options struct{ Base string }
			Out     struct {
				Errors  []string
				Failure bool
			}
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		if c.InB64 != nil {
			c.In = string(c.InB64)
		}
		var r Result
		_, err := n.AppendRef(nil, []byte(c.Options.Base), []byte(c.In), &r)
		var got []string
		for _, m := range r.Diagnostics {
			if isValidationError(m.Flag) {
				got = append(got, m.Flag.String())
			}
			if int(m.At) > len(c.In) {
				t.Errorf("%q: %v at %d", c.In, m.Flag, m.At)
			}
		}
		slices.Sort(got)
		slices.Sort(c.Out.Errors)
		list.check(c.In+" "+c.Options.Base, slices.Equal(got, c.Out.Errors) && (err != nil) == c.Out.Failure,
			"%q against %q: %q, %v; jsdom %q", c.In, c.Options.Base, got, err, c.Out.Errors)
	}
	list.done()
}

// isValidationError reports whether f is a validation error of the URL
// Standard.
func isValidationError(f Flag) bool {
	return f >= FlagDomainToASCII && f <= FlagFileInvalidWindowsDriveLetterHost || f == FlagHostMissing || f == FlagPortInvalid
}

// TestHostsToASCII runs web-platform-tests' toascii.json and IdnaTestV2.json
// through the host parser.
func TestHostsToASCII(t *testing.T) {
	f := func(file, exceptions string) {
		t.Helper()
		var raw []json.RawMessage
		corpusJSON(t, file, &raw)
		list := readExceptions(t, exceptions)
		cases := 0
		for _, m := range raw {
			var c struct {
				Input  string
				Output *string
			}
			if json.Unmarshal(m, &c) != nil || c.Input == "" {
				continue // a comment, or a URL without a host
			}
			cases++
			var r Result
			got, err := browser.Append(nil, []byte("https://"+c.Input+"/x"), &r)
			host := string(r.Out.Bytes(got, Host))
			ok := err != nil && c.Output == nil || err == nil && c.Output != nil && host == *c.Output
			list.check(c.Input, ok, "%s: %q: %q, %v", file, c.Input, host, err)
		}
		list.done()
		t.Logf("%s: %d hosts", file, cases)
	}
	f("whatwg/toascii.json", "wpt_toascii.txt")
	f("whatwg/IdnaTestV2.json", "wpt_idnatestv2.txt")
	f("whatwg/IdnaTestV2-removed.json", "wpt_idnatestv2_removed.txt")
}

// TestResolveBrowser checks the WHATWG parser against the tables of RFC 3986
// §5.4. If the URL Standard differs, the expected result is that of the URL
// Standard.
func TestResolveBrowser(t *testing.T) {
	f := func(ref, want string) {
		t.Helper()
		var r Result
		got, err := browser.AppendRef(nil, []byte("http://a/b/c/d;p?q"), []byte(ref), &r)
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", ref, got, err, want)
		}
	}
	// §5.4.1
	f("g:h", "g:h")
	f("g", "http://a/b/c/g")
	f("./g", "http://a/b/c/g")
	f("g/", "http://a/b/c/g/")
	f("/g", "http://a/g")
	f("//g", "http://g/") // RFC 3986: http://g; an empty path is "/" for special schemes
	f("?y", "http://a/b/c/d;p?y")
	f("g?y", "http://a/b/c/g?y")
	f("#s", "http://a/b/c/d;p?q#s")
	f(";x", "http://a/b/c/;x")
	f("g;x?y#s", "http://a/b/c/g;x?y#s")
	f("", "http://a/b/c/d;p?q")
	f(".", "http://a/b/c/")
	f("..", "http://a/b/")
	f("../../g", "http://a/g")
	// §5.4.2
	f("../../../g", "http://a/g")
	f("/./g", "http://a/g")
	f("/../g", "http://a/g")
	f("g..", "http://a/b/c/g..")
	f("./g/.", "http://a/b/c/g/")
	f("g;x=1/../y", "http://a/b/c/y")
	f("g?y/../x", "http://a/b/c/g?y/../x")
	f("http:g", "http://a/b/c/g") // RFC 3986, strict: http:g; browsers resolve a URL with the scheme of the base
	// Not in the RFC.
	f(`\\evil\x`, "http://evil/x")
	f("/\\evil", "http://evil/")
}

// TestValidationOffsets checks that each error has the offset of the offending
// byte.
func TestValidationOffsets(t *testing.T) {
	f := func(src string, flag Flag, at uint32) {
		t.Helper()
		var r Result
		browser.Append(nil, []byte(src), &r)
		for _, m := range r.Diagnostics {
			if m.Flag == flag && m.At == at {
				return
			}
		}
		t.Errorf("%q: no %v at %d in %v", src, flag, at, r.Diagnostics)
	}
	f("https://a_b.de/", FlagDomainToASCII, 8)
	f("https://x.a_b.de/", FlagDomainToASCII, 10)
	f("https://exa%23mple.org", FlagDomainToASCII, 11)
	f("https://exam%70le.org", FlagDomainPercentEncoded, 12)
	f("foo://exa[mple.org", FlagHostInvalidCodePoint, 9)
	f("https://127.0.0.1./", FlagIPv4EmptyPart, 17)
	f("https://1.2.3/", FlagIPv4TooFewParts, 13)
	f("https://1.2.3.4.5/", FlagIPv4TooManyParts, 16)
	f("https://test.42", FlagIPv4NonNumericPart, 8)
	f("https://127.0.0x0.1", FlagIPv4NonDecimalPart, 14)
	f("https://255.255.4000.1", FlagIPv4OutOfRangePart, 16)
	f("https://[::1", FlagIPv6Unclosed, 12)
	f("https://[:1]", FlagIPv6InvalidCompression, 9)
	f("https://[1:2:3:4:5:6:7:8:9]", FlagIPv6TooManyPieces, 25)
	f("https://[1::1::1]", FlagIPv6MultipleCompression, 14)
	f("https://[1:2:3!:4]", FlagIPv6InvalidCodePoint, 14)
	f("https://[1:2:3]", FlagIPv6TooFewPieces, 14)
	f("https://[::01]", FlagIPv6PieceLeadingZero, 11)
	f("https://[1:1:1:1:1:1:1:127.0.0.1]", FlagIPv4InIPv6TooManyPieces, 23)
	f("https://[ffff::127.0.xyz.1]", FlagIPv4InIPv6InvalidCodePoint, 21)
	f("https://[ffff::127.0.0.4000]", FlagIPv4InIPv6OutOfRangePart, 25)
	f("https://[ffff::127.0.0]", FlagIPv4InIPv6TooFewParts, 22)
	f("https://example.org/>", FlagInvalidURLUnit, 20)
	f(" https://example.org", FlagInvalidURLUnit, 0)
	f("ht\ntps://example.org", FlagInvalidURLUnit, 2)
	f("https://example.org/%s", FlagInvalidURLUnit, 20)
	f("https:example.org", FlagSpecialSchemeMissingFollowingSolidus, 6)
	f("\U0001F4A9", FlagMissingSchemeNonRelativeURL, 0)
	f(`https://example.org\path`, FlagInvalidReverseSolidus, 19)
	f("https://user@example.org", FlagInvalidCredentials, 12)
	f("https://#fragment", FlagHostMissing, 8)
	f("https://:443", FlagHostMissing, 8)
	f("https://user:pass@", FlagHostMissing, 18)
	f("https://example.org:70000", FlagPortOutOfRange, 20)
	f("https://example.org:7z", FlagPortInvalid, 21)
	f("file://c:", FlagFileInvalidWindowsDriveLetterHost, 7)
	f("https://a\t.de/>", FlagInvalidURLUnit, 14) // after a removed tab
	f("https://1\t27.1", FlagIPv4TooFewParts, 14)
}

// TestHostileHosts checks how browsers read the hosts of the Safe Browsing
// document. That document canonicalizes for matching and differs in places.
func TestHostileHosts(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		var r Result
		got, err := byName("equiv").Append(nil, []byte(src), &r)
		if string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v; want %q", src, got, err, want)
		}
	}
	f("http://3279880203/blah", "http://195.127.0.11/blah")
	f("http://www.GOOgle.com/", "http://www.google.com/")
	f("http://www.google.com.../", "http://www.google.com.../")
	f("http://\x01\x80.com/", "")
	f("http://%31%36%38%2e%31%38%38%2e%39%39%2e%32%36/%2E/", "http://168.188.99.26/")
	f("http://0xc0.0250.1/", "http://192.168.0.1/")
	f("http://1.2.3.4.5/", "")
	f("http://host%23.com/", "")
	f("http://host.com//twoslashes?more//slashes", "http://host.com//twoslashes?more//slashes")
	f("  http://www.google.com/  ", "http://www.google.com/")
	f("http:// leadingspace.com/", "")
	f("http://%20leadingspace.com/", "")
	f("https://www.securesite.com/", "https://www.securesite.com/")
	f("http://host.com/ab%23cd", "http://host.com/ab%23cd")
	f("http://\u2460.\u2461.\u2462.\u2463/", "http://1.2.3.4/")
}

// latin1 is a minimal QueryEncoding.
type latin1 struct{}

func (latin1) AppendQuery(dst, text []byte) []byte {
	for _, r := range string(text) {
		if r > 0xFF {
			dst = fmt.Appendf(dst, "%%26%%23%d%%3B", r)
			continue
		}
		dst = append(dst, byte(r))
	}
	return dst
}

func TestQueryEncoding(t *testing.T) {
	f := func(profile, src, want string) {
		t.Helper()
		n, err := New(byName(profile).Profile(), WithQueryEncoding(latin1{}))
		if err != nil {
			t.Fatal(err)
		}
		for _, src := range []string{src, want} { // a normal form stays the same with any encoding
			var r Result
			norm, err := n.Append(nil, []byte(src), &r)
			if err != nil || string(norm) != want {
				t.Errorf("%q: %q, %v, want %q", src, norm, err, want)
			}
			if key := r.AppendKey(nil, LevelSyntax); string(key) != want {
				t.Errorf("%q: K0 is %q", src, key)
			}
			if err := r.Out.Check(norm); err != nil {
				t.Error(err)
			}
		}
	}
	f("equiv", "http://h/é?é\u2603\xFF%7e#é", "http://h/%C3%A9?%E9%26%239731%3B%FF~#%C3%A9")
	f("crawler", "https://h/?é", "https://h/?%E9")
	f("equiv", "ws://h/?é", "ws://h/?%C3%A9")
	f("equiv", "file:///?é", "file:///?%E9")
	if _, err := New(byName("rfc3986").Profile(), WithQueryEncoding(latin1{})); err == nil {
		t.Error("New accepts a query encoding with an RFC 3986 profile")
	}
}

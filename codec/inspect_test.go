package codec

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/codec/percent"
)

// TestFlags checks every flag with an input that has it. It lists all
// diagnostics: flag, offset, component, and action under rfc3986-scheme.
func TestFlags(t *testing.T) {
	n := mustCompile("rfc3986-scheme")
	f := func(src string, want ...string) {
		t.Helper()
		var r Result
		if _, err := n.Append(nil, []byte(src), &r); err != nil {
			t.Errorf("%q: %v", src, err)
		}
		var got []string
		for _, m := range r.Diagnostics {
			got = append(got, fmt.Sprintf("%v@%d %v %v", m.Flag, m.At, m.Component, m.Action))
		}
		if strings.Join(got, "; ") != strings.Join(want, "; ") {
			t.Errorf("%q:\n got %s\nwant %s", src, strings.Join(got, "; "), strings.Join(want, "; "))
		}
	}
	// Escapes: SEMANTICS section 1, RFC 3986 §2.1.
	f("http://h/a%", "truncated@10 path encoded")
	f("http://h/a%4?q", "truncated@10 path encoded")
	f("http://h/%zz", "non-hex@9 path encoded")
	f("http://h/?%u0041", "percent-u@10 query encoded")
	f("http://h/%00", "nul@9 path kept")
	f("http://h/%0A", "control@9 path kept")
	f("http://h/%FF", "bad-utf8@9 path kept")
	f("http://h/%C0%AF", "overlong-utf8@9 path kept")
	f("http://h/%ED%A0%80", "surrogate-utf8@9 path kept")
	f("http://h/%EF%BF%BF", "noncharacter@9 path kept")
	f("http://h/%252F", "double-encoded@9 path kept")
	f("http://h/..%2Fx", "encoded-traversal@9 path kept")
	f("http://h/?..%2Fx")
	f("http://h/%2f", "lower-hex@9 path recased")
	f("http://h/%41", "needless-escape@9 path decoded")
	// Raw bytes.
	f("http://h/a\x01\x02b\x03", "raw-control@10 path encoded", "raw-control@13 path encoded")
	f("http://h/a b", "raw-space@10 path encoded")
	f("http://h/ü", "raw-non-ascii@9 path encoded")
	f("http://h/a\\b", "raw-backslash@10 path encoded")
	f("http://h/a[b", "raw-illegal@10 path encoded")
	f("http://h/#a#b", "raw-illegal@11 fragment encoded")
	f("http://h/?:@/?!$&'()*+,;=") // RFC 3986 §3.4: all of it is the query
	// The host.
	f("http://0x7f.1/", "ipv4-nonstandard@7 host kept")
	f("http://1.2.3.256/", "ipv4-nonstandard@7 host kept")
	f("http://01.2.3.4/", "ipv4-nonstandard@7 host kept")
	f("http://1.2.3.4/")
	f("http://1.2.3.4./", "ipv4-nonstandard@7 host kept")
	f("http://a.b1/")
	f("http://[x]/", "ip-literal-bad@7 host kept")
	f("http://[fe80::1%25eth0]/", "zone-id@15 host kept")
	f("http://[v1.a:b]/")
	f("http://xn--a/", "idna-invalid@7 host kept")
	f("http://xn--bcher-kva.de/")
	f("http://b\u00fccher.de/", "raw-non-ascii@8 host encoded")
	f("http://a\u200db/", "idna-invalid@7 host kept", "raw-non-ascii@8 host encoded") // UTS 46, CheckJoiners
	f("http://a_b/", "host-not-ldh@8 host kept")
	f("http://a%2Fb/", "host-not-ldh@8 host kept")
	f("http://evil.com\\@good.com/", "credentials@7 username kept", "raw-backslash@15 username encoded", "host-ambiguous@15 host encoded")
	f("http://h\\x/", "raw-backslash@8 host encoded", "host-ambiguous@8 host encoded")
	f("x://h\t/", "raw-control@5 host encoded", "host-ambiguous@5 host encoded")
	f("http://h:8x/", "port-invalid@8 host encoded", "raw-illegal@8 host encoded")
	f("http://h:65536/", "port-out-of-range@9 port kept")
	f("http:///x", "host-missing@7 host kept", "host-ambiguous@7 host kept")
	f("http:/x", "host-missing@5 host kept", "host-ambiguous@5 host kept")
	f("https://", "host-missing@8 host kept")
	f("x:///y")
	// Allowed, but notable.
	f("http://u:p@h/", "credentials@7 username kept")
	f("http://:p@h/", "credentials@7 username kept")
	f("http://@h/")
	f("http://h/a/./b/../c", "dot-segments@11 path removed")
	f("http://h/a/%2e%2E", "dot-segments@11 path removed", "lower-hex@11 path recased",
		"needless-escape@11 path decoded", "needless-escape@14 path decoded")
	f("a/../b", "dot-segments@2 path kept")
	f("http://h/.a/..b")
	f("http://h/?a&amp;b", "html-entity@11 query kept")
	f("1a:b", "scheme-invalid@2 path kept")
	f("a b:c", "raw-space@1 path encoded", "scheme-invalid@3 path kept")
}

// TestRelative checks that a URL without a scheme is relative, unless a base
// supplies one.
func TestRelative(t *testing.T) {
	n := mustCompile("rfc3986")
	var r Result
	for _, src := range []string{"", "a", "/a", "//h/a", "?q", "#f"} {
		if n.Append(nil, []byte(src), &r); !r.Flags.Has(FlagRelative) {
			t.Errorf("%q is not relative", src)
		}
		if n.AppendRef(nil, []byte("http://b/"), []byte(src), &r); r.Flags.Has(FlagRelative) {
			t.Errorf("%q with a base is relative", src)
		}
	}
}

// TestDiagnosticsLimit checks that the flags are complete even if there are
// more diagnostics than the profile allows.
func TestDiagnosticsLimit(t *testing.T) {
	p, _ := Lookup("rfc3986")
	p.MaxDiagnostics = 3
	n, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	n.Append(nil, []byte("http://h/% % % % %00%41 \x01"), &r)
	if len(r.Diagnostics) != 3 || !r.Flags.Has(FlagDiagnosticsDropped) || !r.Flags.Has(FlagNUL) || !r.Flags.Has(FlagNeedlessEscape) || !r.Flags.Has(FlagRawControl) {
		t.Errorf("%d marks, flags %s", len(r.Diagnostics), r.Flags.AppendTo(nil))
	}
	if r.Diagnostics[2].At != 11 {
		t.Errorf("diagnostics %v: not the first ones", r.Diagnostics)
	}
}

// TestDoubleEncodedInfo checks the depth and the bits about the decoded text.
func TestDoubleEncodedInfo(t *testing.T) {
	f := func(src string, depth, bits uint8) {
		t.Helper()
		var r Result
		Parse([]byte(src), &r)
		if len(r.Diagnostics) == 0 || r.Diagnostics[0].Flag != FlagDoubleEncoded || r.Diagnostics[0].Info != depth|bits {
			t.Errorf("%q: %+v", src, r.Diagnostics)
		}
	}
	f("x:%2541", 1, WouldBeUTF8)
	f("x:%25252F", 2, WouldBeUTF8|WouldDelimit)
	f("x:%25FF", 1, 0)
}

// TestKindsAreFlags checks the order of percent's kinds, on which
// inspector.percent relies.
func TestKindsAreFlags(t *testing.T) {
	for f := FlagTruncated; f <= FlagNeedlessEscape; f++ {
		if f.String() != percent.Kind(f).String() {
			t.Errorf("flag %v is kind %v", f, percent.Kind(f))
		}
	}
	if percent.WouldBeUTF8 != WouldBeUTF8 || percent.WouldDelimit != WouldDelimit {
		t.Error("the bits of a double escape differ")
	}
}

func TestFlagNames(t *testing.T) {
	seen := map[string]bool{}
	for f := range AllFlags().All() {
		if name := f.String(); name == "" || seen[name] {
			t.Errorf("flag %d: name %q", f, name)
		}
		seen[f.String()] = true
	}
	s := Flags{}.With(FlagNUL).With(FlagDiagnosticsDropped).With(127)
	if got := string(s.AppendTo(nil)); got != "nul,diagnostics-dropped,unknown" || s.Len() != 3 || !s.Has(127) || s.Without(127).Has(127) {
		t.Errorf("%q, %d flags", got, s.Len())
	}
}

// Bytes that rfc-clean escapes have the action Encoded.
func TestCleanActions(t *testing.T) {
	n := byName("equiv-clean")
	src := []byte("http://h/a|%zz?b%#%%41")
	var r Result
	norm, err := n.Append(nil, src, &r)
	if want := "http://h/a%7C%25zz?b%25#%25A"; err != nil || string(norm) != want {
		t.Fatalf("got %q (%v), want %q", norm, err, want)
	}
	want := map[uint32]Action{10: ActionEncoded, 11: ActionEncoded, 16: ActionEncoded, 18: ActionEncoded, 19: ActionDecoded}
	got := map[uint32]Action{}
	for _, m := range r.Diagnostics {
		if m.Flag != FlagInvalidURLUnit { // WHATWG only reports it
			got[m.At] = m.Action
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the actions are %v, want %v", got, want)
	}
}

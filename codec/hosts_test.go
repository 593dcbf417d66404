package codec

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// hostBases are the bases that the tests of FlagHostAmbiguous resolve against. The
// empty one means no base.
var hostBases = []string{
	"", "http://other.example/", "https://o.example/a/b?c", "http://user@Other.Example:81/d/", "ftp://f.example/", "ws://w.example/",
	"file:///a/b", "file://h.example/C:/x", "file://localhost/y", "file:\\\\localhost\\z", "x://opaque.example/a", "x:///a", "mailto:a@b", "a:/b",
	"http://evil.example\\@good.example/", "http:/x.example/", "http:///x.example/", "http://0x7f.1/", " http://sp.example/ ",
	"http://b\u00fccher.example/", "http://t\tab.example/", "http://xn--bcher-kva.example/", "http://a%2eb.example/",
}

// hostRefs are references and URLs on which the standards differ, or nearly do.
var hostRefs = []string{
	"http:/x.example/f", "http:x.example", "http:", "http:?q", "http:/", "https:/x.example/f", "http:\\\\other.example\\a", "http:\\/x.example",
	"file:\\\\localhost//", "file:\\\\h.example\\x", "file:/localhost/x", "file:////h.example/x", "file://c:/x", "file:c|/x", "file://C|/x", "FILE://LOCALHOST/x", "file:///C|/x", "FILE:\\\\LOCALHOST/a",
	"file://%6cocalhost/a", "file://h.example/a", "file:a", "file:", "/C:/x", "C|/x",
	"\\\\h.example\\x", "\\\\other.example\\x", "/\\h.example", "\\/h.example", "/\\Other.Example/", "//h.example\\@good.example/", "///h.example/x", "////h.example", "//",
	"//other.example/", "//h\t/", "/\t/h.example/", "\t//h.example/", "ht\ttp://h.example/", "http\n://h.example/", " http://h.example/ ", "\x00http://h.example/", "  //h.example ",
	"http://u@h.example/", "http://u\\@h.example/", "http://u:p@h.example\\x", "http://h.example:80\\x", "http://@/x", "http://u@/x", "http://a@b@c.example/",
	"http://h.example:8x/", "http://h.example:99999/", "http://h.example:/", "http://[::1]/", "http://[::1]:80\\@x/", "http://[::1", "http://h.example\\[x/",
	"x://h.example\\y/", "x://h\t/", "x:/\t/h.example/", "x:///h.example", "x:/h.example", "x:h.example", "x:\\\\h.example",
	"ws:/x.example/", "ws://x.example/", "wss:x.example", "ftp:/x.example", "ftp:///x.example", "ftp:x",
	"a/b", "/a/b", "?q", "#f", "", "..", "1a:b", "a b:c", "/a\\b", "?\\\\h", "#\\\\h", "a\tb", "http://h.example/\\\\x", "http://h.example/?\t#\n",
	"A\t:b", "x\t://h.example/",
	"http://a%2fb.example/", "http://A%2eB.example/", "http://B\u00dcCHER.example/", "http://127.1/",
}

// slowRFCHost returns the scheme and host of ref against base by RFC 3986:
// §5.2.2, applied with the regular expression of appendix B.
func slowRFCHost(base, ref string) (scheme, host string, ok bool) {
	trim := func(s string) string { return slowBytes(strings.Trim(s, slowC0)) }
	p, ok := slowSplit(trim(ref))
	if !ok {
		return "", "", false
	}
	if !p.hasScheme && base != "" {
		b, ok := slowSplit(trim(base))
		if !p.hasAuth {
			p.host = b.host
		}
		if p.scheme = b.scheme; !ok && !p.hasAuth {
			return "", "", false
		}
	}
	return p.scheme, slowUnbytes(p.host), true
}

const slowC0 = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// slowSameHost reports whether the RFC 3986 host, alone in a URL of its scheme,
// becomes browserHost.
func slowSameHost(scheme, host, browserHost string) bool {
	switch {
	case host == browserHost:
		return true
	case host == "":
		return false // browserHost is not empty
	case !strings.HasPrefix(host, "[") && strings.ContainsAny(host, "\t\n\r\\:@"):
		return false // not a host: it would be parsed as something else
	}
	isFile := strings.EqualFold(scheme, "file")
	if isFile {
		scheme = "http" // uses the same host parser, without drive letters
	}
	var r Result
	norm, err := byName("whatwg").Append(nil, []byte(scheme+"://"+host+"/"), &r)
	got := string(r.Out.Bytes(norm, Host))
	if isFile && got == "localhost" {
		got = "" // RFC 8089 §2
	}
	return err == nil && got == browserHost
}

// checkHosts compares FlagHostAmbiguous, in both standards, with the hosts that the
// full parsers of both find in ref.
func checkHosts(t *testing.T, base, ref string) {
	t.Helper()
	rfcScheme, rfcHost, rfcOK := slowRFCHost(base, ref)
	var w Result
	text, err := byName("whatwg").AppendRef(nil, []byte(base), []byte(ref), &w)
	if err == ErrBase {
		return
	}
	var r Result
	_, rfcErr := byName("rfc3986").AppendRef(nil, []byte(base), []byte(ref), &r)
	want := false
	if err == nil && rfcOK {
		want = !slowSameHost(rfcScheme, rfcHost, string(w.Out.Bytes(text, Host)))
	}
	if err == nil && w.Flags.Has(FlagHostAmbiguous) != want {
		t.Errorf("whatwg: base %q, %q: host-ambiguous is %v; RFC 3986 sees host %q (%v), WHATWG makes %q", base, ref, !want, rfcHost, rfcOK, text)
	}
	if got := r.Flags.Has(FlagHostAmbiguous); got != want && rfcErr != ErrBase {
		t.Errorf("rfc: base %q, %q: host-ambiguous is %v; RFC 3986 sees host %q (%v), WHATWG makes %q (%v)", base, ref, got, rfcHost, rfcOK, text, err)
	}
}

// TestHostAmbiguous compares the flag with the hosts that the parsers of both
// standards find, with and without a base that supplies one.
func TestHostAmbiguous(t *testing.T) {
	for _, base := range hostBases {
		for _, refs := range [][]string{hostRefs, seeds, walkSeeds, hostBases[1:]} {
			for _, ref := range refs {
				checkHosts(t, base, ref)
			}
		}
	}
}

// TestHostAmbiguousVectors checks the result and its offset for selected cases.
func TestHostAmbiguousVectors(t *testing.T) {
	for _, c := range []struct {
		base, ref string
		at        int // offset of the diagnostic with WHATWG, or -1
	}{
		{"http://other.example/", "http:/x.example/f", 5}, // RFC 3986: no host; WHATWG: the host of the base
		{"http://other.example/", "http:x", 5},
		{"", "http:/x.example/f", 6},
		{"http://other.example/", "\\\\other.example\\x", -1}, // different parse, same host
		{"http://other.example/", "\\\\x.example", 2},
		{"http://other.example/", "/\t/x.example", 3},
		{"http://other.example/", "x", -1},
		{"http://evil.example\\@good.example/", "x", 0}, // the base is ambiguous
		{"http://Other.example/", "/x", -1},
		{"", "file:\\\\localhost//", -1}, // RFC 8089 §2
		{"", "file:\\\\h//", 7},
		{"", "file://c:/", 7},
		{"", " http://h/ ", -1}, // RFC 3986 appendix C
	} {
		var r Result
		_, _ = byName("whatwg").AppendRef(nil, []byte(c.base), []byte(c.ref), &r)
		at := -1
		for _, m := range r.Diagnostics {
			if m.Flag == FlagHostAmbiguous {
				at = int(m.At)
			}
		}
		if at != c.at || r.Flags.Has(FlagHostAmbiguous) != (at >= 0) {
			t.Errorf("base %q, %q: host-ambiguous at %d, want %d", c.base, c.ref, at, c.at)
		}
	}
}

// A hostRow is a row of the oracle corpora.
type hostRow struct {
	Input string  `json:"input"`
	Base  *string `json:"base"`
	Href  string  `json:"href"`
}

func hostRows(t *testing.T, name string) (rows []hostRow) {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(corpus(t, "oracle/"+name+".jsonl.gz")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var row hostRow
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestHostAmbiguousCorpora checks every input of the oracle corpora with its
// own base, where the browser's host comes from another parser, and some of
// them with all of hostBases.
func TestHostAmbiguousCorpora(t *testing.T) {
	compared := 0
	for _, name := range []string{"archiveorg2008_refs", "crowdsec_logs", "crs_requests_even", "elastic_apache_logs", "isaacs_files", "kasztp", "open_redirect", "traversal"} {
		rows := hostRows(t, name)
		for i, row := range rows {
			base := ""
			if row.Base != nil {
				base = *row.Base
			}
			if href, ok := slowSplit(slowBytes(row.Href)); ok && row.Href != "" {
				var r Result
				_, _ = byName("equiv").AppendRef(nil, []byte(base), []byte(row.Input), &r)
				scheme, host, ok := slowRFCHost(base, row.Input)
				want := ok && !slowSameHost(scheme, host, href.host)
				if r.Flags.Has(FlagHostAmbiguous) != want {
					t.Errorf("base %q, %q: host-ambiguous is %v; RFC 3986 sees host %q (%v), the oracle makes %q", base, row.Input, !want, host, ok, row.Href)
				}
				compared++
			}
			if i%max(1, len(rows)/100) == 0 {
				for _, base := range hostBases {
					checkHosts(t, base, row.Input)
				}
			}
		}
	}
	if compared < 80_000 {
		t.Errorf("compared %d rows, want at least 80,000", compared)
	}
}

// FuzzHosts compares FlagHostAmbiguous with the parsers for any base and reference.
func FuzzHosts(f *testing.F) {
	for i, ref := range hostRefs {
		f.Add(byte(i), ref)
	}
	f.Fuzz(func(t *testing.T, which byte, ref string) {
		checkHosts(t, hostBases[int(which)%len(hostBases)], ref)
	})
}

package percent

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Character classes of RFC 3986.
const (
	alpha      = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digit      = "0123456789"
	hexdig     = digit + "ABCDEFabcdef"             // RFC 3986 §2.1: a to f are equivalent to A to F
	unreserved = alpha + digit + "-._~"             // RFC 3986 §2.3
	genDelims  = ":/?#[]@"                          // RFC 3986 §2.2
	subDelims  = "!$&'()*+,;="                      // RFC 3986 §2.2
	pchar      = unreserved + subDelims + ":@"      // RFC 3986 §3.3, without pct-encoded
	regName    = unreserved + subDelims             // RFC 3986 §3.2.2, without pct-encoded
	userinfo   = unreserved + subDelims + ":"       // RFC 3986 §3.2.1, without pct-encoded
	query      = pchar + "/?"                       // RFC 3986 §3.4
	uchar      = alpha + digit + "$-_." + "+!*'()," // RFC 1738 §5: unreserved = alpha / digit / safe / extra, without escape
	hsegment   = uchar + ";:@&="                    // RFC 1738 §5: hsegment and search
	user       = uchar + ";?&="                     // RFC 1738 §5: user and password
	xchar      = uchar + ";/?:@&="                  // RFC 1738 §5: unreserved / reserved
)

// Percent-encode sets of the WHATWG URL Standard §1.3, without the bytes of the
// C0 control percent-encode set, which all of them contain.
const (
	wFragment   = " \"<>`"
	wQuery      = " \"#<>"
	wSpecial    = wQuery + "'"
	wPath       = wQuery + "?^`{}"
	wUserinfo   = wPath + "/:;=@[\\]|"
	wComponent  = wUserinfo + "$%&+,"
	wForm       = wComponent + "!'()~"
	wForbidHost = "\x00\t\n\r #/:<>?@[\\]^|" // forbidden host code points, §3.2
)

// set describes one constant of type ByteSet: its name, its documentation and its
// rule. Either allow lists the bytes that need no escape, or deny lists the
// printable bytes that do.
type set struct {
	name, doc   string
	allow, deny string
}

var sets = []set{
	{name: "RFC3986Userinfo", doc: "the set for userinfo (RFC 3986 §3.2.1): all bytes except unreserved, sub-delims and ':'", allow: userinfo},
	{name: "RFC3986Host", doc: "the set for reg-name (RFC 3986 §3.2.2): all bytes except unreserved and sub-delims. It does not apply to an IP literal in brackets", allow: regName},
	{name: "RFC3986PathSegment", doc: "the set for a path segment (RFC 3986 §3.3): all bytes except pchar", allow: pchar},
	{name: "RFC3986Path", doc: "the set for a whole path (RFC 3986 §3.3): all bytes except pchar and '/'", allow: pchar + "/"},
	{name: "RFC3986Query", doc: "the set for a whole query (RFC 3986 §3.4): all bytes except pchar, '/' and '?'", allow: query},
	{name: "RFC3986QueryName", doc: "the set for the name in a name=value pair of a query: RFC3986Query and the delimiters '&', '=' and '+', which forms decode to a space", allow: without(query, "&=+")},
	{name: "RFC3986QueryValue", doc: "the set for the value in a name=value pair of a query: RFC3986Query, '&' and '+'. '=' is data there, because the first one ends the name", allow: without(query, "&+")},
	{name: "RFC3986Fragment", doc: "the set for a fragment (RFC 3986 §3.5): all bytes except pchar, '/' and '?'", allow: query},

	{name: "WHATWGC0", doc: "the C0 control percent-encode set, for opaque paths and opaque hosts: 00 to 1F and all bytes above 7E", deny: ""},
	{name: "WHATWGFragment", doc: "the fragment percent-encode set", deny: wFragment},
	{name: "WHATWGQuery", doc: "the query percent-encode set, for schemes that are not special", deny: wQuery},
	{name: "WHATWGSpecialQuery", doc: "the special-query percent-encode set, for http, https, ws, wss, ftp and file", deny: wSpecial},
	{name: "WHATWGPath", doc: "the path percent-encode set, with '^' (since March 2025)", deny: wPath},
	{name: "WHATWGUserinfo", doc: "the userinfo percent-encode set", deny: wUserinfo},
	{name: "WHATWGComponent", doc: "the component percent-encode set (encodeURIComponent). It contains '%'", deny: wComponent},
	{name: "WHATWGForm", doc: "the application/x-www-form-urlencoded percent-encode set. It contains '%'. AppendEncode writes a space as '+' with it", deny: wForm},
	{name: "WHATWGPathSegment", doc: "the set for a path segment: WHATWGPath, and '/' and '\\', which end a segment (URL Standard §4.4, path state)", deny: wPath + "/\\"},
	{name: "WHATWGQueryName", doc: "the set for the name in a pair of a query: WHATWGSpecialQuery, '&', '=' and '+' (URL Standard §5.1)", deny: wSpecial + "&=+"},
	{name: "WHATWGQueryValue", doc: "the set for the value in a pair of a query: WHATWGSpecialQuery, '&' and '+' (URL Standard §5.1)", deny: wSpecial + "&+"},
	{name: "WHATWGHost", doc: "the set for an opaque host: WHATWGC0 and the forbidden host code points, which make the host parser fail when raw (URL Standard §3.5)", deny: wForbidHost},

	{name: "RFC1738Userinfo", doc: "the set for user[:password] (RFC 1738 §3.1 and §5): all bytes except uchar, ';', '?', '&', '=' and ':'", allow: user + ":"},
	{name: "RFC1738PathSegment", doc: "the set for data in a segment of an http path: that of hsegment (RFC 1738 §5), and ';', which §3.3 reserves", allow: without(hsegment, ";")},
	{name: "RFC1738Path", doc: "the set for hpath (RFC 1738 §5): all bytes except uchar, ';', ':', '@', '&', '=' and '/'", allow: hsegment + "/"},
	{name: "RFC1738Query", doc: "the set for search (RFC 1738 §5): all bytes except uchar, ';', ':', '@', '&' and '='", allow: hsegment},
	{name: "RFC1738QueryName", doc: "the set for the name in a pair: RFC1738Query, ';' (reserved, §3.3), '&', '=' and '+'", allow: without(hsegment, ";&=+")},
	{name: "RFC1738QueryValue", doc: "the set for the value in a pair: RFC1738Query, ';' (reserved, §3.3), '&' and '+'", allow: without(hsegment, ";&+")},
	{name: "RFC1738Fragment", doc: "the set for a fragment: all bytes except uchar and reserved. A fragment is not part of a URL in RFC 1738 (§2.2), so its most general production, xchar, is used, as in RFC 1808 §2.2", allow: xchar},
}

// Classes that are not sets use the high bits.
var otherClasses = []struct{ name, doc, bytes string }{
	{"isUnreserved", "RFC 3986 §2.3", unreserved},
	{"isHex", "HEXDIG in either case, RFC 3986 §2.1", hexdig},
	{"isLowerHex", "a to f, the hexadecimal digits that are not in normal form", "abcdef"},
	{"isPercent", "'%'", "%"},
	{"isMark", "bytes at which a defect can start: '%', and '.' for encoded-traversal", "%."},
	{"isReserved", "gen-delims and sub-delims, RFC 3986 §2.2", genDelims + subDelims},
	{"isDelim", "reserved, and '\\\\', which browsers interpret as '/'", genDelims + subDelims + "\\"},
}

func without(s, cut string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(cut, r) {
			return -1
		}
		return r
	}, s)
}

func (s set) has(c byte) bool {
	switch {
	case c < 0x20 || c >= 0x7F:
		return true // no standard allows raw controls, DEL and non-ASCII bytes
	case s.allow != "":
		return c != '%' && strings.IndexByte(s.allow, c) < 0
	default:
		return strings.IndexByte(s.deny, c) >= 0
	}
}

func bits(c byte) (v uint64) {
	for i, s := range sets {
		if s.has(c) {
			v |= 1 << (i + 1)
		}
	}
	for i, k := range otherClasses {
		if strings.IndexByte(k.bytes, c) >= 0 {
			v |= 1 << (63 - i)
		}
	}
	return v
}

// comment returns text as a doc comment of lines with at most 80 columns.
func comment(text string) string {
	const width = 72 // without the tab and the slashes
	var b strings.Builder
	column := width
	for word := range strings.FieldsSeq(text) {
		if column += 1 + utf8.RuneCountInString(word); column > width {
			b.WriteString("\n// " + word)
			column = utf8.RuneCountInString(word)
		} else {
			b.WriteString(" " + word)
		}
	}
	return strings.TrimPrefix(b.String(), "\n") + "\n"
}

//go:generate go test -run ^TestTable$ -update .

var update = flag.Bool("update", false, "write table.go")

// TestTable makes table.go: the sets of bytes that must be escaped in each component under
// each standard, with one bit per set and byte. The rules above follow the notation of the
// standards. To change a set, edit its rule and run go generate.
func TestTable(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "// Code generated by TestTable; DO NOT EDIT.\n\npackage percent\n\n// Sets of bytes.\nconst (\n// None is the empty set.\nNone ByteSet = iota")
	for _, s := range sets {
		fmt.Fprintf(&b, "%s%s\n", comment(s.name+" is "+s.doc+"."), s.name)
	}
	fmt.Fprintln(&b, "numSets int = iota\n)\n\n// Classes of bytes that are not sets.\nconst (")
	for i, k := range otherClasses {
		fmt.Fprintf(&b, "%s uint64 = 1 << %d // %s\n", k.name, 63-i, k.doc)
	}
	fmt.Fprintln(&b, ")\n\n// classes holds one bit for each set (1 << ByteSet) and for each class of bytes.\nvar classes = [256]uint64{")
	for c := range 256 {
		fmt.Fprintf(&b, "%#02x: %#016x,\n", c, bits(byte(c)))
	}
	fmt.Fprintln(&b, "}\n\n// hexValue holds the value of each hex digit, and 0 elsewhere.\nvar hexValue = [256]byte{")
	for i, c := range []byte("0123456789ABCDEF") {
		fmt.Fprintf(&b, "%q: %d,\n", c, i)
		if c >= 'A' {
			fmt.Fprintf(&b, "%q: %d,\n", c|0x20, i)
		}
	}
	fmt.Fprintln(&b, "}\n\n// setNames holds the name of each set.\nvar setNames = [numSets]string{\nNone: \"None\",")
	for _, s := range sets {
		fmt.Fprintf(&b, "%s: %q,\n", s.name, s.name)
	}
	fmt.Fprintln(&b, "}")
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("table.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("table.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("table.go is not what the rules give (%v): run go generate", err)
	}
}

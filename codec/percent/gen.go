//go:build ignore

// Command gen writes table.go: the sets of bytes that each component of each standard cannot hold raw, one bit per set and byte.
// The rules stand here as the standards write them; edit them here, then run go generate.
package main

import (
	"bytes"
	"fmt"
	"go/format"
	"log"
	"os"
	"strings"
)

// The character classes of RFC 3986.
const (
	alpha      = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	digit      = "0123456789"
	hexdig     = digit + "ABCDEFabcdef"                       // RFC 3986 §2.1: a to f are equivalent to A to F
	unreserved = alpha + digit + "-._~"                       // RFC 3986 §2.3
	genDelims  = ":/?#[]@"                                    // RFC 3986 §2.2
	subDelims  = "!$&'()*+,;="                                // RFC 3986 §2.2
	pchar      = unreserved + subDelims + ":@"                // RFC 3986 §3.3, without pct-encoded
	regName    = unreserved + subDelims                       // RFC 3986 §3.2.2, without pct-encoded
	userinfo   = unreserved + subDelims + ":"                 // RFC 3986 §3.2.1, without pct-encoded
	query      = pchar + "/?"                                 // RFC 3986 §3.4
	schemeChar = alpha + digit + "+-."                        // RFC 3986 §3.1
	uchar      = alpha + digit + "$-_." + "+!*'(),"           // RFC 1738 §5: unreserved = alpha / digit / safe / extra, without escape
	hsegment   = uchar + ";:@&="                              // RFC 1738 §5: hsegment and search
	user       = uchar + ";?&="                               // RFC 1738 §5: user and password
	xchar      = uchar + ";/?:@&="                            // RFC 1738 §5: unreserved / reserved
	scheme1738 = "abcdefghijklmnopqrstuvwxyz" + digit + "+-." // RFC 1738 §5: lowalpha only
)

// The percent-encode sets of the WHATWG URL Standard §1.3, without the bytes of the C0 control percent-encode set, which all hold.
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

// A set is one constant of type Set: its name, its documentation and its rule.
// Either allow lists what may stand raw (all else is in the set), or deny lists the printable bytes in the set.
type set struct {
	name, doc   string
	allow, deny string
}

var sets = []set{
	{name: "RFC3986Userinfo", doc: "for userinfo, RFC 3986 §3.2.1: all but unreserved, sub-delims and ':'", allow: userinfo},
	{name: "RFC3986Host", doc: "for reg-name, RFC 3986 §3.2.2: all but unreserved and sub-delims. Not for an IP literal in brackets", allow: regName},
	{name: "RFC3986PathSegment", doc: "for one segment of a path, RFC 3986 §3.3: all but pchar", allow: pchar},
	{name: "RFC3986Path", doc: "for a whole path, RFC 3986 §3.3: all but pchar and '/'", allow: pchar + "/"},
	{name: "RFC3986Query", doc: "for a whole query, RFC 3986 §3.4: all but pchar, '/' and '?'", allow: query},
	{name: "RFC3986QueryName", doc: "for the name of a name=value pair in a query: RFC3986Query and the delimiters '&', '=' and '+' (which forms read as a space)", allow: without(query, "&=+")},
	{name: "RFC3986QueryValue", doc: "for the value of a name=value pair in a query: RFC3986Query and '&' and '+'. '=' is data there, the first one has ended the name", allow: without(query, "&+")},
	{name: "RFC3986Fragment", doc: "for fragment, RFC 3986 §3.5: all but pchar, '/' and '?'", allow: query},

	{name: "WHATWGC0", doc: "the C0 control percent-encode set: 00 to 1F and all above 7E. Opaque paths and opaque hosts", deny: ""},
	{name: "WHATWGFragment", doc: "the fragment percent-encode set", deny: wFragment},
	{name: "WHATWGQuery", doc: "the query percent-encode set, for schemes that are not special", deny: wQuery},
	{name: "WHATWGSpecialQuery", doc: "the special-query percent-encode set, for http, https, ws, wss, ftp and file", deny: wSpecial},
	{name: "WHATWGPath", doc: "the path percent-encode set, with '^' (since March 2025)", deny: wPath},
	{name: "WHATWGUserinfo", doc: "the userinfo percent-encode set", deny: wUserinfo},
	{name: "WHATWGComponent", doc: "the component percent-encode set (encodeURIComponent). Holds '%'", deny: wComponent},
	{name: "WHATWGForm", doc: "the application/x-www-form-urlencoded percent-encode set. Holds '%'. AppendEncode writes a space as '+' here", deny: wForm},
	{name: "WHATWGPathSegment", doc: "for one segment of a path: WHATWGPath and '/' and '\\', which end a segment (URL Standard §4.4, path state)", deny: wPath + "/\\"},
	{name: "WHATWGQueryName", doc: "for the name of a pair in a query: WHATWGSpecialQuery and '&', '=', '+' (URL Standard §5.1)", deny: wSpecial + "&=+"},
	{name: "WHATWGQueryValue", doc: "for the value of a pair in a query: WHATWGSpecialQuery and '&', '+' (URL Standard §5.1)", deny: wSpecial + "&+"},
	{name: "WHATWGHost", doc: "for an opaque host: WHATWGC0 and the forbidden host code points, which fail the host parser when raw (URL Standard §3.5)", deny: wForbidHost},

	{name: "RFC1738Userinfo", doc: "for user[:password], RFC 1738 §3.1 and §5: all but uchar, ';', '?', '&', '=' and ':'", allow: user + ":"},
	{name: "RFC1738PathSegment", doc: "for data of one segment of an http path, RFC 1738 §5 hsegment, and ';', which §3.3 reserves", allow: without(hsegment, ";")},
	{name: "RFC1738Path", doc: "hpath, RFC 1738 §5: all but uchar, ';', ':', '@', '&', '=' and '/'", allow: hsegment + "/"},
	{name: "RFC1738Query", doc: "search, RFC 1738 §5: all but uchar, ';', ':', '@', '&' and '='", allow: hsegment},
	{name: "RFC1738QueryName", doc: "for the name of a pair: RFC1738Query and ';' (reserved, §3.3), '&', '=' and '+'", allow: without(hsegment, ";&=+")},
	{name: "RFC1738QueryValue", doc: "for the value of a pair: RFC1738Query and ';' (reserved, §3.3), '&' and '+'", allow: without(hsegment, ";&+")},
	{name: "RFC1738Fragment", doc: "for a fragment, which is no part of a URL in RFC 1738 (§2.2): its widest production, xchar, is taken, as RFC 1808 §2.2 does: all but uchar and reserved", allow: xchar},

	{name: "schemeRFC3986", doc: "for scheme, RFC 3986 §3.1 (a scheme holds no escapes)", allow: schemeChar},
	{name: "schemeRFC1738", doc: "for scheme, RFC 1738 §5: lower case only", allow: scheme1738},
}

// The classes that are no sets take the high bits.
var classes = []struct{ name, doc, bytes string }{
	{"isUnreserved", "RFC 3986 §2.3", unreserved},
	{"isHex", "HEXDIG in either case, RFC 3986 §2.1", hexdig},
	{"isLowerHex", "a to f: a hex digit that is not in its normal form", "abcdef"},
	{"isPercent", "'%'", "%"},
	{"isMark", "where a defect can begin: '%', and '.' for encoded-traversal", "%."},
	{"isReserved", "gen-delims and sub-delims, RFC 3986 §2.2", genDelims + subDelims},
	{"isDelim", "reserved, and '\\\\', which browsers read as '/'", genDelims + subDelims + "\\"},
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
		return true // controls, DEL and non-ASCII stand raw in no standard
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
	for i, k := range classes {
		if strings.IndexByte(k.bytes, c) >= 0 {
			v |= 1 << (63 - i)
		}
	}
	return v
}

func main() {
	var b bytes.Buffer
	fmt.Fprintln(&b, "// Code generated by gen.go; DO NOT EDIT.\n\npackage percent\n\n// The sets.\nconst (\n// None is the empty set.\nNone Set = iota")
	for _, s := range sets {
		fmt.Fprintf(&b, "// %s is %s.\n%s\n", s.name, strings.TrimPrefix(s.doc, s.name+" "), s.name)
	}
	fmt.Fprintln(&b, "numSets int = iota\n)\n\n// The classes of bytes beside the sets.\nconst (")
	for i, k := range classes {
		fmt.Fprintf(&b, "%s uint64 = 1 << %d // %s\n", k.name, 63-i, k.doc)
	}
	fmt.Fprintln(&b, ")\n\n// classes holds one bit for each set (1 << Set) and for each class of bytes.\nvar classes = [256]uint64{")
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
	out, err := format.Source(b.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("table.go", out, 0o644); err != nil {
		log.Fatal(err)
	}
}

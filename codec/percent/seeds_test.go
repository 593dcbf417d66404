package percent

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// The documents that this project started from make claims about escapes. Each
// claim is a test here, with the clause of the standard that confirms or
// corrects it.

// TestSeed000 covers "Characters", section 2.4, "When to Encode or Decode", and
// its examples.
func TestSeed000(t *testing.T) {
	encode := func(s ByteSet, data, want string) {
		t.Helper()
		if got := AppendEncode(nil, []byte(data), s); string(got) != want {
			t.Errorf("encode %q: %q, want %q", data, got, want)
		}
	}
	decode := func(text, want string) {
		t.Helper()
		if got := AppendDecode(nil, []byte(text)); string(got) != want {
			t.Errorf("decode %q: %q, want %q", text, got, want)
		}
	}
	// Confirmed by RFC 3986 §2.4: bytes that a component does not allow are
	// escaped when the component is created.
	encode(RFC3986Path, "/files/my document.pdf", "/files/my%20document.pdf")
	encode(RFC3986Query, "name=John Doe&age=30", "name=John%20Doe&age=30")
	// Confirmed by RFC 3986 §2.2: data that would conflict with a delimiter is
	// escaped.
	encode(RFC3986Path, "/path/file?.txt", "/path/file%3F.txt")
	encode(RFC3986QueryValue, "Tom&Jerry", "Tom%26Jerry")
	// Confirmed by RFC 3986 §2.4: parse first, then decode each segment, once.
	decode("path%2Fto%2Ffile", "path/to/file")
	encode(RFC3986PathSegment, "100%", "100%25")
	encode(RFC3986PathSegment, "100%25", "100%2525")
	decode("100%2525", "100%25")
	decode("100%25", "100%")
	// Confirmed by RFC 3986 §2.5: UTF-8, then escapes in upper case (§2.1).
	encode(RFC3986Path, "中", "%E4%B8%AD")
	encode(RFC3986Path, "/引き出し", "/%E5%BC%95%E3%81%8D%E5%87%BA%E3%81%97")
	// Corrected by RFC 3986 §2.3: the document's is_unreserved accepts every
	// letter of Unicode, but only ALPHA and DIGIT are unreserved.
	encode(RFC3986Path, "é٣", "%C3%A9%D9%A3")
	// Corrected by RFC 3986 §2.1: the document's decoder misses an escape at
	// the end (i + 2 < len is correct), and its int(…, 16) accepts "+4" and "
	// 4" as hexadecimal digits.
	decode("a%41", "aA")
	decode("%+4% 4", "%+4% 4")

	// Confirmed by RFC 3986 §6.2.2.2: %7E and ~ are equivalent. §6.2.2.1: so
	// are %2f and %2F.
	for text, want := range map[string]string{"/%7Euser": "/~user", "%2f%3a%5b": "%2F%3A%5B", "/path%3Fkey": "/path%3Fkey"} {
		if got, _ := AppendNormal(nil, []byte(text), full(RFC3986Path, MalformedEncode)); string(got) != want {
			t.Errorf("normal form of %q: %q, want %q", text, got, want)
		}
	}
}

// TestSeed002 covers "Percent-encoding Reserved Characters" and its table.
func TestSeed002(t *testing.T) {
	chars := strings.Fields("! # $ & ' ( ) * + , / : ; = ? @ [ ]")
	escapes := strings.Fields("%21 %23 %24 %26 %27 %28 %29 %2A %2B %2C %2F %3A %3B %3D %3F %40 %5B %5D")
	n := 0
	for c := range 256 {
		if IsReserved(byte(c)) {
			n++
		}
	}
	// Confirmed by RFC 3986 §2.2: the table has all of gen-delims and
	// sub-delims.
	if n != len(chars) || len(chars) != len(escapes) {
		t.Fatalf("%d reserved bytes, %d in the table", n, len(chars))
	}
	for i, c := range chars {
		if got := AppendEscape(nil, c[0]); !IsReserved(c[0]) || string(got) != escapes[i] {
			t.Errorf("%s: reserved %v, escape %s, want %s", c, IsReserved(c[0]), got, escapes[i])
		}
		// Confirmed by RFC 3986 §2.2: URIs that differ in the escape of a
		// reserved character are not equivalent.
		if got, _ := AppendNormal(nil, []byte(escapes[i]), full(RFC3986Query, MalformedEncode)); string(got) != escapes[i] {
			t.Errorf("the normal form of %s is %s", escapes[i], got)
		}
	}
	// Confirmed by RFC 3986 §3.3, §3.4: "/" must be %2F in a segment but not in
	// a query. %2f is an equivalent escape (§2.1).
	if !RFC3986PathSegment.Has('/') || RFC3986Query.Has('/') {
		t.Error("'/' must be escaped in a segment but not in a query")
	}
	if got := AppendDecode(nil, []byte("%2f%2F")); string(got) != "//" {
		t.Errorf("got %q", got)
	}
}

// TestSeed002Encode checks the same table for encoding, component by component.
// Each row lists the delimiters that keep their purpose, according to RFC 3986
// §2.2 and §3.
func TestSeed002Encode(t *testing.T) {
	const chars = "!#$&'()*+,/:;=?@[]"
	all := strings.Fields("%21 %23 %24 %26 %27 %28 %29 %2A %2B %2C %2F %3A %3B %3D %3F %40 %5B %5D")
	for _, standard := range Standards() {
		for _, component := range Components(standard) {
			set, err := Lookup(standard, component)
			if err != nil {
				t.Fatal(err)
			}
			raw := map[string]string{"path": "/", "query": "&=+", "userinfo": ":"}[component]
			if standard == "whatwg" && component == "userinfo" {
				raw = "" // the userinfo percent-encode set contains ':', because user and password are encoded separately
			}
			for i, c := range []byte(chars) {
				want := all[i]
				if strings.IndexByte(raw, c) >= 0 {
					want = string(c)
				}
				if got := string(AppendEncodeReserved(nil, []byte{c}, set, Delimiters(component))); got != want {
					t.Errorf("%s, %s: %c becomes %s, want %s", standard, component, c, got, want)
				}
			}
			// Other bytes are encoded as by AppendEncode, and all of them
			// decode to the same data.
			data := make([]byte, 256)
			for c := range data {
				data[c] = byte(c)
			}
			got := AppendEncodeReserved(nil, data, set, "")
			decode := AppendDecode
			if standard == "form" {
				decode = AppendDecodeForm
			}
			if back := decode(nil, got); !bytes.Equal(back, data) {
				t.Errorf("%s, %s: %q decodes to %q", standard, component, got, back)
			}
			for c := range 256 {
				c := byte(c)
				plain, one := AppendEncode(nil, []byte{c}, set), AppendEncodeReserved(nil, []byte{c}, set, "")
				if !IsReserved(c) && !bytes.Equal(plain, one) {
					t.Errorf("%s, %s: %q becomes %s, want %s", standard, component, c, one, plain)
				}
			}
		}
	}
}

// TestSeed003Components covers the two tables of "URI-safe characters": where a
// delimiter can be raw.
func TestSeed003Components(t *testing.T) {
	cols := strings.Split(":/?#[]@!$&'()*+,;=", "")
	for _, row := range []struct {
		component string
		set       ByteSet
		may       string // the y cells of the document, in the order of cols
		right     string // the correct cells
	}{
		// Corrected by RFC 3986 §3.2.1: ':' is allowed in userinfo, as the
		// document's footnote 1 says.
		{"authority", RFC3986Userinfo, ".......yyyyyyyyyyy", "y......yyyyyyyyyyy"},
		// RFC 3986 §3.3: the rows are about the data in a segment; '/'
		// separates segments.
		{"path", RFC3986PathSegment, "y.....yyyyyyyyyyyy", "y.....yyyyyyyyyyyy"},
		{"query", RFC3986Query, "yyy...yyyyyyyyyyyy", "yyy...yyyyyyyyyyyy"},       // RFC 3986 §3.4
		{"fragment", RFC3986Fragment, "yyy...yyyyyyyyyyyy", "yyy...yyyyyyyyyyyy"}, // RFC 3986 §3.5
		// Footnote 4: '&' and '=' delimit pairs. Only '&' can end a value (URL
		// Standard §5.1); '+' is a space.
		{"query value", RFC3986QueryValue, "yyy...yyy.yyyy.yyy", "yyy...yyy.yyyy.yyy"},
	} {
		for i, c := range cols {
			if may := !row.set.Has(c[0]); may != (row.right[i] == 'y') {
				t.Errorf("%s: %s can be raw: %v, want %c (document %c)", row.component, c, may, row.right[i], row.may[i])
			}
		}
	}
}

// isComponent reports whether text is a valid component: all escapes are valid,
// and no byte in s is raw.
func isComponent(text string, s ByteSet) bool {
	return Check([]byte(text)) == nil && s.Index([]byte(text)) < 0
}

// TestSeed003Query covers the document's grammar of a query.
func TestSeed003Query(t *testing.T) {
	// The document claims that "?( [^:#[]@%]+ | %[A-Za-z\d]{2} )*" matches
	// exactly the valid queries.
	document := regexp.MustCompile(`^([^:#\[\]@%]+|%[A-Za-z\d]{2})*$`)
	right := regexp.MustCompile(`^([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$`) // RFC 3986 §3.4, §3.3, §2.1
	f := func(query string, doc bool, clause string) {
		t.Helper()
		if document.MatchString(query) != doc {
			t.Errorf("%q: the document's grammar gives %v", query, !doc)
		}
		if got, want := isComponent(query, RFC3986Query), right.MatchString(query); got != want || want == doc && clause != "" {
			t.Errorf("%q: got %v, grammar %v, document %v (%s)", query, got, want, doc, clause)
		}
	}
	f("", true, "")
	f("a=1&b=/?-~._!$+'()*,;", true, "")
	f("a=%41%zz", true, "RFC 3986 §2.1: pct-encoded is % HEXDIG HEXDIG")
	f("a:b", false, "RFC 3986 §3.4, §3.3: pchar holds ':'")
	f("a@b", false, "RFC 3986 §3.4, §3.3: pchar holds '@'")
	f("a b", true, "RFC 3986 §2: a space is in no rule")
	f("é", true, "RFC 3986 §2: nor is a byte beyond ASCII")
	f("a|b^c`{d}\"<e>\\", true, "RFC 3986 §2: nor are these")
	f("a#b", false, "")
	f("a[0]", false, "")
	f("100%", false, "")
	// On all other short strings our result must equal that of the grammar.
	forAll("%4gz:@# a", 5, func(s []byte) {
		if got, want := isComponent(string(s), RFC3986Query), right.Match(s); got != want {
			t.Fatalf("%q: got %v, grammar %v", s, got, want)
		}
	})
}

// TestSeed003Pairs covers the document's grammar of key=value pairs, extended
// by '=' in a value.
func TestSeed003Pairs(t *testing.T) {
	// The document's LIT, [^=#[]@%], accepts '&' and rejects '@', and its ESC
	// accepts %zz. Corrected by RFC 3986 §3.4 and §2.1:
	grammar := regexp.MustCompile(`^(&?([A-Za-z0-9._~!$'()*,;:@/?-]|%[0-9A-Fa-f]{2})+=([A-Za-z0-9._~!$'()*,;:@/?=-]|%[0-9A-Fa-f]{2})+)*$`)
	forAll("a=&+@%é"[:7], 3, func(name []byte) {
		if len(name) == 0 {
			return
		}
		for _, value := range []string{"v", "a=b", "Tom&Jerry", "1+1", "100%", "#[]", "\xff\x00"} {
			key := AppendEncode(nil, name, RFC3986QueryName)
			pair := AppendEncode(append(bytes.Clone(key), '='), []byte(value), RFC3986QueryValue)
			query := fmt.Sprintf("%s&%s", pair, pair)
			if !grammar.MatchString(query) {
				t.Fatalf("%q = %q: %s does not match the grammar", name, value, query)
			}
			rawName, rawValue, _ := bytes.Cut(pair, []byte("="))
			gotName, gotValue := AppendDecodeForm(nil, rawName), AppendDecodeForm(nil, rawValue)
			if !bytes.Equal(gotName, name) || string(gotValue) != value {
				t.Fatalf("%q = %q: %s decodes to %q = %q", name, value, pair, gotName, gotValue)
			}
		}
	})
}

// TestSeed004 covers RFC 1738 §2.2 as quoted by the document.
func TestSeed004(t *testing.T) {
	all := []ByteSet{RFC1738Userinfo, RFC1738PathSegment, RFC1738Path, RFC1738Query, RFC1738QueryName, RFC1738QueryValue, RFC1738Fragment}
	every := func(bytes string, want bool, in ...ByteSet) {
		t.Helper()
		for _, c := range []byte(bytes) {
			for _, s := range in {
				if s.Has(c) != want {
					t.Errorf("%s.Has(%q) = %v", s, c, !want)
				}
			}
		}
	}
	// "All unsafe characters must always be encoded". This includes '%' in
	// data; in a component it starts an escape.
	every(" <>\"#{}|\\^~[]`", true, all...)
	if got := AppendEncode(nil, []byte("%"), RFC1738Path); string(got) != "%25" {
		t.Errorf("a percent sign encodes to %q", got)
	}
	// Alphanumerics and "$-_.!*'()," can always be unencoded. So can '+', but a
	// form decodes it to a space (URL Standard §5.1).
	every("ABCXYZabcxyz0189$-_.!*'(),", false, all...)
	every("+", false, RFC1738Userinfo, RFC1738PathSegment, RFC1738Path, RFC1738Query, RFC1738Fragment)
	// Only ";/?:@=&" can be reserved. Which of them are depends on the scheme
	// and the component:
	every(":@/", false, RFC1738Fragment)
	every("@/", true, RFC1738Userinfo) // RFC 1738 §3.1, except the ':' between user and password
	every(";/?", true, RFC1738PathSegment)
	every(":@=&", false, RFC1738PathSegment, RFC1738Path, RFC1738Query) // RFC 1738 §5, hsegment, search
	every(";", false, RFC1738Path, RFC1738Query)
	// Corrected by RFC 3986 §2.3, which obsoletes it: '~' is unreserved and
	// needs no escape.
	if RFC3986Path.Has('~') || !IsUnreserved('~') {
		t.Error("'~' must be unreserved in RFC 3986")
	}
	// "abcdef" are allowed in escapes too; RFC 3986 §2.1 prefers upper case.
	if got := AppendDecode(nil, []byte("%7e%7E")); string(got) != "~~" {
		t.Errorf("got %q", got)
	}
}

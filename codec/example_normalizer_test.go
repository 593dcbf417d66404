package codec_test

import (
	"fmt"

	"github.com/urlfold/urlfold/codec"
)

// Append reuses dst and the Result for every URL.
func ExampleNormalizer_Append() {
	n := normalizer("equiv")
	var r codec.Result
	var out []byte
	var err error
	for _, src := range []string{"HTTP://Example.com:80", "http://example.com/%7Ea", "http://[::1/"} {
		if out, err = n.Append(out[:0], []byte(src), &r); err != nil {
			fmt.Println("error at byte", r.ErrAt, "-", err)
			continue
		}
		fmt.Println(string(out), r.Change(), r.Applied())
	}
	// Output:
	// http://example.com/ scheme-equal scheme-lower,host-lower,port-def,path-empty
	// http://example.com/~a cosmetic esc-unres
	// error at byte 11 - the host is invalid
}

func ExampleNormalizer_AppendRef() {
	n := normalizer("equiv")
	var r codec.Result
	out, err := n.AppendRef(nil, []byte("https://example.com/docs/a"), []byte("../b?c"), &r)
	fmt.Printf("%s %v\n", out, err)
	// Output:
	// https://example.com/b?c <nil>
}

// Change classifies the effect of normalization.
func ExampleChange() {
	n := normalizer("crawler")
	var r codec.Result
	for _, src := range []string{"http://h/a", "HTTP://h/a", "http://h:80/a", `http:\\h\a`, "http://h/a#b"} {
		if _, err := n.Append(nil, []byte(src), &r); err != nil {
			panic(err)
		}
		fmt.Printf("%-13s %v\n", src, r.Change())
	}
	// Output:
	// http://h/a    unchanged
	// HTTP://h/a    cosmetic
	// http://h:80/a scheme-equal
	// http:\\h\a    repaired
	// http://h/a#b  lossy
}

func ExampleProfile() {
	for _, p := range codec.Profiles() {
		if p.Match != "" {
			continue // reproduces another program
		}
		fmt.Println(p.Name, p.Standard, p.Key, p.Rules)
	}
	// Output:
	// analytics whatwg page esc-upper,esc-unres
	// crawler whatwg fetch esc-upper,esc-unres,ui-drop,frag-drop
	// equiv whatwg equivalent esc-upper,esc-unres
	// logclean whatwg equivalent esc-upper,esc-unres,rfc-fallback
	// rfc3986 rfc3986 syntax add,esc-upper,esc-unres,scheme-lower,host-lower,dots,no-auth-guard
	// rfc3986-scheme rfc3986 equivalent add,esc-upper,esc-unres,scheme-lower,host-lower,dots,no-auth-guard,port-def,path-empty,file-localhost,ui-empty,host-ip6,host-uts46
	// whatwg whatwg equivalent
}

// A changed profile gets a name of its own.
func ExampleProfile_Change() {
	equiv, _ := codec.Lookup("equiv")
	p := equiv.Change(codec.RulesOf(codec.RuleRFCClean), codec.Rules{})
	n, err := codec.New(p)
	if err != nil {
		panic(err)
	}
	var r codec.Result
	out, err := n.Append(nil, []byte("http://h/?a|b"), &r)
	fmt.Printf("%s: %s %v\n", p.Name, out, err)
	// Output:
	// equiv+rfc-clean: http://h/?a%7Cb <nil>
}

// New rejects profiles whose rules would not give a normal form.
func ExampleProfileError() {
	_, err := codec.New(codec.Profile{Name: "mine", Standard: codec.RFC3986, Rules: codec.RulesOf(codec.RuleRemoveDots)})
	fmt.Println(err)
	// Output:
	// profile mine: dots requires no-auth-guard: without it a path could become an authority
}

func ExampleRule() {
	r := codec.RuleDefaultPort
	before, after := r.Example()
	fmt.Println(r, r.Clause())
	fmt.Println(before, after)
	// Output:
	// port-def RFC 3986 §6.2.3, URL Standard §4.4
	// http://h:80/ http://h/
}

func ExampleParseRules() {
	rules, err := codec.ParseRules("esc-upper,dots")
	fmt.Println(rules.Has(codec.RuleRemoveDots), rules.Len(), err)
	_, err = codec.ParseRules("esc-uper")
	fmt.Println(err)
	// Output:
	// true 2 <nil>
	// unknown rule "esc-uper"
}

// Each standard always applies some rules. Profiles add others.
func ExampleRules() {
	fmt.Println(codec.ParserRules(codec.RFC3986))
	fmt.Println(codec.KeyRules(codec.LevelEquivalent))
	// Output:
	// resolve,malformed-encode
	// port-def,path-empty,file-localhost,ui-empty,host-ip6,host-uts46
}

// shiftJIS encodes two characters; a real encoding needs a table.
type shiftJIS struct{}

func (shiftJIS) AppendQuery(dst, text []byte) []byte {
	for _, r := range string(text) {
		switch {
		case r < 0x80:
			dst = append(dst, byte(r))
		case r == '日':
			dst = append(dst, 0x93, 0xFA)
		case r == '本':
			dst = append(dst, 0x96, 0x7B)
		default:
			dst = fmt.Appendf(dst, "%%26%%23%d%%3B", r)
		}
	}
	return dst
}

// Browsers encode the queries of links in the encoding of the page.
func ExampleWithQueryEncoding() {
	profile, _ := codec.Lookup("whatwg")
	n, err := codec.New(profile, codec.WithQueryEncoding(shiftJIS{}))
	if err != nil {
		panic(err)
	}
	var r codec.Result
	out, err := n.Append(nil, []byte("http://example.com/日?日本é"), &r)
	fmt.Printf("%s %v\n", out, err)
	// Output:
	// http://example.com/%E6%97%A5?%93%FA%96{%26%23233%3B <nil>
}

func ExampleOptionError() {
	profile, _ := codec.Lookup("equiv")
	_, err := codec.New(profile, codec.WithHash(codec.HMACSHA256))
	fmt.Println(err)
	// Output:
	// codec: hmac-sha256 needs a key: use WithHMACKey
}

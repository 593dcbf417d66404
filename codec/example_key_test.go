package codec_test

import (
	"bytes"
	"fmt"

	"github.com/urlfold/urlfold/codec"
)

// K0 and K1 follow RFC 3986. K2 ignores what a crawler does not send or need,
// and K3 what does not identify a page.
func ExampleLevel() {
	n := normalizer("whatwg")
	var r codec.Result
	src := []byte("https://www.example.com:443/a/index.html?b=2&a=1&utm_source=x#top")
	if _, err := n.Append(nil, src, &r); err != nil {
		panic(err)
	}
	for _, level := range []codec.Level{codec.LevelSyntax, codec.LevelEquivalent, codec.LevelFetch, codec.LevelPage} {
		fmt.Printf("%v %s\n", level, r.AppendKey(nil, level))
	}
	// Output:
	// syntax https://www.example.com/a/index.html?b=2&a=1&utm_source=x#top
	// equivalent https://www.example.com/a/index.html?b=2&a=1&utm_source=x#top
	// fetch http://www.example.com/a/index.html?a=1&b=2
	// page example.com/a?a=1&b=2
}

// A key has three text forms. Only the first and the last sort like the keys.
func ExampleKeyForm() {
	key, err := codec.ParseKey("9d159812b756c81af2f0827f03cd8721")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", codec.KeyHex.Append(nil, key))
	fmt.Printf("%s\n", codec.KeyBase32.Append(nil, key))
	fmt.Printf("%x\n", codec.KeyRaw.Append(nil, key))
	// Output:
	// 9d159812b756c81af2f0827f03cd8721
	// TUKZQEVXK3EBV4XQQJ7QHTMHEE
	// 9d159812b756c81af2f0827f03cd8721
}

// An HMAC hides the URLs from everybody who does not have the secret.
func ExampleWithHMACKey() {
	profile, _ := codec.Lookup("equiv")
	n, err := codec.New(profile, codec.WithHMACKey([]byte("0123456789abcdef")))
	if err != nil {
		panic(err)
	}
	var r codec.Result
	if _, err := n.Append(nil, []byte("http://example.com/"), &r); err != nil {
		panic(err)
	}
	fmt.Println(r.Key(codec.LevelEquivalent))
	// Output:
	// 1f37b42877a25627b5d70b6a8bf23c34
}

// TraceKey shows why two URLs have the same key.
func ExampleResult_TraceKey() {
	n := normalizer("crawler")
	var r codec.Result
	if _, err := n.Append(nil, []byte("https://example.com/a?b=1&gclid=x"), &r); err != nil {
		panic(err)
	}
	for _, s := range r.TraceKey(codec.LevelFetch) {
		fmt.Printf("%v %v: %q -> %q\n", s.Rule, s.Component, s.Before, s.After)
	}
	// Output:
	// https-http scheme: "https" -> "http"
	// q-drop query: "b=1&gclid=x" -> "b=1"
}

// Fragments identify the pages of a single-page application.
func ExamplePolicy() {
	policy := codec.DefaultPolicy()
	policy.SPA = []string{"app.example"}
	profile, _ := codec.Lookup("crawler")
	n, err := codec.New(profile, codec.WithPolicy(policy))
	if err != nil {
		panic(err)
	}
	var r codec.Result
	for _, url := range []string{"http://app.example/#/inbox", "http://www.example/#/inbox"} {
		out, err := n.Append(nil, []byte(url), &r)
		fmt.Printf("%s %v\n", out, err)
	}
	// Output:
	// http://app.example/#/inbox <nil>
	// http://www.example/ <nil>
}

// The zero Key means "no URL".
func ExampleKey() {
	var none codec.Key
	n := normalizer("equiv")
	var r codec.Result
	if _, err := n.Append(nil, []byte("http://example.com"), &r); err != nil {
		panic(err)
	}
	key := r.Key(codec.LevelEquivalent)
	fmt.Println(none.IsZero(), key.IsZero())
	// Output:
	// true false
}

// Choose SHA256 if somebody could profit from a collision.
func ExampleHash() {
	profile, _ := codec.Lookup("equiv")
	for _, hash := range []codec.Hash{codec.XXH3, codec.SHA256} {
		n, err := codec.New(profile, codec.WithHash(hash))
		if err != nil {
			panic(err)
		}
		var r codec.Result
		if _, err := n.Append(nil, []byte("http://example.com/"), &r); err != nil {
			panic(err)
		}
		fmt.Println(hash, r.Key(codec.LevelEquivalent))
	}
	// Output:
	// xxh3-128 4a69f8734a3f3304d63e197b80e1ba75
	// sha256-128 ca360c698e767b7a846b8dd026706d72
}

// Keys can be computed by another standard than the normal form.
func ExampleWithStandard() {
	profile, _ := codec.Lookup("whatwg")
	n, err := codec.New(profile, codec.WithStandard(codec.RFC3986))
	if err != nil {
		panic(err)
	}
	var r codec.Result
	out, err := n.Append(nil, []byte(`http://example.com/a\b`), &r)
	fmt.Printf("%s %v\n", out, err)
	fmt.Printf("%s %s\n", n.KeyFunction(codec.LevelSyntax), r.AppendKey(nil, codec.LevelSyntax))
	// Output:
	// http://example.com/a/b <nil>
	// k0-rfc/1 http://example.com/a%5Cb
}

// A canonical string can be rewritten and hashed with the same function.
func ExampleResult_HashKey() {
	n := normalizer("analytics")
	var r codec.Result
	if _, err := n.Append(nil, []byte("http://example.com/user/17"), &r); err != nil {
		panic(err)
	}
	page := bytes.ReplaceAll(r.AppendKey(nil, codec.LevelPage), []byte("/17"), []byte("/{int}"))
	fmt.Printf("%s %v\n", page, r.HashKey(codec.LevelPage, page) == r.Key(codec.LevelPage))
	// Output:
	// example.com/user/{int} false
}

// The key of a request target does not depend on the host that it was read with.
func ExampleResult_TargetKey() {
	n := normalizer("equiv")
	var r codec.Result
	for _, origin := range []string{"http://h", "http://example.com"} {
		if _, err := n.Append(nil, []byte(origin+"/a/../b"), &r); err != nil {
			panic(err)
		}
		k, ok := r.TargetKey(codec.LevelEquivalent, []byte(origin))
		fmt.Println(k == r.HashKey(codec.LevelEquivalent, []byte("/b")), ok)
	}
	// Output:
	// true true
	// true true
}

// normalizer returns a Normalizer for a built-in profile.
func normalizer(profile string) *codec.Normalizer {
	p, err := codec.Lookup(profile)
	if err != nil {
		panic("no profile " + profile)
	}
	n, err := codec.New(p)
	if err != nil {
		panic(err)
	}
	return n
}

package codec_test

import (
	"errors"
	"fmt"

	"github.com/urlfold/urlfold/codec"
)

// A crawler checks whether it has already fetched a link. It keeps 16 bytes for
// each page, and fetches the normal form.
func Example_crawler() {
	profile, _ := codec.Lookup("crawler")
	n, err := codec.New(profile)
	if err != nil {
		panic(err)
	}
	seen := map[codec.Key]bool{}
	var r codec.Result
	var out []byte
	base := []byte("https://example.com/blog/")
	for _, link := range []string{
		"post?id=7&utm_source=feed",
		"HTTP://EXAMPLE.com:80/blog/./post?id=7#comments",
		"/blog/post?id=8",
		`http://evil.example\@example.com/`,
	} {
		out, err = n.AppendRef(out[:0], base, []byte(link), &r)
		if err != nil {
			fmt.Println("skip:", err)
			continue
		}
		key := r.Key(codec.LevelFetch)
		if seen[key] {
			fmt.Println("seen ", string(out))
			continue
		}
		seen[key] = true
		fmt.Println("fetch", string(out))
	}
	// Output:
	// fetch https://example.com/blog/post?id=7&utm_source=feed
	// seen  http://example.com/blog/post?id=7
	// fetch https://example.com/blog/post?id=8
	// fetch http://evil.example/@example.com/
}

// An analyst counts pages, not the ways in which their URLs are written.
func Example_analyst() {
	profile, _ := codec.Lookup("analytics")
	n, err := codec.New(profile)
	if err != nil {
		panic(err)
	}
	views := map[string]int{}
	var r codec.Result
	var out []byte
	for _, url := range []string{
		"https://www.example.com/shop/",
		"http://example.com/shop/index.html?gclid=abc",
		"https://example.com//shop?utm_campaign=spring",
		"https://example.com/shop?page=2",
	} {
		if out, err = n.Append(out[:0], []byte(url), &r); err != nil {
			continue
		}
		views[string(r.AppendKey(nil, codec.LevelPage))]++
	}
	fmt.Println(views)
	// Output:
	// map[example.com/shop:3 example.com/shop?page=2:1]
}

// A log cleaner finds the defects of a URL and their offsets.
func Example_logCleaner() {
	profile, _ := codec.Lookup("logclean")
	n, err := codec.New(profile)
	if err != nil {
		panic(err)
	}
	var r codec.Result
	url := []byte("http://example.com/100%/a%2f..%c0%af?q=%u0041")
	out, err := n.Append(nil, url, &r)
	fmt.Println(string(out), err, r.Change())
	for _, m := range r.Diagnostics {
		fmt.Printf("%2d %-9v %v, %v\n", m.At, m.Component, m.Flag, m.Action)
	}
	// Output:
	// http://example.com/100%/a%2F..%C0%AF?q=%u0041 <nil> cosmetic
	// 22 path      non-hex, kept
	// 22 path      invalid-URL-unit, kept
	// 25 path      lower-hex, recased
	// 30 path      overlong-utf8, kept
	// 30 path      lower-hex, recased
	// 33 path      lower-hex, recased
	// 39 query     percent-u, kept
	// 39 query     invalid-URL-unit, kept
}

// An absent component differs from an empty one.
func ExampleURL_Has() {
	var r codec.Result
	for _, s := range []string{"/a", "/a?", "/a?b"} {
		if err := codec.Parse([]byte(s), &r); err != nil {
			panic(err)
		}
		fmt.Printf("%v %q\n", r.In.Has(codec.Query), r.In.Bytes([]byte(s), codec.Query))
	}
	// Output:
	// false ""
	// true ""
	// true "b"
}

// A key identifies the canonical string of a level. Keys of different key
// functions differ.
func ExampleResult_Key() {
	profile, _ := codec.Lookup("rfc3986-scheme")
	n, err := codec.New(profile)
	if err != nil {
		panic(err)
	}
	var r codec.Result
	src := []byte("http://example.com")
	_, _ = n.Append(nil, src, &r)
	fmt.Println(n.KeyFunction(codec.LevelEquivalent), r.Key(codec.LevelEquivalent))
	fmt.Println(n.KeyFunction(codec.LevelSyntax), r.Key(codec.LevelSyntax))
	// Output:
	// k1-rfc/1 1bb7a19a4c3f20e8dc3683d653434380
	// k0-rfc/1 4a6a8cf49e5e85a1e9a6a0fb0d644714
}

// A trace lists the rules that changed something.
func ExampleNormalizer_Trace() {
	profile, _ := codec.Lookup("rfc3986-scheme")
	n, err := codec.New(profile)
	if err != nil {
		panic(err)
	}
	for _, s := range n.Trace(nil, []byte("HTTP://example.com:80/a/../%7eb")) {
		fmt.Printf("%-12s %-6s %q %q\n", s.Rule, s.Component, s.Before, s.After)
	}
	// Output:
	// scheme-lower scheme "HTTP" "http"
	// port-def     port   "80" ""
	// esc-upper    path   "/a/../%7eb" "/a/../%7Eb"
	// esc-unres    path   "/a/../%7Eb" "/a/../~b"
	// dots         path   "/a/../~b" "/~b"
}

// Normalize a single URL.
func ExampleNormalizer_Normalize() {
	n := codec.MustNamed("equiv")
	norm, key, err := n.Normalize("HTTP://example.com:80/a/../%7Euser")
	fmt.Println(norm, key, err)
	_, _, err = n.Normalize("http://[::1/")
	var e *codec.URLError
	fmt.Println(errors.As(err, &e), err, e.Offset)
	// Output:
	// http://example.com/~user 9d159812b756c81af2f0827f03cd8721 <nil>
	// true byte 11: the host is invalid 11
}
